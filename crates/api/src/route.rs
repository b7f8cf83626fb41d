//! What a route is: where it answers, whom it serves, what it takes and gives.
//!
//! The router, the list of allowed parameters, the `OpenAPI` document and the reference pages are all
//! made from these values, so none of them can say something the server does not do.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use axum::response::Response;
use http::Method;
use pdpp_wire::Code;
use schemars::{JsonSchema, Schema, SchemaGenerator};

use crate::authority::{Owner, Reader};
use crate::call::Call;
use crate::disclosure::Disclosed;
use crate::{ApiError, ApiState};

/// One route.
#[derive(Clone, Copy, Debug)]
pub struct Route {
    /// The method; every `GET` also answers `HEAD`.
    pub method: Verb,
    /// The path, with `{name}` for path parameters.
    pub path: &'static str,
    /// Names the operation in the `OpenAPI` document.
    pub operation: &'static str,
    /// Names it in the disclosure ledger.
    pub action: &'static str,
    /// What it does, in one line.
    pub summary: &'static str,
    /// Path and query parameters, in groups.
    pub parameters: &'static [&'static [Parameter]],
    /// What happens to query parameters the route does not know.
    pub unknown_parameters: Unknown,
    /// What the body holds.
    pub body: BodyDoc,
    /// The successful answers.
    pub answers: &'static [AnswerDoc],
    /// The refusals particular to this route, in groups; the general ones are added.
    pub errors: &'static [&'static [Code]],
    /// What serves it, and whom.
    pub(crate) handler: Handler,
    /// How long it may take.
    pub pace: Pace,
    /// The test that shows it.
    pub test: &'static str,
}

/// The methods this server uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verb {
    /// `GET`, and `HEAD` with it.
    Get,
    /// `POST`.
    Post,
    /// `PUT`.
    Put,
    /// `PATCH`.
    Patch,
    /// `DELETE`.
    Delete,
}

/// Whom a route serves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Caller {
    /// Anyone, without a token.
    Anyone,
    /// The owner.
    Owner,
    /// The owner, or a client inside its grants.
    OwnerOrClient,
}

/// What happens to query parameters a route does not know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unknown {
    /// 400, naming the parameter.
    Refused,
    /// Existing clients send some here, so they are ignored.
    Ignored,
}

/// How long a route may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pace {
    /// As long as a read.
    Read,
    /// As long as an upload.
    Upload,
}

/// One parameter.
#[derive(Clone, Copy, Debug)]
pub struct Parameter {
    /// Its name.
    pub name: &'static str,
    /// Path or query.
    pub place: Place,
    /// Whether it must be sent.
    pub required: bool,
    /// What it holds.
    pub shape: Shape,
    /// What it means.
    pub description: &'static str,
}

/// Where a parameter stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// In the path.
    Path,
    /// In the query.
    Query,
}

/// What a parameter holds.
#[derive(Clone, Copy, Debug)]
pub enum Shape {
    /// Text.
    Text,
    /// Text of this pattern.
    Pattern(&'static str),
    /// A whole number.
    Whole {
        /// The least.
        min: u64,
        /// The most; above it the number is clamped or refused, as the description says.
        max: Option<u64>,
    },
    /// One of these words.
    Words(&'static [&'static str]),
    /// A list: comma separated, repeated, or both.
    Names,
    /// `name[field]=value` and `name[field][operator]=value`.
    Filter,
    /// `name[key]=number`.
    Limits,
}

/// What a request body holds.
#[derive(Clone, Copy, Debug)]
pub enum BodyDoc {
    /// Nothing.
    None,
    /// JSON of this schema.
    Json(SchemaOf),
    /// One JSON object per line.
    Ndjson,
    /// Any bytes.
    Bytes,
}

/// One successful answer.
#[derive(Clone, Copy, Debug)]
pub struct AnswerDoc {
    /// The status.
    pub status: u16,
    /// When it is given.
    pub description: &'static str,
    /// What it holds.
    pub content: Content,
    /// Headers particular to it.
    pub headers: &'static [(&'static str, &'static str)],
}

/// What an answer holds.
#[derive(Clone, Copy, Debug)]
pub enum Content {
    /// JSON of this schema.
    Json(SchemaOf),
    /// Any bytes, in their own media type.
    Bytes,
    /// Nothing.
    Empty,
}

