//! Which window: a record, a field, and either an offset or a query.

use pdpp_client::Request;
use pdpp_evidence::{DEFAULT_LIMIT_CHARS, FieldWindowHandle, MAX_LIMIT_CHARS, RecordHandle};
use pdpp_wire::Code;

use crate::arguments::Arguments;
use crate::failure::Failure;

/// A checked selection. The record's connection is always known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Selector {
    pub(crate) record: RecordHandle,
    pub(crate) field_path: String,
    pub(crate) offset_chars: Option<u64>,
    pub(crate) limit_chars: Option<u64>,
    pub(crate) q: Option<String>,
    pub(crate) before_chars: Option<u64>,
    pub(crate) after_chars: Option<u64>,
}

impl Selector {
    /// From the arguments of the tool.
    pub(crate) fn from_arguments(arguments: &Arguments) -> Result<Self, Failure> {
        let field_path = arguments.needed("field_path").to_owned();
        let given = FieldWindowHandle {
            field_path,
            cursor: arguments.text("cursor").map(str::to_owned),
            offset_chars: arguments.integer("offset_chars"),
            limit_chars: arguments.integer("limit_chars"),
            q: arguments.text("q").map(str::to_owned),
            before_chars: arguments.integer("before_chars"),
            after_chars: arguments.integer("after_chars"),
            ..FieldWindowHandle::default()
        };
        let triple = ["connection_id", "stream", "record_id"].map(|name| arguments.text(name));
        match (arguments.text("id"), triple) {
            (Some(_), triple) if triple.iter().any(Option::is_some) => {
                Err(refused("`id` is exclusive with explicit connection_id, stream and record_id"))
            }
            (Some(id), _) => match FieldWindowHandle::parse(id) {
                Some(handle) => Self::from_handle(merged(handle.map_err(invalid_id)?, given)?),
                None => Self::checked(RecordHandle::parse(id).map_err(invalid_id)?, given),
            },
            (None, [Some(connection), Some(stream), Some(record)]) => Self::checked(
                RecordHandle {
                    connection_id: Some(connection.to_owned()),
                    stream: stream.to_owned(),
                    record_id: record.to_owned(),
                },
                given,
            ),
            (None, _) => Err(refused(
                "a field read requires either `id`, or connection_id, stream and record_id together",
            )),
        }
    }

    /// From the handle behind a resource URI.
    pub(crate) fn from_handle(handle: FieldWindowHandle) -> Result<Self, Failure> {
        let record = RecordHandle {
            connection_id: Some(handle.connection_id.clone()),
            stream: handle.stream.clone(),
            record_id: handle.record_id.clone(),
        };
        Self::checked(record, handle)
    }

    fn checked(record: RecordHandle, given: FieldWindowHandle) -> Result<Self, Failure> {
        if record.connection_id.is_none() {
            return Err(refused(
                "`id` must include connection_id, as in connection_id/stream:record_id; `fetch` also takes this id",
            ));
        }
        let cursor = match &given.cursor {
            None => None,
            Some(cursor) => Some(
                Some(cursor)
                    .filter(|cursor| cursor.bytes().all(|byte| byte.is_ascii_digit()))
                    .and_then(|cursor| cursor.parse().ok())
                    .ok_or_else(|| refused("field-window cursor must be a non-negative integer"))?,
            ),
        };
        if cursor.is_some() && given.offset_chars.is_some() {
            return Err(refused("`cursor` is exclusive with `offset_chars`"));
        }
        let offset_chars = cursor.or(given.offset_chars);
        if given.q.is_some() && offset_chars.is_some() {
            return Err(refused("`q` is exclusive with `cursor` and `offset_chars`"));
        }
        if given.q.is_none() && (given.before_chars.is_some() || given.after_chars.is_some()) {
            return Err(refused("`before_chars` and `after_chars` require `q`"));
        }
        Ok(Self {
            record,
            field_path: given.field_path,
            offset_chars,
            limit_chars: given.limit_chars,
            q: given.q,
            before_chars: given.before_chars,
            after_chars: given.after_chars,
        })
    }

    /// The request for this window.
    pub(crate) fn request(&self) -> Request {
        let number = |value: Option<u64>| value.map(|value| value.to_string());
        Request::get([
            "v1",
            "streams",
            &self.record.stream,
            "records",
            &self.record.record_id,
            "field-window",
        ])
        .maybe("connection_id", self.record.connection_id.as_deref())
        .query("field", self.field_path.as_str())
        .maybe("offset_chars", number(self.offset_chars))
        .maybe("limit_chars", number(self.limit_chars))
        .maybe("q", self.q.as_deref())
        .maybe("before_chars", number(self.before_chars))
        .maybe("after_chars", number(self.after_chars))
    }

    /// The most characters that are asked for.
    pub(super) fn most_chars(&self) -> usize {
        let chars = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
        let context = [self.before_chars, self.after_chars].into_iter().flatten().map(chars);
        let around = self.q.as_ref().map_or(0, |q| context.sum::<usize>() + q.chars().count());
        self.limit_chars.map_or(around.max(DEFAULT_LIMIT_CHARS), chars).clamp(1, MAX_LIMIT_CHARS)
    }

    /// The URI of a window of this field.
    pub(crate) fn uri(&self, offset_chars: u64, limit_chars: u64) -> String {
        FieldWindowHandle {
            connection_id: self.record.connection_id.clone().unwrap_or_default(),
            stream: self.record.stream.clone(),
            record_id: self.record.record_id.clone(),
            field_path: self.field_path.clone(),
            offset_chars: Some(offset_chars),
            limit_chars: Some(limit_chars),
            ..FieldWindowHandle::default()
        }
        .uri()
    }
}

/// The place a URI names, with a selection of the caller's own if there is one.
fn merged(handle: FieldWindowHandle, given: FieldWindowHandle) -> Result<FieldWindowHandle, Failure> {
    if handle.field_path != given.field_path {
        return Err(refused(&format!(
            "`field_path` differs from the field of the URI, which is {}",
            crate::text::quoted(&handle.field_path, 80)
        )));
    }
    let own = given.cursor.is_some() || given.offset_chars.is_some() || given.q.is_some();
    if !own {
        return Ok(FieldWindowHandle { limit_chars: given.limit_chars.or(handle.limit_chars), ..handle });
    }
    Ok(FieldWindowHandle {
        connection_id: handle.connection_id,
        stream: handle.stream,
        record_id: handle.record_id,
        ..given
    })
}

fn refused(message: &str) -> Failure {
    Failure::adapter(Code::InvalidFieldWindowSelector, message)
}

fn invalid_id(error: pdpp_evidence::HandleError) -> Failure {
    Failure::adapter(Code::InvalidRecordId, error.to_string()).param("id")
}
