//! The text of attached documents.

/// Replaced with the mail importer.
pub fn extract_text(_media_type: &str, _name: Option<&str>, _bytes: &[u8]) -> Option<String> {
    None
}
