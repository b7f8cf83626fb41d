//! The data directory of this machine, read under grants and without a server.

use std::sync::Arc;

use pdpp_access::{AuthError, TokenAuthority as _};
use pdpp_client::{Bearer, Client, FixedBearer, Limits};
use pdpp_server::{ConfigFile, LocalGrants, in_process};
use pdpp_store::Door;
use pdpp_wire::GrantId;

use super::{McpArgs, refuse_owner};
use crate::exit::Usage;
use crate::terminal;

pub(super) async fn client(args: &McpArgs) -> anyhow::Result<Client> {
    let parse = |text: &String| GrantId::parse(text.as_str()).map_err(|fault| Usage(fault.to_string()));
    let grant_ids = args.grant.iter().map(parse).collect::<Result<Vec<_>, _>>()?;
    refuse_owner()?;
    let personal = args.data.open().await?;
    let (grants, secret) = LocalGrants::open(&personal, grant_ids).await?;
    terminal::note(&format!("pdpp mcp reads {} for {}", personal.place(), grants.client_id()));
    // Said here for whoever looks at the host's log; the assistant is told with every call.
    if let Err(AuthError::TurnedAway(_, denial)) = grants.introspect(&secret).await {
        terminal::note(&format!("{} Every call will be refused.", denial.message));
    }
    let router = grants.router(&personal).await?;
    let bearer = Arc::new(FixedBearer(Bearer::new(secret.reveal())));
    let here = in_process(router, Door::McpLocal);
    Ok(Client::in_process(
        here,
        &provider_url(&ConfigFile::read(personal.data())?),
        bearer,
        Limits::default(),
    ))
}

/// What results name as their server: the address a server of this directory would have.
fn provider_url(file: &ConfigFile) -> String {
    let public = file.public_url.as_deref().map(|url| url.trim_end_matches('/').to_owned());
    let listen = || file.listen.map(|address| format!("http://{address}"));
    public.or_else(listen).unwrap_or_else(|| "http://localhost".to_owned())
}
