//! What a file is, by its name, or by its first bytes where the name does not tell.

/// What stands for bytes nobody can name.
pub(crate) const UNKNOWN: &str = "application/octet-stream";

/// The media type that a name promises, or that of bytes nobody can name.
pub(crate) fn media_type_of(name: &str) -> &'static str {
    of_name(name).unwrap_or(UNKNOWN)
}

/// Whether a media type from outside is one at all.
pub(crate) fn plausible(media_type: &str) -> bool {
    let part = |text: &str| {
        (1..=64).contains(&text.len())
            && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"!#$&^_.+-".contains(&byte))
    };
    media_type.split_once('/').is_some_and(|(kind, subtype)| part(kind) && part(subtype))
}

/// The media type that a name's extension stands for, if it is a known one.
pub(crate) fn of_name(name: &str) -> Option<&'static str> {
    let (_, extension) = name.rsplit_once('.')?;
    Some(match extension.to_ascii_lowercase().as_str() {
        "png" => "image/png",
        "jpg" | "jpeg" | "jfif" => "image/jpeg",
        "gif" => "image/gif",
        "webp" => "image/webp",
        "svg" => "image/svg+xml",
        "bmp" => "image/bmp",
        "tif" | "tiff" => "image/tiff",
        "heic" | "heif" => "image/heic",
        "avif" => "image/avif",
        "mp3" => "audio/mpeg",
        "m4a" => "audio/mp4",
        "wav" => "audio/wav",
        "ogg" | "oga" | "opus" => "audio/ogg",
        "flac" => "audio/flac",
        "mp4" | "m4v" => "video/mp4",
        "mov" => "video/quicktime",
        "webm" => "video/webm",
        "mkv" => "video/x-matroska",
        "3gp" => "video/3gpp",
        "avi" => "video/x-msvideo",
        "aac" => "audio/aac",
        "amr" => "audio/amr",
        "rtf" => "application/rtf",
        "gz" | "tgs" => "application/gzip",
        "pdf" => "application/pdf",
        "doc" => "application/msword",
        "docx" => "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
        "xls" => "application/vnd.ms-excel",
        "xlsx" => "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
        "ppt" => "application/vnd.ms-powerpoint",
        "pptx" => "application/vnd.openxmlformats-officedocument.presentationml.presentation",
        "odt" => "application/vnd.oasis.opendocument.text",
        "ods" => "application/vnd.oasis.opendocument.spreadsheet",
        "epub" => "application/epub+zip",
        "zip" => "application/zip",
        "json" | "canvas" => "application/json",
        "csv" => "text/csv",
        "tsv" => "text/tab-separated-values",
        "html" | "htm" => "text/html",
        "md" | "markdown" => "text/markdown",
        "txt" | "log" | "base" => "text/plain",
        "xml" => "application/xml",
        "yaml" | "yml" => "application/yaml",
        "py" => "text/x-python",
        "js" => "text/javascript",
        "css" => "text/css",
        "ics" => "text/calendar",
        "vcf" | "vcard" => "text/vcard",
        "eml" => "message/rfc822",
        _ => return None,
    })
}

/// The media type that the first sixteen bytes tell, if they do.
pub(crate) fn of_head(head: &[u8]) -> Option<&'static str> {
    Some(match head {
        [0x89, b'P', b'N', b'G', ..] => "image/png",
        [0xff, 0xd8, 0xff, ..] => "image/jpeg",
        [b'G', b'I', b'F', b'8', ..] => "image/gif",
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => "image/webp",
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'A', b'V', b'E', ..] => "audio/wav",
        [_, _, _, _, b'f', b't', b'y', b'p', b'M', b'4', b'A', ..] => "audio/mp4",
        [_, _, _, _, b'f', b't', b'y', b'p', ..] => "video/mp4",
        [b'I', b'D', b'3', ..] => "audio/mpeg",
        [b'O', b'g', b'g', b'S', ..] => "audio/ogg",
        [b'%', b'P', b'D', b'F', ..] => "application/pdf",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_first_bytes_tell_the_kind() {
        assert_eq!(of_name("a.b.PNG"), Some("image/png"));
        assert_eq!(of_name("file-abc.dat"), None);
        assert_eq!(of_name("README"), None);
        assert_eq!(of_head(b"RIFF\0\0\0\0WEBPVP8 "), Some("image/webp"));
        assert_eq!(of_head(b"RIF"), None);
    }
}
