//! The expand gate: a stream that declares no relations is not asked for any.
//!
//! The answer comes from the live schema on every call, so a change counts at once. Whatever the gate cannot
//! know, the resource server decides: a failed lookup or an unknown stream lets the call pass.
//!
//! The same schema says how related records are read by themselves, which is where a list that was cut goes on.

use pdpp_client::Request;
use pdpp_evidence::{RecordHandle, neutralise};
use pdpp_wire::Code;
use serde_json::{Map, Value, json};

use crate::Adapter;
use crate::arguments::{Arguments, scalar_text};
use crate::failure::Failure;
use crate::record::is_callable;
use crate::stream_rows::{rows_of, schema_of};
use crate::text::quoted;

/// The most relations that are told of.
const MAX_RELATIONS: usize = 10;

/// A relation that the schema tells of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Relation {
    pub(crate) name: String,
    /// The stream of the related records.
    stream: String,
    /// Their field that holds the key of the record they belong to.
    foreign_key: String,
}

impl Relation {
    /// What an entry says; nothing when no call could be made of it.
    fn read(entry: &Value) -> Option<Self> {
        let text = |names: [&str; 2]| names.iter().find_map(|name| entry.get(*name)?.as_str());
        let foreign_key = entry.get("foreign_key")?.as_str()?;
        let relation = Self {
            name: text(["name", "relation"])?.to_owned(),
            stream: text(["target_stream", "stream"])?.to_owned(),
            foreign_key: foreign_key.to_owned(),
        };
        let callable = is_callable(&relation.stream) && is_callable(foreign_key);
        (callable && !foreign_key.contains(['[', ']'])).then_some(relation)
    }

    /// The call that reads all records related to this one, where its row does not have them all.
    pub(crate) fn rest_of(&self, row: &Map<String, Value>, parent: &RecordHandle) -> Option<Value> {
        let more = row.get("expanded")?.get(&self.name)?.get("has_more")?;
        (*more == true).then(|| self.all_of(parent))?
    }

    fn all_of(&self, parent: &RecordHandle) -> Option<Value> {
        let mut args = json!({"stream": self.stream, "filter": {&*self.foreign_key: parent.record_id}});
        if let Some(id) = &parent.connection_id {
            args["connection_id"] = id.as_str().into();
        }
        let shown = neutralise(&args.to_string()).replaced == 0;
        shown.then(|| json!({"tool": "query_records", "args": args}))
    }
}

/// Refuses `expand` and `expand_limit` where the stream has nothing to expand. Gives the relations, as far as the
/// schema tells of them.
pub(crate) async fn gate(
    adapter: &Adapter,
    arguments: &Arguments,
    stream: &str,
    connection_id: Option<&str>,
) -> Result<Vec<Relation>, Failure> {
    let relations = relations(arguments);
    if relations.is_empty() {
        return Ok(Vec::new());
    }
    let Ok(schema) = schema_of(adapter, stream, connection_id).await else { return Ok(Vec::new()) };
    let rows = rows_of(&schema, stream);
    if rows.is_empty() || rows.iter().any(|row| has_relations(row)) {
        return Ok(told(&rows, &relations));
    }
    let asked: Vec<String> = relations.iter().take(10).map(|relation| quoted(relation, 80)).collect();
    let message = format!(
        "The stream {} has no relations to expand (asked for {}). See `expand_capabilities` in GET /v1/schema, \
         and repeat the call without `expand` and `expand_limit`.",
        quoted(stream, 200),
        asked.join(", "),
    );
    Err(Failure::adapter(Code::InvalidExpand, message).param("expand"))
}

/// The relations that were asked for, where all sources of the stream tell the same of them.
fn told(rows: &[&Map<String, Value>], asked: &[&str]) -> Vec<Relation> {
    let entries = rows.iter().filter_map(|row| row.get("expand_capabilities")?.as_array()).flatten();
    let all: Vec<Relation> = entries.filter_map(Relation::read).collect();
    let agreed = |name: &&str| {
        let mut same = all.iter().filter(|relation| relation.name == **name);
        let first = same.next()?;
        same.all(|other| other == first).then(|| first.clone())
    };
    asked.iter().take(MAX_RELATIONS).filter_map(agreed).collect()
}

/// The request with both parameters, unchanged.
pub(crate) fn expanded(request: Request, arguments: &Arguments) -> Request {
    let request = request.each("expand", arguments.texts("expand"));
    let limits = arguments.object("expand_limit").into_iter().flatten();
    limits.fold(request, |request, (relation, limit)| {
        request.query(format!("expand_limit[{relation}]"), scalar_text(limit))
    })
}

fn relations(arguments: &Arguments) -> Vec<&str> {
    let mut relations = arguments.texts("expand");
    let limited =
        arguments.object("expand_limit").into_iter().flatten().map(|(relation, _)| relation.as_str());
    relations.extend(limited.filter(|relation| !arguments.texts("expand").contains(relation)));
    relations
}

fn has_relations(row: &Map<String, Value>) -> bool {
    match row.get("expand_capabilities") {
        Some(Value::Array(relations)) => !relations.is_empty(),
        Some(Value::Object(relations)) => !relations.is_empty(),
        _ => false,
    }
}
