//! A form as a browser sends it: names may repeat, because tick boxes of one name do.

use pdpp_auth::OAuthFault;
use pdpp_wire::OAuthCode;
use percent_encoding::percent_decode;

/// Most fields of a form.
const MAX_FIELDS: usize = 20_000;

/// The fields of a form, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Form(Vec<(String, String)>);

impl Form {
    pub(crate) fn parse(text: &[u8]) -> Result<Self, OAuthFault> {
        let mut pairs = Vec::new();
        for pair in text.split(|byte| *byte == b'&').filter(|pair| !pair.is_empty()) {
            if pairs.len() >= MAX_FIELDS {
                return Err(invalid("The form has too many fields."));
            }
            let at = pair.iter().position(|byte| *byte == b'=').unwrap_or(pair.len());
            pairs.push((decode(&pair[..at])?, decode(pair.get(at + 1..).unwrap_or(b""))?));
        }
        Ok(Self(pairs))
    }

    /// The one value of a field; an error when there are several, because each could be the one that counts.
    pub(crate) fn one(&self, name: &str) -> Result<Option<&str>, OAuthFault> {
        let mut values = self.0.iter().filter(|(own, _)| own == name).map(|(_, value)| value.as_str());
        match (values.next(), values.next()) {
            (_, Some(_)) => Err(invalid(format!("`{name}` stands twice."))),
            (value, None) => Ok(value.filter(|value| !value.is_empty())),
        }
    }

    pub(crate) fn required(&self, name: &str) -> Result<&str, OAuthFault> {
        self.one(name)?.ok_or_else(|| invalid(format!("`{name}` is missing.")))
    }

    /// Whether a box is ticked.
    pub(crate) fn is_ticked(&self, name: &str, value: &str) -> bool {
        self.0.iter().any(|(own, given)| own == name && given == value)
    }

    /// Every field but these, to be sent again.
    pub(crate) fn without<'f>(&'f self, names: &'f [&str]) -> impl Iterator<Item = (&'f str, &'f str)> {
        let pairs = self.0.iter().filter(|(name, _)| !names.contains(&name.as_str()));
        pairs.map(|(name, value)| (name.as_str(), value.as_str()))
    }
}

pub(crate) fn invalid(message: impl Into<String>) -> OAuthFault {
    OAuthFault::refused(OAuthCode::InvalidRequest, message)
}

fn decode(text: &[u8]) -> Result<String, OAuthFault> {
    let wrong = || invalid("A field is not percent-encoded UTF-8.");
    let spaced: Vec<u8> = text.iter().map(|byte| if *byte == b'+' { b' ' } else { *byte }).collect();
    let decoded = percent_decode(&spaced).decode_utf8().map_err(|_| wrong())?;
    if decoded.contains('\0') { Err(wrong()) } else { Ok(decoded.into_owned()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tick_boxes_repeat_and_other_fields_do_not() {
        let form = Form::parse(b"a=1&t=x&t=y+z&b=&a2=%C3%A4").unwrap();
        assert_eq!((form.one("a").unwrap(), form.one("b").unwrap()), (Some("1"), None));
        assert_eq!(form.one("a2").unwrap(), Some("\u{e4}"));
        assert!(form.one("t").is_err());
        assert!(form.is_ticked("t", "x") && form.is_ticked("t", "y z") && !form.is_ticked("t", "z"));
        assert!(form.required("b").is_err());
        assert_eq!(form.without(&["a", "t"]).count(), 2);
        assert!(Form::parse(b"a=%ff").is_err() && Form::parse(b"a=%00").is_err());
    }
}
