//! Log lines go to standard error, as text or JSON. They never hold tokens or record content:
//! nothing below logs them, and request lines carry routes, not query strings.

use std::io::IsTerminal as _;

use tracing_subscriber::EnvFilter;

use crate::LogFormat;

/// Starts logging for this process; a second call changes nothing.
///
/// The MCP library logs whole messages, record text included, so no level lets it say more than warnings.
pub fn start_logging(format: LogFormat, level: &str) {
    let level = format!("{level},rmcp=warn");
    let filter = EnvFilter::try_new(level).unwrap_or_else(|_| EnvFilter::new("info,rmcp=warn"));
    let builder = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr);
    let started = match format {
        LogFormat::Text => builder.with_ansi(std::io::stderr().is_terminal()).with_target(false).try_init(),
        LogFormat::Json => builder.json().flatten_event(true).try_init(),
    };
    if started.is_err() {
        tracing::debug!("logging was already started");
    }
}
