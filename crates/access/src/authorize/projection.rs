//! `fields` and `view`: which of the granted fields a request is shown.

use pdpp_wire::Code;

use super::Authorizer;
use crate::filter::check_field;
use crate::{Denial, ReadPlan};

/// Most names in one `fields`.
const MAX_FIELDS: usize = 256;

impl Authorizer<'_> {
    /// Narrows what each part shows. Exactly the requested names are shown, no more.
    pub(super) fn project(
        read: &mut ReadPlan,
        fields: Option<&[String]>,
        view: Option<&str>,
    ) -> Result<(), Denial> {
        let view = match view {
            None => None,
            Some(_) if fields.is_some() => {
                return Err(Denial::invalid("view", "Give `view` or `fields`, not both."));
            }
            Some(id) => Some(read.declaration().find_view(id).cloned().ok_or_else(|| {
                let message =
                    format!("Stream '{}' declares no view '{id}'; check /v1/schema.", read.stream());
                Denial::new(Code::InvalidRequest, message).param("view")
            })?),
        };
        let (names, param) = match (&view, fields) {
            (Some(view), _) => (view.fields.as_slice(), "view"),
            (None, Some(fields)) => (fields, "fields"),
            (None, None) => return Ok(()),
        };
        if names.is_empty() || names.len() > MAX_FIELDS {
            return Err(Denial::invalid(
                param,
                format!("Name 1 to {MAX_FIELDS} fields, or leave `fields` out."),
            ));
        }
        for name in names {
            check_field(read, name, param)?;
        }
        for part in &mut read.parts {
            part.shown = part.granted.narrow_to(Some(names));
        }
        Ok(())
    }
}
