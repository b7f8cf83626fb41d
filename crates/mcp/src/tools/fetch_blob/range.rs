//! Byte ranges: `bytes=START-END`, never more than is taken.

use pdpp_wire::Code;

use super::MAX_BYTES;
use crate::failure::Failure;

/// A checked range; the end is included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ByteRange {
    pub(crate) start: u64,
    pub(crate) end: u64,
}

impl ByteRange {
    /// The first bytes.
    pub(crate) fn first(bytes: usize) -> Self {
        Self { start: 0, end: bytes as u64 - 1 }
    }

    /// Reads `bytes=START-END`; an open end is closed as far away as is taken.
    pub(crate) fn parse(text: &str) -> Result<Self, Failure> {
        let refused = |message: &str| Failure::adapter(Code::InvalidRange, message).param("range");
        let digits = |text: &str| -> Option<u64> {
            let sound = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
            // What JSON clients can count exactly.
            text.parse().ok().filter(|number: &u64| sound && *number < 1 << 53)
        };
        let shape = || refused("`range` must look like bytes=0-4095 or bytes=4096-");
        let (start, end) =
            text.strip_prefix("bytes=").and_then(|rest| rest.split_once('-')).ok_or_else(shape)?;
        let start = digits(start).ok_or_else(shape)?;
        let end = match end {
            "" => start + MAX_BYTES as u64 - 1,
            end => digits(end).ok_or_else(shape)?,
        };
        if end < start {
            return Err(refused("`range` ends before it starts"));
        }
        if end - start >= MAX_BYTES as u64 {
            return Err(refused("`range` is larger than 4194304 bytes"));
        }
        Ok(Self { start, end })
    }

    /// The first bytes of this range.
    pub(crate) fn at_most(self, bytes: usize) -> Self {
        Self { end: self.end.min(self.start + bytes as u64 - 1), ..self }
    }

    /// The header that asks for it.
    pub(crate) fn header(self) -> String {
        format!("bytes={}-{}", self.start, self.end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_bounded() {
        let header = |text: &str| ByteRange::parse(text).map(ByteRange::header).ok();
        assert_eq!(header("bytes=0-99").as_deref(), Some("bytes=0-99"));
        assert_eq!(header("bytes=10-").as_deref(), Some("bytes=10-4194313"));
        assert_eq!(header("bytes=0-4194303").as_deref(), Some("bytes=0-4194303"));
        for text in [
            "",
            "0-99",
            "bytes=",
            "bytes=-5",
            "bytes=9-3",
            "bytes=0-4194304",
            "bytes=a-b",
            "bytes=0-9,20-29",
            "bytes=99999999999999999999-",
            "bytes=+1-2",
        ] {
            assert_eq!(header(text), None, "{text}");
        }
    }
}
