//! What surrounds every page.

/// What surrounds every page.
#[derive(Clone, Debug, Default)]
pub(crate) struct Frame {
    /// What the page is.
    pub(crate) title: String,
    /// What the owner calls this server.
    pub(crate) server: String,
    /// The token of the page's forms.
    pub(crate) token: String,
    /// Whether the owner is signed in.
    pub(crate) signed_in: bool,
    /// Where the style sheet is; its name holds its hash, so that it can be kept for ever.
    pub(crate) style: &'static str,
}
