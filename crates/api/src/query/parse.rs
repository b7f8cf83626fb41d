//! From bytes to pairs of bracketed keys and values.

use pdpp_wire::Code;
use percent_encoding::percent_decode_str;

use super::{MAX_BYTES, MAX_DEPTH, MAX_PAIRS};
use crate::ApiError;

/// One `key=value`, its key split at the brackets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Pair {
    pub(crate) name: String,
    pub(crate) path: Vec<String>,
    pub(crate) value: String,
}

/// A parsed query string.
#[derive(Clone, Debug, Default)]
pub(crate) struct QueryString {
    pub(crate) pairs: Vec<Pair>,
}

impl QueryString {
    /// Refuses a NUL in any name or value.
    pub(crate) fn refuse_nul(&self, code: impl Fn(&str) -> Code) -> Result<(), ApiError> {
        let holds_nul = |pair: &&Pair| {
            let mut texts = pair.path.iter().chain([&pair.name, &pair.value]);
            texts.any(|text| text.contains('\0'))
        };
        match self.pairs.iter().find(holds_nul) {
            None => Ok(()),
            Some(pair) => {
                let name = shown(&pair.name);
                Err(ApiError::new(code(&name), format!("The parameter `{name}` holds a NUL.")).param(&name))
            }
        }
    }

    /// Refuses the first parameter outside the route's list.
    pub(crate) fn allow_only(&self, known: impl Fn(&str) -> bool) -> Result<(), ApiError> {
        match self.pairs.iter().find(|pair| !known(&pair.name)) {
            None => Ok(()),
            Some(pair) => Err(ApiError::new(
                Code::InvalidRequest,
                format!("This route has no parameter `{}`; leave it out.", shown(&pair.name)),
            )
            .param(&shown(&pair.name))),
        }
    }
}

/// Parses the raw query part of a request.
pub(crate) fn parse(raw: &str) -> Result<QueryString, ApiError> {
    if raw.len() > MAX_BYTES {
        return Err(limit(format!("The query string is longer than {MAX_BYTES} bytes.")));
    }
    let mut pairs = Vec::new();
    for part in raw.split('&').filter(|part| !part.is_empty()) {
        if pairs.len() == MAX_PAIRS {
            return Err(limit(format!("The query string holds more than {MAX_PAIRS} parameters.")));
        }
        pairs.push(pair(part)?);
    }
    Ok(QueryString { pairs })
}

fn pair(part: &str) -> Result<Pair, ApiError> {
    let (raw_key, raw_value) = part.split_once('=').unwrap_or((part, ""));
    let key = decode(raw_key, raw_key)?;
    let (name, path) = split_key(&key);
    if path.len() > MAX_DEPTH {
        return Err(limit(format!("`{}` is nested deeper than {MAX_DEPTH} brackets.", shown(name)))
            .param(&shown(name)));
    }
    let value = decode(raw_value, name)?;
    Ok(Pair { name: name.to_owned(), path: path.into_iter().map(str::to_owned).collect(), value })
}

/// `a[b][c]` is `a` and `b`, `c`; a key whose brackets do not close is a plain name.
fn split_key(key: &str) -> (&str, Vec<&str>) {
    let Some(open) = key.find('[').filter(|open| *open > 0 && key.ends_with(']')) else {
        return (key, Vec::new());
    };
    let inner = &key[open + 1..key.len() - 1];
    (&key[..open], inner.split("][").collect())
}

fn decode(raw: &str, name: &str) -> Result<String, ApiError> {
    let fault = |what: &str| {
        let name = shown(name);
        Err(ApiError::new(Code::InvalidRequest, format!("The parameter `{name}` {what}.")).param(&name))
    };
    if !escapes_are_whole(raw.as_bytes()) {
        return fault("holds a broken percent escape");
    }
    let spaced = raw.replace('+', " ");
    match percent_decode_str(&spaced).decode_utf8() {
        Err(_) => fault("is not UTF-8"),
        Ok(text) => Ok(text.into_owned()),
    }
}

fn escapes_are_whole(raw: &[u8]) -> bool {
    let mut rest = raw;
    while let Some(at) = rest.iter().position(|byte| *byte == b'%') {
        match rest.get(at + 1..at + 3) {
            Some(digits) if digits.iter().all(u8::is_ascii_hexdigit) => rest = &rest[at + 3..],
            _ => return false,
        }
    }
    true
}

/// A parameter's name, short and printable enough to repeat to the caller.
fn shown(name: &str) -> String {
    name.chars().filter(|c| !c.is_control()).take(64).collect()
}

fn limit(message: String) -> ApiError {
    ApiError::new(Code::ResourceLimit, message)
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    #[track_caller]
    #[expect(clippy::needless_pass_by_value, reason = "`expect!` makes a value")]
    fn check(raw: &str, expected: Expect) {
        let outcome = match parse(raw) {
            Ok(query) => query.pairs.iter().map(describe).collect::<Vec<_>>().join("; "),
            Err(error) => format!("{} {}: {}", error.code(), error.blamed().unwrap_or("-"), error.message()),
        };
        expected.assert_eq(&outcome);
    }

    fn describe(pair: &Pair) -> String {
        format!("{}{:?}={}", pair.name, pair.path, pair.value)
    }

    #[test]
    fn brackets_nest_and_lists_repeat() {
        check("", expect![""]);
        check("limit=5&cursor=", expect!["limit[]=5; cursor[]="]);
        check("filter[sent_at][gte]=2026-01-01", expect![[r#"filter["sent_at", "gte"]=2026-01-01"#]]);
        check("filter%5Bname%5D=a%20b+c", expect![[r#"filter["name"]=a b c"#]]);
        check("expand[]=x&expand=y&streams[3]=z", expect![[r#"expand[""]=x; expand[]=y; streams["3"]=z"#]]);
        check("[x]=1&a[=2&flag", expect!["[x][]=1; a[[]=2; flag[]="]);
    }

    #[test]
    fn bad_encoding_names_the_parameter() {
        check("q=%zz", expect!["invalid_request q: The parameter `q` holds a broken percent escape."]);
        check("q=%2", expect!["invalid_request q: The parameter `q` holds a broken percent escape."]);
        check("q=%ff", expect!["invalid_request q: The parameter `q` is not UTF-8."]);
        check("%ff=1", expect!["invalid_request %ff: The parameter `%ff` is not UTF-8."]);
        check("q=%ed%a0%80", expect!["invalid_request q: The parameter `q` is not UTF-8."]);
    }

    #[test]
    fn a_nul_is_refused() {
        let refusal = parse("q=a%00").unwrap().refuse_nul(|_| Code::InvalidRequest).unwrap_err();
        assert_eq!(refusal.message(), "The parameter `q` holds a NUL.");
        assert!(parse("q=a").unwrap().refuse_nul(|_| Code::InvalidRequest).is_ok());
    }

    #[test]
    fn every_bound_has_its_error() {
        check(
            "f[1][2][3][4][5][6][7][8][9]=x",
            expect!["resource_limit f: `f` is nested deeper than 8 brackets."],
        );
        check(
            &"a=1&".repeat(257),
            expect!["resource_limit -: The query string holds more than 256 parameters."],
        );
        check(&"x".repeat(16_385), expect!["resource_limit -: The query string is longer than 16384 bytes."]);
    }
}
