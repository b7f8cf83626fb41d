//! Which stream and connection a request means: the parameters every read shares.

use pdpp_access::{FilterTerm, StreamsRequest, Target};
use pdpp_wire::{Code, Warning, WarningCode};

use crate::ApiError;
use crate::call::Call;
use crate::route::{Parameter, Shape};

/// The parameters that choose a connection.
pub(crate) const SELECTORS: &[Parameter] = &[
    Parameter::query("connection_id", Shape::Text, "Only this connection; without it, every visible one."),
    Parameter::query("connector_instance_id", Shape::Text, "Deprecated name of `connection_id`."),
    Parameter::query(
        "connector_id",
        Shape::Text,
        "Owners: which connector, by short key or URI. Ignored for clients.",
    ),
    Parameter::query("subject_id", Shape::Text, "Accepted and ignored; the token says whose data."),
];

/// The stream in the path.
pub(crate) const STREAM: Parameter = Parameter::path("stream", Shape::Text, "The stream's name.");
/// The record in the path.
pub(crate) const RECORD: Parameter = Parameter::path("id", Shape::Text, "The record's canonical key.");

/// A chosen connection, and what should be said about how it was chosen.
#[derive(Debug, Default)]
pub(crate) struct Selected {
    pub(crate) connection_id: Option<String>,
    pub(crate) connector_id: Option<String>,
    pub(crate) warnings: Vec<Warning>,
}

impl Selected {
    pub(crate) fn read(call: &Call) -> Result<Self, ApiError> {
        let named = call.query.text("connection_id")?;
        let alias = call.query.text("connector_instance_id")?;
        if let (Some(named), Some(alias)) = (named, alias)
            && named != alias
        {
            let message = "`connection_id` and `connector_instance_id` name different connections; send one.";
            return Err(ApiError::new(Code::InvalidArgument, message).param("connector_instance_id"));
        }
        Ok(Self {
            connection_id: named.or(alias).map(str::to_owned),
            connector_id: call.query.text("connector_id")?.map(str::to_owned),
            warnings: alias.map(|_| deprecated_alias()).into_iter().collect(),
        })
    }

    pub(crate) fn target(&self, call: &Call) -> Target {
        Target {
            stream: call.segment("stream").to_owned(),
            connection_id: self.connection_id.clone(),
            connector_id: self.connector_id.clone(),
        }
    }

    pub(crate) fn streams(&self) -> StreamsRequest {
        StreamsRequest { connection_id: self.connection_id.clone(), connector_id: self.connector_id.clone() }
    }
}

fn deprecated_alias() -> Warning {
    Warning::about(
        WarningCode::DeprecatedAliasUsed,
        "connector_instance_id",
        "`connector_instance_id` is the old name of `connection_id`; send that instead.",
    )
}

/// The conditions of `filter[...]` as sent.
pub(crate) fn filter_terms(call: &Call) -> Result<Vec<FilterTerm>, ApiError> {
    let given = call.query.filters()?.into_iter();
    Ok(given
        .map(|term| FilterTerm { field: term.field, operator: term.operator, operand: term.value })
        .collect())
}

/// The relations of `expand`.
pub(crate) fn expansion(call: &Call) -> Result<Vec<String>, ApiError> {
    Ok(call.query.list("expand")?.into_iter().map(str::to_owned).collect())
}

/// `expand_limit[...]` as sent.
pub(crate) fn expansion_limits(call: &Call) -> Result<Vec<(String, String)>, ApiError> {
    let limits = call.query.map("expand_limit")?.into_iter();
    Ok(limits.map(|(relation, limit)| (relation.to_owned(), limit.to_owned())).collect())
}
