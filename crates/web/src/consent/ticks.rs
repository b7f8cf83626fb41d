//! Which boxes of a page are ticked: as asked at first, as the owner left them when the page is shown again.

use crate::form::Form;

/// The state of a page's controls.
#[derive(Clone, Copy)]
pub(super) struct Ticks<'f>(pub(super) Option<&'f Form>);

impl<'f> Ticks<'f> {
    /// Whether a box is ticked; `at_first` on a page that is shown for the first time.
    pub(super) fn has(self, name: &str, value: &str, at_first: bool) -> bool {
        self.0.map_or(at_first, |form| form.is_ticked(name, value))
    }

    /// Which of several is chosen.
    pub(super) fn chosen(self, name: &str, at_first: &'f str) -> &'f str {
        self.0.and_then(|form| form.one(name).ok().flatten()).unwrap_or(at_first)
    }

    /// What stands in a text or date field.
    pub(super) fn value(self, name: &str, at_first: String) -> String {
        match self.0 {
            None => at_first,
            Some(form) => form.one(name).ok().flatten().map(crate::stranger::name).unwrap_or_default(),
        }
    }
}
