//! Parameters from a query, a form or a JSON object, read strictly: what stands twice could mean two things to two
//! readers, so it is refused.

use pdpp_wire::parse_strict;
use percent_encoding::percent_decode;
use serde_json::{Map, Value};

use crate::OAuthFault;

const MAX_PARAMS: usize = 64;
const MAX_DEPTH: usize = 16;

/// Parameters by name.
#[derive(Clone, Debug, Default)]
pub(super) struct Params {
    members: Map<String, Value>,
    /// Of a form, whose values are texts even where they mean JSON.
    form: bool,
}

pub(super) fn parse_form(text: &[u8]) -> Result<Params, OAuthFault> {
    let mut params = Params { members: Map::new(), form: true };
    for pair in text.split(|byte| *byte == b'&').filter(|pair| !pair.is_empty()) {
        if params.members.len() >= MAX_PARAMS {
            return Err(OAuthFault::invalid(format!("There are more than {MAX_PARAMS} parameters.")));
        }
        let at = pair.iter().position(|byte| *byte == b'=').unwrap_or(pair.len());
        let (name, value) = (decode(&pair[..at])?, decode(pair.get(at + 1..).unwrap_or(b""))?);
        match params.members.get_mut(&name) {
            None if name == "resource" => {
                params.members.insert(name, Value::Array(vec![value.into()]));
            }
            // RFC 8707 lets a client name several resources.
            Some(Value::Array(values)) if name == "resource" && values.len() < MAX_PARAMS => {
                values.push(value.into());
            }
            None => {
                params.members.insert(name, value.into());
            }
            Some(_) => return Err(OAuthFault::invalid(format!("`{}` stands twice.", shown(&name)))),
        }
    }
    Ok(params)
}

pub(super) fn parse_json(text: &[u8]) -> Result<Params, OAuthFault> {
    match parse_strict(text, MAX_DEPTH) {
        Ok(Value::Object(members)) => Ok(Params { members, form: false }),
        _ => Err(OAuthFault::invalid("The body is not one JSON object with each name once.")),
    }
}

fn decode(text: &[u8]) -> Result<String, OAuthFault> {
    let wrong = || OAuthFault::invalid("A parameter is not percent-encoded UTF-8.");
    let broken = text.iter().enumerate().any(|(at, byte)| {
        *byte == b'%' && !text.get(at + 1..at + 3).is_some_and(|hex| hex.iter().all(u8::is_ascii_hexdigit))
    });
    if broken {
        return Err(wrong());
    }
    let spaced: Vec<u8> = text.iter().map(|byte| if *byte == b'+' { b' ' } else { *byte }).collect();
    let decoded = percent_decode(&spaced).decode_utf8().map_err(|_| wrong())?;
    if decoded.contains('\0') { Err(wrong()) } else { Ok(decoded.into_owned()) }
}

fn shown(name: &str) -> String {
    name.chars().filter(|c| !c.is_control()).take(60).collect()
}

impl Params {
    /// A text, if it is there and not empty.
    pub(super) fn text(&self, name: &str) -> Result<Option<&str>, OAuthFault> {
        match self.members.get(name) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) if text.is_empty() => Ok(None),
            Some(Value::String(text)) if !text.contains('\0') => Ok(Some(text)),
            Some(_) => Err(OAuthFault::invalid(format!("`{name}` is not a text."))),
        }
    }

    pub(super) fn owned(&self, name: &str) -> Result<Option<String>, OAuthFault> {
        Ok(self.text(name)?.map(str::to_owned))
    }

    pub(super) fn required(&self, name: &str) -> Result<&str, OAuthFault> {
        crate::oauth::required(self.text(name)?, name)
    }

    /// The resource indicators.
    pub(super) fn resources(&self) -> Result<Vec<String>, OAuthFault> {
        let wrong = || OAuthFault::invalid("`resource` is not an address, or a list of them.");
        match self.members.get("resource") {
            None | Some(Value::Null) => Ok(Vec::new()),
            Some(Value::String(one)) => Ok(vec![one.clone()]),
            Some(Value::Array(many)) => {
                many.iter().map(|one| one.as_str().map(str::to_owned).ok_or_else(wrong)).collect()
            }
            Some(_) => Err(wrong()),
        }
    }

    /// A JSON value: as it is in JSON, as text in a form.
    pub(super) fn value(&self, name: &str) -> Result<Option<Value>, OAuthFault> {
        match self.members.get(name) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) if self.form => match parse_strict(text.as_bytes(), MAX_DEPTH) {
                Ok(value) => Ok(Some(value)),
                Err(_) => Err(OAuthFault::invalid(format!("`{name}` is not JSON."))),
            },
            Some(value) => Ok(Some(value.clone())),
        }
    }

    pub(super) fn members(&self) -> &Map<String, Value> {
        &self.members
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.members.contains_key(name)
    }

    /// Refuses any other parameter.
    pub(super) fn allow_only(&self, names: &[&str]) -> Result<(), OAuthFault> {
        match self.members.keys().find(|name| !names.contains(&name.as_str())) {
            None => Ok(()),
            Some(other) => Err(OAuthFault::invalid(format!("`{}` is not taken here.", shown(other)))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_form_is_read_strictly() {
        let params = parse_form(b"a=1+2&b=%C3%A4&resource=x&resource=y&empty=&bare").unwrap();
        assert_eq!(params.text("a").unwrap(), Some("1 2"));
        assert_eq!(params.text("b").unwrap(), Some("\u{e4}"));
        assert_eq!(params.text("empty").unwrap(), None);
        assert_eq!(params.resources().unwrap(), ["x", "y"]);
        for bad in [&b"a=1&a=2"[..], b"a=%zz", b"a=%4", b"a=%ff", b"a=%00"] {
            assert!(parse_form(bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn json_is_one_object_with_each_name_once() {
        assert!(parse_json(br#"{"a":1}"#).is_ok());
        for bad in [&br#"{"a":1,"a":2}"#[..], b"[]", b"", b"{", br#"{"a":1}{}"#] {
            assert!(parse_json(bad).is_err());
        }
    }
}
