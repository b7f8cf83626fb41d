//! The MCP adapter: from a question to proven evidence to a bounded read, through any PDPP resource server.
//!
//! An [`Adapter`] turns tool calls into REST requests through `pdpp-client` and renders the answers with
//! `pdpp-evidence`. It holds no authority: one grant-scoped bearer goes with every request, and the server
//! decides. One engine serves two transports, lines on standard streams and Streamable HTTP, and their results
//! are the same.
//!
//! Both halves of a result stand alone, because hosts show one or the other: `content` carries text in few
//! tokens, evidence first, with the exact next call; `structuredContent` carries the same facts and handles.
//! Text from records is written by strangers and passes one boundary ([`shown`]) before a model sees it.

mod adapter;
mod arguments;
mod batch;
mod bounded;
mod completions;
mod expand;
mod failure;
mod field_window;
mod filter;
mod handler;
mod http;
mod instructions;
mod ladder;
mod lines;
mod now;
mod outcome;
mod page_memory;
mod params;
mod plain;
mod progress;
mod prompts;
mod record;
mod reference;
mod resources;
mod role_cache;
mod row;
mod shown;
mod stream_rows;
mod text;
mod tokens;
mod tools;

pub use adapter::{Adapter, BearerKind, ResultDetail, Settings, ToolSet};
pub use http::{HttpAnswer, HttpEndpoint};
pub use lines::serve_lines;
pub use now::Now;
pub use reference::reference;