/// Makes a type's schema.
pub type SchemaOf = fn(&mut SchemaGenerator) -> Schema;

/// The schema of a type.
pub(crate) fn schema_of<T: JsonSchema>(generator: &mut SchemaGenerator) -> Schema {
    generator.subschema_for::<T>()
}

type Answering<T> = Pin<Box<dyn Future<Output = Result<T, ApiError>> + Send>>;

/// What serves a route. The variant says whose authority it needs, so the table cannot claim another.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Handler {
    Anyone(fn(Arc<ApiState>, Call) -> Answering<Response>),
    Owner(fn(Arc<ApiState>, Owner, Call) -> Answering<Response>),
    Reader(fn(Arc<ApiState>, Reader, Call) -> Answering<Disclosed>),
}

/// Names a handler in the table: `handler!(Reader, list)`.
macro_rules! handler {
    (Anyone, $serve:path) => {
        $crate::route::Handler::Anyone(|state, call| Box::pin($serve(state, call)))
    };
    ($authority:ident, $serve:path) => {
        $crate::route::Handler::$authority(|state, authority, call| Box::pin($serve(state, authority, call)))
    };
}
pub(crate) use handler;

impl Route {
    /// Whom it serves.
    pub fn caller(&self) -> Caller {
        match self.handler {
            Handler::Anyone(_) => Caller::Anyone,
            Handler::Owner(_) => Caller::Owner,
            Handler::Reader(_) => Caller::OwnerOrClient,
        }
    }

    /// Every parameter.
    pub fn parameters(&self) -> impl Iterator<Item = &'static Parameter> {
        self.parameters.iter().copied().flatten()
    }

    /// Every refusal, the general ones included, each once and in the order of the table of codes.
    pub fn all_errors(&self) -> Vec<Code> {
        let general = [
            Code::InvalidRequest,
            Code::UnsupportedVersion,
            Code::MethodNotAllowed,
            Code::ResourceLimit,
            Code::MisdirectedRequest,
            Code::ApiError,
            Code::DeadlineExceeded,
        ];
        let known = [Code::AuthenticationError, Code::GrantExpired, Code::GrantRevoked, Code::GrantInvalid];
        let mut errors: Vec<Code> = self.errors.iter().copied().flatten().copied().chain(general).collect();
        if self.caller() != Caller::Anyone {
            errors.extend(known);
            errors.push(Code::RateLimitExceeded);
            errors.push(Code::LedgerUnavailable);
        }
        if self.caller() == Caller::Owner {
            errors.push(Code::PermissionError);
        }
        if matches!(self.body, BodyDoc::Json(_) | BodyDoc::Ndjson) {
            errors.push(Code::UnsupportedMediaType);
        }
        errors.sort_unstable();
        errors.dedup();
        errors
    }

    /// What an unreadable parameter is called: a field path has a code of its own.
    pub(crate) fn fault_of(&self, name: &str) -> Code {
        let path = self.action == "field_window" && matches!(name, "field" | "field_path");
        if path { Code::InvalidFieldPath } else { Code::InvalidRequest }
    }

    pub(crate) fn knows(&self, name: &str) -> bool {
        self.parameters().any(|parameter| parameter.place == Place::Query && parameter.name == name)
    }
}

impl Verb {
    /// The method as it is written.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Post => "POST",
            Self::Put => "PUT",
            Self::Patch => "PATCH",
            Self::Delete => "DELETE",
        }
    }

    pub(crate) fn answers(self, method: &Method) -> bool {
        method.as_str() == self.as_str() || (self == Self::Get && method == Method::HEAD)
    }
}

impl Parameter {
    pub(crate) const fn query(name: &'static str, shape: Shape, description: &'static str) -> Self {
        Self { name, place: Place::Query, required: false, shape, description }
    }

    pub(crate) const fn path(name: &'static str, shape: Shape, description: &'static str) -> Self {
        Self { name, place: Place::Path, required: true, shape, description }
    }

    pub(crate) const fn required(mut self) -> Self {
        self.required = true;
        self
    }
}

impl AnswerDoc {
    pub(crate) const fn json(schema: SchemaOf, description: &'static str) -> Self {
        Self { status: 200, description, content: Content::Json(schema), headers: &[] }
    }

    pub(crate) const fn empty(status: u16, description: &'static str) -> Self {
        Self { status, description, content: Content::Empty, headers: &[] }
    }
}
