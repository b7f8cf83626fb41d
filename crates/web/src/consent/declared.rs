//! How sources describe their streams and fields, in their own words.

use pdpp_access::Catalogue;
use pdpp_wire::manifest::StreamDeclaration;
use serde_json::Value;

use crate::artifact::Artifact;
use crate::stranger;

/// A stream or field in its declaration's words.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Words {
    pub(crate) label: String,
    pub(crate) detail: Option<String>,
}

/// The declarations of an owner's sources.
pub(crate) struct Declared<'c>(&'c Catalogue);

impl<'c> Declared<'c> {
    pub(crate) fn new(catalogue: &'c Catalogue) -> Self {
        Self(catalogue)
    }

    pub(crate) fn stream(&self, source: &str, name: &str) -> Words {
        let Some(declaration) = self.find(source, name) else {
            return plain(name);
        };
        let document = declaration.document();
        let display = document.get("display");
        let label = display.and_then(|display| text(display.get("label")));
        let detail =
            text(document.get("description")).or(display.and_then(|display| text(display.get("detail"))));
        Words {
            label: label.map_or_else(|| spelled(name), stranger::name),
            detail: detail.map(stranger::words),
        }
    }

    pub(crate) fn field(&self, source: &str, stream: &str, name: &str) -> Words {
        let field = self.find(source, stream).and_then(|declaration| declaration.find_field(name));
        let Some(schema) = field.map(pdpp_wire::manifest::FieldDeclaration::schema) else {
            return plain(name);
        };
        Words {
            label: text(schema.get("title")).map_or_else(|| spelled(name), stranger::name),
            detail: text(schema.get("description")).map(stranger::words),
        }
    }

    /// How many other sources there are.
    pub(crate) fn others(&self, artifact: &Artifact) -> usize {
        let named = |id: &str| artifact.sources.iter().any(|source| source.source.id == id);
        self.0.sources.iter().filter(|source| !named(&source.manifest.source().id)).count()
    }

    /// The labels of streams, given by source and stream.
    pub(crate) fn labels(&self, artifact: &Artifact, streams: &[(usize, usize)]) -> Vec<String> {
        let label = |(source, stream): &(usize, usize)| {
            let source = artifact.sources.get(*source)?;
            Some(self.stream(&source.source.id, &source.streams.get(*stream)?.name).label)
        };
        streams.iter().filter_map(label).collect()
    }

    fn find(&self, source: &str, stream: &str) -> Option<&'c StreamDeclaration> {
        self.0.find_source_by_uri(source)?.manifest.find_stream(stream)
    }
}

fn plain(name: &str) -> Words {
    Words { label: spelled(name), detail: None }
}

/// A name as words: `sent_at` is "sent at".
pub(crate) fn spelled(name: &str) -> String {
    stranger::name(&name.replace('_', " "))
}

fn text(value: Option<&Value>) -> Option<&str> {
    value.and_then(Value::as_str).filter(|text| !text.trim().is_empty())
}
