//! A record while it is put together: what is not known is left out.

use serde_json::{Map, Value};

use crate::Draft;

#[derive(Clone, Debug, Default)]
pub(crate) struct Fields(Map<String, Value>);

impl Fields {
    /// Begins with the record's key.
    pub(crate) fn new(id: &str) -> Self {
        let mut fields = Self::default();
        fields.put("id", id);
        fields
    }

    pub(crate) fn put(&mut self, name: &str, value: impl Into<Value>) {
        self.0.insert(name.to_owned(), value.into());
    }

    pub(crate) fn maybe(&mut self, name: &str, value: Option<impl Into<Value>>) {
        if let Some(value) = value {
            self.put(name, value);
        }
    }

    /// A list, left out when it is empty.
    pub(crate) fn list(&mut self, name: &str, values: Vec<Value>) {
        if !values.is_empty() {
            self.put(name, values);
        }
    }

    /// An object, left out when it is empty.
    pub(crate) fn object(&mut self, name: &str, members: Map<String, Value>) {
        if !members.is_empty() {
            self.put(name, members);
        }
    }

    /// Only said when it is so.
    pub(crate) fn when(&mut self, name: &str, so: bool) {
        if so {
            self.put(name, true);
        }
    }

    pub(crate) fn draft(self, stream: &str, key: &str, place: String) -> Draft {
        Draft { stream: stream.to_owned(), key: key.to_owned(), data: self.0, place }
    }
}
