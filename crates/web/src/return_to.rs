//! Where a browser goes after signing in: a path of this server, whatever was asked.

/// Where it goes when nothing usable was said.
const HOME: &str = "/owner";
/// Longest path that is kept, in bytes.
const MAX_BYTES: usize = 8_192;

/// The path, if it can lead nowhere but here: one slash at its beginning, no backslash (browsers take it for a slash),
/// nothing that a header or a parser could trip over.
pub(crate) fn checked(given: Option<&str>) -> &str {
    let sane = |path: &&str| {
        path.starts_with('/')
            && !path.starts_with("//")
            && path.len() <= MAX_BYTES
            && path.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'\\')
    };
    given.filter(sane).unwrap_or(HOME)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_paths_of_this_server_are_returned_to() {
        for good in ["/", "/owner", "/consent?request_uri=urn%3Apdpp%3Ax", "/a//b"] {
            assert_eq!(checked(Some(good)), good);
        }
        for bad in [
            "",
            "owner",
            "//evil.test",
            "/\\evil.test",
            "https://evil.test/",
            "/a\r\nb",
            "/\u{e4}",
            "/a b",
            "javascript:alert(1)",
        ] {
            assert_eq!(checked(Some(bad)), HOME, "{bad:?}");
        }
        assert_eq!(checked(None), HOME);
        assert_eq!(checked(Some(&format!("/{}", "x".repeat(9_000)))), HOME);
    }
}
