//! Undoes what mail does to bytes for the way: base64 and quoted-printable.
//!
//! Both are read as far as they make sense. A stray character in a part of forty megabytes is no reason to lose it.

/// The bytes of base64 text. What is no base64 (line ends, stray marks) is skipped.
pub(super) fn base64(text: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3 + 3);
    let (mut bits, mut count) = (0_u32, 0_u8);
    for byte in text {
        let value = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            // Padding ends a group; some programs glue several padded texts together.
            b'=' => {
                flush(&mut bytes, &mut bits, &mut count);
                continue;
            }
            _ => continue,
        };
        bits = bits << 6 | u32::from(value);
        count += 1;
        if count == 4 {
            bytes.extend_from_slice(&bits.to_be_bytes()[1..]);
            (bits, count) = (0, 0);
        }
    }
    flush(&mut bytes, &mut bits, &mut count);
    bytes
}

fn flush(bytes: &mut Vec<u8>, bits: &mut u32, count: &mut u8) {
    let [_, first, second, _] = (*bits << (6 * u32::from(4 - (*count).min(4)))).to_be_bytes();
    match count {
        2 => bytes.push(first),
        3 => bytes.extend_from_slice(&[first, second]),
        _ => {}
    }
    (*bits, *count) = (0, 0);
}

/// The bytes of quoted-printable text. An `=` that introduces nothing stays as it is.
pub(super) fn quoted_printable(text: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(text.len());
    for line in text.split_inclusive(|byte| *byte == b'\n') {
        let (content, end) = split_line_end(line);
        // Blanks at the end of a line were added on the way.
        let content = content.trim_ascii_end();
        if let Some(soft) = content.strip_suffix(b"=") {
            hex_pairs(soft, &mut bytes);
        } else {
            hex_pairs(content, &mut bytes);
            bytes.extend_from_slice(end);
        }
    }
    bytes
}

/// The bytes of an encoded word of kind Q, where `_` is a space.
pub(super) fn q_word(text: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(text.len());
    let spaced: Vec<u8> = text.iter().map(|byte| if *byte == b'_' { b' ' } else { *byte }).collect();
    hex_pairs(&spaced, &mut bytes);
    bytes
}

fn hex_pairs(text: &[u8], bytes: &mut Vec<u8>) {
    let mut rest = text;
    while let Some((first, after)) = rest.split_first() {
        rest = after;
        if *first == b'='
            && let [high, low, after @ ..] = after
            && let (Some(high), Some(low)) = (hex(*high), hex(*low))
        {
            bytes.push(high << 4 | low);
            rest = after;
        } else {
            bytes.push(*first);
        }
    }
}

fn hex(digit: u8) -> Option<u8> {
    char::from(digit).to_digit(16).and_then(|value| u8::try_from(value).ok())
}

fn split_line_end(line: &[u8]) -> (&[u8], &[u8]) {
    let length = match line {
        [.., b'\r', b'\n'] => 2,
        [.., b'\n'] => 1,
        _ => 0,
    };
    line.split_at(line.len() - length)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_read_as_far_as_it_makes_sense() {
        for (text, expected) in [
            (&b"aGVsbG8="[..], &b"hello"[..]),
            (b"aGVs\r\nbG8", b"hello"),
            (b"aG!Vs bG8=", b"hello"),
            (b"aGk=aGk=", b"hihi"),
            (b"", b""),
            (b"a", b""),
            (b"====", b""),
        ] {
            assert_eq!(base64(text), expected, "{text:?}");
        }
    }

    #[test]
    fn quoted_printable_is_read_as_far_as_it_makes_sense() {
        for (text, expected) in [
            (&b"Gr=C3=BC=\r\n=C3=9Fe\r\nnext  \n"[..], "Grüße\r\nnext\n".as_bytes()),
            (b"a=3D1 and 1=x =", b"a=1 and 1=x "),
            (b"=", b""),
            (b"=4", b"=4"),
            (b"caf=c3=A9", "café".as_bytes()),
        ] {
            assert_eq!(quoted_printable(text), expected, "{text:?}");
        }
        assert_eq!(q_word(b"a_b=5F=20c"), b"a b_ c");
    }
}
