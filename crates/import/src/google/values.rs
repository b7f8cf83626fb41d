//! Members of Google's JSON, read leniently, and members of records.

use jiff::Timestamp;
use serde_json::{Map, Value};

/// A record under construction; what is absent or empty is left out.
#[derive(Debug, Default)]
pub(super) struct Fields(pub(super) Map<String, Value>);

impl Fields {
    pub(super) fn with_id(key: &str) -> Self {
        let mut fields = Self::default();
        fields.put("id", key);
        fields
    }

    pub(super) fn put(&mut self, name: &str, value: impl Into<Value>) {
        self.0.insert(name.to_owned(), value.into());
    }

    pub(super) fn some<V: Into<Value>>(&mut self, name: &str, value: Option<V>) {
        if let Some(value) = value {
            self.put(name, value);
        }
    }

    pub(super) fn text(&mut self, name: &str, value: Option<&str>) {
        self.some(name, value.filter(|value| !value.is_empty()));
    }

    pub(super) fn time(&mut self, name: &str, value: Option<Timestamp>) {
        self.some(name, value.map(|at| at.to_string()));
    }

    /// A list that is kept as it is, if it holds anything.
    pub(super) fn list(&mut self, name: &str, value: Option<&Value>) {
        self.some(name, value.filter(|value| value.as_array().is_some_and(|list| !list.is_empty())).cloned());
    }

    /// An object that is kept as it is, if it holds anything.
    pub(super) fn object(&mut self, name: &str, value: Option<&Value>) {
        self.some(name, value.filter(|value| value.as_object().is_some_and(|map| !map.is_empty())).cloned());
    }

    pub(super) fn place(&mut self, prefix: &str, place: Option<(f64, f64)>) {
        if let Some((latitude, longitude)) = place {
            self.put(&format!("{prefix}latitude"), latitude);
            self.put(&format!("{prefix}longitude"), longitude);
        }
    }
}

/// A text below a value, by pointer.
pub(super) fn text<'v>(value: &'v Value, pointer: &str) -> Option<&'v str> {
    value.pointer(pointer).and_then(Value::as_str)
}

/// A number, also one written as text.
pub(super) fn number(value: &Value, pointer: &str) -> Option<f64> {
    let value = value.pointer(pointer)?;
    let number = value.as_f64().or_else(|| value.as_str().and_then(|text| text.trim().parse().ok()));
    number.filter(|number| number.is_finite())
}

/// A whole number, also one written as text.
pub(super) fn whole(value: &Value, pointer: &str) -> Option<i64> {
    let value = value.pointer(pointer)?;
    value.as_i64().or_else(|| value.as_str().and_then(|text| text.trim().parse().ok()))
}

pub(super) fn flag(value: &Value, pointer: &str) -> Option<bool> {
    value.pointer(pointer).and_then(Value::as_bool)
}

/// A moment in RFC 3339, with any offset.
pub(super) fn time(value: &Value, pointer: &str) -> Option<Timestamp> {
    text(value, pointer)?.trim().parse().ok()
}

/// A moment given as text under one name or as milliseconds under another.
pub(super) fn time_or_millis(value: &Value, pointer: &str, millis: &str) -> Option<Timestamp> {
    time(value, pointer).or_else(|| Timestamp::from_millisecond(whole(value, millis)?).ok())
}

/// Degrees in ten millionths, under the two names they go by.
pub(super) fn place_e7(value: &Value, prefix: &str) -> Option<(f64, f64)> {
    let read = |long: &str, short: &str| {
        whole(value, &format!("{prefix}/{long}")).or_else(|| whole(value, &format!("{prefix}/{short}")))
    };
    let (latitude, longitude) = (read("latitudeE7", "latE7")?, read("longitudeE7", "lngE7")?);
    // A known fault of old exports: numbers that overflowed thirty-two bits.
    let wrapped = |degrees: i64, most: i64| if degrees > most { degrees - (1 << 32) } else { degrees };
    let degrees = |e7: i64| {
        let number = i32::try_from(e7).ok()?;
        Some(f64::from(number) / 1e7)
    };
    checked(degrees(wrapped(latitude, 900_000_000))?, degrees(wrapped(longitude, 1_800_000_000))?)
}

/// `51.5°, -0.12°` and `geo:51.5,-0.12`.
pub(super) fn place_text(text: &str) -> Option<(f64, f64)> {
    let plain = text.trim().trim_start_matches("geo:").replace('°', "");
    let (latitude, longitude) = plain.split_once(',')?;
    checked(latitude.trim().parse().ok()?, longitude.trim().parse().ok()?)
}

fn checked(latitude: f64, longitude: f64) -> Option<(f64, f64)> {
    (latitude.abs() <= 90.0 && longitude.abs() <= 180.0).then_some((latitude, longitude))
}
