"""A public MCP client, the Python SDK, against a server on standard streams.

Reads a plan (see xtask/src/clients/plan.rs), connects once in each era of the protocol, lists what the
server offers, makes every call of the plan, and checks each result: the expected outcome, text in
`content`, and `structuredContent` that fits the tool's output schema, in failures as well. A call may keep
something of its result for later calls, and may be made again until its result says something. Prints one
line per call and exits with 1 if anything differs.
"""

import asyncio
import json
import sys

from jsonschema import Draft202012Validator
from mcp import Client, MCPError, StdioServerParameters

# A result that is waited for comes within so many tenths of a second.
PATIENCE = 100

ERAS = {"auto": "2026-07-28", "legacy": "2025-11-25"}


class Report:
    def __init__(self, era):
        self.era = era
        self.failures = 0

    def line(self, what, expected, found, problem=None):
        ok = problem is None and expected == found
        self.failures += 0 if ok else 1
        detail = "" if ok else f" expected={expected}" + (f" problem={problem}" if problem else "")
        print(f"{'ok  ' if ok else 'FAIL'} python {self.era} {what} -> {found}{detail}", flush=True)


async def everything(method, member):
    """All pages of a list."""
    items, cursor = [], None
    while True:
        page = await method(cursor=cursor)
        items.extend(getattr(page, member))
        cursor = page.next_cursor
        if cursor is None:
            return items


def outcome_of(result):
    if not result.is_error:
        return "ok"
    error = (result.structured_content or {}).get("error") or {}
    return error.get("code", "an error without a code")


def problem_of(result, schema):
    if not any(block.type == "text" and block.text for block in result.content):
        return "no text in content"
    if schema is None:
        return None
    if result.structured_content is None:
        return "no structuredContent"
    problems = [error.message for error in Draft202012Validator(schema).iter_errors(result.structured_content)]
    return "structuredContent: " + "; ".join(problems)[:300] if problems else None


def at(value, path):
    """What stands at a path of member names in a structured result."""
    for name in path:
        value = value.get(name) if isinstance(value, dict) else None
    return value


async def tool_calls(client, plan, report):
    tools = await everything(client.list_tools, "tools")
    schemas = {tool.name: tool.output_schema for tool in tools}
    report.line("tools/list", sorted(plan["tools"]), sorted(schemas))
    kept = {}
    for call in plan["calls"]:
        name, problem = call["tool"], None
        arguments = {key: kept.get(value, value) if isinstance(value, str) else value for key, value in call["arguments"].items()}
        try:
            for _ in range(PATIENCE):
                result = await client.call_tool(name, arguments)
                structured = result.structured_content or {}
                if all(at(structured, path) == wanted for path, wanted in call.get("until", [])):
                    break
                await asyncio.sleep(0.1)
            else:
                problem = f"still {structured}"[:300]
            kept.update({word: at(structured, path) for word, path in call.get("keep", [])})
            found, problem = outcome_of(result), problem or problem_of(result, schemas.get(name))
        except MCPError as error:
            found = str(error.error.code)
        except RuntimeError as error:  # The client's own check of the output schema.
            found, problem = "refused by the client", str(error)[:300]
        report.line(f"{name} {json.dumps(call['arguments'])}", call["expect"], found, problem)


async def reads(client, plan, report):
    templates = await everything(client.list_resource_templates, "resource_templates")
    report.line("resources/templates/list", plan["templates"], [template.uri_template for template in templates])
    prompts = await everything(client.list_prompts, "prompts") if client.server_capabilities.prompts else []
    report.line("prompts/list", sorted(plan["prompts"]), sorted(prompt.name for prompt in prompts))
    for read in plan["reads"]:
        try:
            result = await client.read_resource(read["uri"])
            found = "ok" if result.contents else "no contents"
        except MCPError as error:
            found = "error" if read["expect"] == "error" else str(error.error.code)
        report.line(f"resources/read {read['uri']}", read["expect"], found)


async def run(plan):
    failures = 0
    command, *arguments = plan["command"]
    for mode, era in ERAS.items():
        report = Report(era)
        server = StdioServerParameters(command=command, args=arguments, env=plan["env"])
        async with Client(server, mode=mode, read_timeout_seconds=30) as client:
            report.line("protocol version", era, client.protocol_version)
            await tool_calls(client, plan, report)
            await reads(client, plan, report)
        failures += report.failures
    return failures


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        plan = json.load(file)
    failures = asyncio.run(run(plan))
    print(f"python: {failures} mismatches", flush=True)
    sys.exit(1 if failures else 0)


main()
