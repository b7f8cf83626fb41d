// A public MCP client, the TypeScript SDK, against a server on standard streams.
//
// Reads a plan (see xtask/src/clients/plan.rs), lists what the server offers, makes every call of the plan, and
// checks each outcome. The SDK itself compares `structuredContent` with the output schema, in failures as well. A call
// may keep something of its result for later calls, and may be made again until its result says something.
// Prints one line per call and exits with 1 if anything differs.
//
// Usage: node typescript_client.mjs PLAN NODE_MODULES

import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';

const [planPath, modules] = process.argv.slice(2);
// The packages are installed elsewhere, so that nothing made by a machine lies beside this file.
const require = createRequire(join(resolve(modules), 'package.json'));
const { Client } = require('@modelcontextprotocol/sdk/client/index.js');
const { StdioClientTransport, getDefaultEnvironment } = require('@modelcontextprotocol/sdk/client/stdio.js');
const { McpError } = require('@modelcontextprotocol/sdk/types.js');

// A result that is waited for comes within so many tenths of a second.
const PATIENCE = 100;

const plan = JSON.parse(readFileSync(planPath, 'utf8'));
let failures = 0;

function line(what, expected, found, problem) {
  const same = JSON.stringify(expected) === JSON.stringify(found);
  const ok = same && !problem;
  failures += ok ? 0 : 1;
  const detail = ok ? '' : ` expected=${JSON.stringify(expected)}${problem ? ` problem=${problem}` : ''}`;
  console.log(`${ok ? 'ok  ' : 'FAIL'} typescript ${what} -> ${JSON.stringify(found)}${detail}`);
}

/** All pages of a list. */
async function everything(list, member) {
  const items = [];
  let cursor;
  do {
    const page = await list(cursor === undefined ? {} : { cursor });
    items.push(...page[member]);
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  return items;
}

function outcomeOf(result) {
  return result.isError ? (result.structuredContent?.error?.code ?? 'an error without a code') : 'ok';
}

/** What stands at a path of member names in a structured result. */
const at = (value, path) => path.reduce((inner, name) => inner?.[name], value);

const kept = new Map();

/** Calls a tool until the result says what the plan waits for. */
async function called(call) {
  const known = ([name, value]) => [name, kept.get(value) ?? value];
  const params = { name: call.tool, arguments: Object.fromEntries(Object.entries(call.arguments).map(known)) };
  for (let tries = 0; tries < PATIENCE; tries += 1) {
    const result = await client.callTool(params);
    const structured = result.structuredContent;
    if ((call.until ?? []).every(([path, wanted]) => at(structured, path) === wanted)) {
      for (const [word, path] of call.keep ?? []) kept.set(word, at(structured, path));
      return result;
    }
    await new Promise((resolved) => setTimeout(resolved, 100));
  }
  throw new Error(`${call.tool} never said ${JSON.stringify(call.until)}`);
}

const client = new Client({ name: 'xtask-clients', version: '1.0.0' });
const [command, ...args] = plan.command;
await client.connect(new StdioClientTransport({ command, args, env: { ...getDefaultEnvironment(), ...plan.env } }));

// Listing also teaches the SDK the output schemas.
const tools = await everything((params) => client.listTools(params), 'tools');
line('tools/list', [...plan.tools].sort(), tools.map((tool) => tool.name).sort());

for (const call of plan.calls) {
  let found;
  let problem;
  try {
    const result = await called(call);
    found = outcomeOf(result);
    const said = result.content.some((block) => block.type === 'text' && block.text !== '');
    problem = said ? undefined : 'no text in content';
  } catch (error) {
    if (!(error instanceof McpError)) throw error;
    found = String(error.code);
    // The SDK reports its own check of the output schema as an error, too.
    problem = found === call.expect ? undefined : error.message.slice(0, 300);
  }
  line(`${call.tool} ${JSON.stringify(call.arguments)}`, call.expect, found, problem);
}

const templates = await everything((params) => client.listResourceTemplates(params), 'resourceTemplates');
line('resources/templates/list', plan.templates, templates.map((template) => template.uriTemplate));

const listed = client.getServerCapabilities()?.prompts;
const prompts = listed ? await everything((params) => client.listPrompts(params), 'prompts') : [];
line('prompts/list', [...plan.prompts].sort(), prompts.map((prompt) => prompt.name).sort());

for (const read of plan.reads) {
  let found;
  try {
    const result = await client.readResource({ uri: read.uri });
    found = result.contents.length > 0 ? 'ok' : 'no contents';
  } catch (error) {
    if (!(error instanceof McpError)) throw error;
    found = read.expect === 'error' ? 'error' : String(error.code);
  }
  line(`resources/read ${read.uri}`, read.expect, found);
}

await client.close();
console.log(`typescript: ${failures} mismatches`);
process.exit(failures > 0 ? 1 : 0);
