//! The protocol side: what an MCP client asks, answered from the tables of this crate.

use std::sync::LazyLock;

use rmcp::ErrorData;
use rmcp::handler::server::ServerHandler;
use rmcp::model::{
    CacheScope, CallToolRequestParams, CallToolResponse, CallToolResult, CompleteRequestParams,
    CompleteResult, GetPromptRequestParams, GetPromptResponse, Implementation, ListPromptsResult,
    ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, PaginatedRequestParams,
    ReadResourceRequestParams, ReadResourceResponse, ReadResourceResult, ServerCapabilities, ServerConfig,
    Tool,
};
use rmcp::service::{RequestContext, RoleServer};

use crate::Adapter;
use crate::instructions::instructions;
use crate::progress::Progress;
use crate::tools::{self, Spec};

/// How long a client may keep a list; lists are fixed while a process runs.
const LIST_TTL_MS: u64 = 300_000;

/// Every tool as clients list it. Nothing in it depends on who asks, and its schemas are shared by all answers.
static TOOLS: LazyLock<Vec<(&'static Spec, Tool)>> =
    LazyLock::new(|| tools::TABLE.iter().map(|spec| (*spec, spec.tool())).collect());

impl Adapter {
    /// The listed tools, in their stable order.
    fn tools(&self) -> impl Iterator<Item = &'static (&'static Spec, Tool)> {
        TOOLS.iter().filter(|(spec, _)| self.lists(spec.name))
    }
}

impl ServerHandler for Adapter {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_resources()
            .enable_prompts()
            .enable_completions()
            .build();
        ServerConfig::new(capabilities)
            .with_server_info(Implementation::new(
                self.settings.server_name.clone(),
                env!("CARGO_PKG_VERSION"),
            ))
            .with_instructions(instructions(self.settings.tools))
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let mut list = ListToolsResult::with_all_items(self.tools().map(|(_, tool)| tool.clone()).collect());
        list.ttl_ms = Some(LIST_TTL_MS);
        list.cache_scope = Some(CacheScope::Private);
        Ok(list)
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        self.tools().find(|(spec, _)| spec.name == name).map(|(_, tool)| tool.clone())
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let arguments = request.arguments.unwrap_or_default();
        let adapter = self.reporting(Progress::to(&context.peer, context.meta.get_progress_token()));
        let outcome = tokio::select! {
            outcome = adapter.call(&request.name, arguments) => outcome,
            // Nobody reads the answer to a cancelled call; dropping the work is what counts.
            () = context.ct.cancelled() => {
                crate::failure::Failure::adapter(pdpp_wire::Code::Cancelled, "The call was cancelled.")
                    .outcome(self.provider_url())
            }
        };
        Ok(CallToolResult::from(outcome).into())
    }

    /// Nothing is listed: what is readable is found by searching, not by browsing a list of millions.
    async fn list_resources(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let mut list = ListResourcesResult::with_all_items(Vec::new());
        list.ttl_ms = Some(LIST_TTL_MS);
        list.cache_scope = Some(CacheScope::Private);
        Ok(list)
    }

    async fn list_resource_templates(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        let mut list = ListResourceTemplatesResult::with_all_items(crate::resources::templates());
        list.ttl_ms = Some(LIST_TTL_MS);
        list.cache_scope = Some(CacheScope::Private);
        Ok(list)
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let adapter = self.reporting(Progress::to(&context.peer, context.meta.get_progress_token()));
        // Behind a pointer, here and below: the future of any request has room for each of them, and is moved to its task.
        let contents = tokio::select! {
            contents = Box::pin(crate::resources::read_resource(&adapter, &request.uri)) => contents?,
            () = context.ct.cancelled() => {
                return Err(ErrorData::internal_error("The read was cancelled.", None));
            }
        };
        let mut result = ReadResourceResult::new(vec![contents]);
        result.ttl_ms = Some(0);
        result.cache_scope = Some(CacheScope::Private);
        Ok(result.into())
    }

    async fn list_prompts(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        let mut list = ListPromptsResult::with_all_items(crate::prompts::list());
        list.ttl_ms = Some(LIST_TTL_MS);
        list.cache_scope = Some(CacheScope::Private);
        Ok(list)
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        crate::prompts::get(&request.name, &request.arguments.unwrap_or_default()).map(Into::into)
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        tokio::select! {
            completed = Box::pin(crate::completions::complete(self, &request)) => Ok(completed),
            () = context.ct.cancelled() => Ok(CompleteResult::default()),
        }
    }
}
