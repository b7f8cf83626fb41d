//! Which attachments are documents whose text can be had, and which of those need care.

/// A kind of document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DocumentKind {
    /// Portable Document Format.
    Pdf,
    /// A word processor's document, a zip of XML.
    Docx,
    /// A web page.
    Html,
    /// Plain text of some kind.
    Text,
}

impl DocumentKind {
    /// By media type; by the name's ending where the type says nothing.
    pub fn of(media_type: &str, name: Option<&str>) -> Option<Self> {
        const DOCX: &str = "application/vnd.openxmlformats-officedocument.wordprocessingml.document";
        let media_type = media_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
        match media_type.as_str() {
            "application/pdf" | "application/x-pdf" => Some(Self::Pdf),
            DOCX => Some(Self::Docx),
            "text/html" | "application/xhtml+xml" => Some(Self::Html),
            "application/octet-stream" | "" => Self::of_name(name?),
            other if other.starts_with("text/") => Some(Self::Text),
            _ => None,
        }
    }

    fn of_name(name: &str) -> Option<Self> {
        let (_, extension) = name.rsplit_once('.')?;
        match extension.to_ascii_lowercase().as_str() {
            "pdf" => Some(Self::Pdf),
            "docx" => Some(Self::Docx),
            "html" | "htm" | "xhtml" => Some(Self::Html),
            "txt" | "md" | "csv" | "log" => Some(Self::Text),
            _ => None,
        }
    }

    /// Whether its reader is large enough to be kept apart: it runs in a process with limits of its own.
    pub fn needs_own_process(self) -> bool {
        matches!(self, Self::Pdf | Self::Docx)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_media_type_decides_and_the_name_helps() {
        for (media_type, name, kind) in [
            ("application/pdf", None, Some(DocumentKind::Pdf)),
            ("Text/HTML; charset=utf-8", None, Some(DocumentKind::Html)),
            ("text/calendar", Some("a.ics"), Some(DocumentKind::Text)),
            ("application/octet-stream", Some("Plan.DOCX"), Some(DocumentKind::Docx)),
            ("application/octet-stream", Some("photo"), None),
            ("image/png", Some("fake.pdf"), None),
        ] {
            assert_eq!(DocumentKind::of(media_type, name), kind, "{media_type} {name:?}");
        }
    }
}
