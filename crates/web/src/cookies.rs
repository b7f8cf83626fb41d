//! Cookies as they come and as they are set.

use http::HeaderMap;
use http::header::COOKIE;

/// The cookie beside the token of every form.
pub(crate) const FORM_COOKIE: &str = "pdpp_owner_csrf";

/// The one value of a cookie; none when it stands twice, because two readers could take two of them.
pub(crate) fn find<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    let mut given = headers.get_all(COOKIE).iter();
    let (Some(header), None) = (given.next(), given.next()) else {
        return None;
    };
    let pairs = header.to_str().ok()?.split(';').filter_map(|pair| pair.trim().split_once('='));
    let mut values = pairs.filter(|(own, _)| *own == name).map(|(_, value)| value);
    match (values.next(), values.next()) {
        (Some(value), None) if !value.is_empty() => Some(value),
        _ => None,
    }
}

/// A cookie no script reads and no other site's form brings along.
pub(crate) fn set(name: &str, value: &str, seconds: i64, secure: bool) -> String {
    let secure = if secure { "; Secure" } else { "" };
    format!("{name}={value}; Path=/; Max-Age={seconds}; HttpOnly; SameSite=Lax{secure}")
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    #[test]
    fn a_cookie_counts_when_it_stands_once() {
        let check = |given: &[&'static str], expected: Option<&str>| {
            let mut headers = HeaderMap::new();
            for value in given {
                headers.append(COOKIE, HeaderValue::from_static(value));
            }
            assert_eq!(find(&headers, "a"), expected, "{given:?}");
        };
        check(&["b=2; a=1"], Some("1"));
        check(&["a=1; a=2"], None);
        check(&["a=1", "a=2"], None);
        check(&["a="], None);
        check(&["aa=1"], None);
        check(&[], None);
    }
}
