// From nothing to evidence and back to nothing: the public TypeScript MCP client, given only the address of `/mcp`.

import { randomUUID } from 'node:crypto';

import { Callback } from './callback.mjs';
import { PHONE, heading, labelled, press, type } from './chromium.mjs';

/** What a host keeps for its user; the SDK does the rest. */
class Provider {
  #callback;
  #state = randomUUID();
  #verifier;
  #client;
  #tokens;
  asked;

  constructor(callback) {
    this.#callback = callback;
  }

  get redirectUrl() {
    return this.#callback.url;
  }

  get clientMetadata() {
    return {
      client_name: 'Harbour assistant',
      redirect_uris: [this.#callback.url],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
    };
  }

  state() {
    return this.#state;
  }

  clientInformation() {
    return this.#client;
  }

  saveClientInformation(client) {
    this.#client = client;
  }

  tokens() {
    return this.#tokens;
  }

  saveTokens(tokens) {
    this.#tokens = tokens;
  }

  redirectToAuthorization(url) {
    this.asked = url;
  }

  saveCodeVerifier(verifier) {
    this.#verifier = verifier;
  }

  codeVerifier() {
    return this.#verifier;
  }
}

export async function journey(require, plan, chromium, report) {
  const { Client } = require('@modelcontextprotocol/sdk/client/index.js');
  const { StreamableHTTPClientTransport } = require('@modelcontextprotocol/sdk/client/streamableHttp.js');
  const { UnauthorizedError } = require('@modelcontextprotocol/sdk/client/auth.js');

  const callback = await Callback.listen();
  const provider = new Provider(callback);
  const connect = async () => {
    const transport = new StreamableHTTPClientTransport(new URL(`${plan.url}/mcp`), { authProvider: provider });
    const client = new Client({ name: 'xtask-browser', version: '1.0.0' });
    try {
      await client.connect(transport);
    } catch (error) {
      if (!(error instanceof UnauthorizedError)) throw error;
      return { transport };
    }
    return { client, transport };
  };

  const { client: stranger, transport } = await connect();
  report.check('journey: a stranger is not let in', undefined, stranger);
  report.check('journey: it registered itself', true, typeof provider.clientInformation()?.client_id === 'string');
  report.check('journey: it asks here', `${plan.url}/oauth/authorize`, provider.asked?.origin + provider.asked?.pathname);

  const page = await chromium.visitor(PHONE);
  const back = callback.next();
  await page.goto(provider.asked.href);
  report.check('journey: the owner is asked who they are', 'Sign in', await heading(page));
  await type(page, 'Passphrase', plan.passphrase);
  await press(page, 'Sign in');
  report.check('journey: the owner chooses', 'Choose what to share', await heading(page));
  const ticked = await page.$$eval('input[name=pick]:checked', (all) => all.length);
  report.check('journey: nothing is chosen before', 0, ticked);
  await (await labelled(page, 'Messages', 'Slack')).click();
  await press(page, 'Allow');
  report.check('journey: the browser is back at the client', 'Back at the client', await heading(page));
  const answer = await back;
  report.check('journey: the answer comes from here', plan.url, answer.iss);
  report.check('journey: the answer is to this question', provider.state(), answer.state);
  await transport.finishAuth(answer.code);

  const { client } = await connect();
  await client.listTools();
  const found = await client.callTool({ name: 'search', arguments: { q: 'buoy drifted' } });
  const [first] = found.structuredContent?.results ?? [];
  report.check('journey: search finds it', true, JSON.stringify(found).includes('Buoy'));
  const fetched = await client.callTool({ name: 'fetch', arguments: { id: first?.id ?? '' } });
  report.check('journey: fetch reads it', true, JSON.stringify(fetched).includes('Buoy 3 has drifted'));
  const other = await client.callTool({ name: 'query_records', arguments: { stream: 'channels' } });
  report.check('journey: what was not chosen stays closed', true, other.isError === true);

  await page.goto(`${plan.url}/owner`);
  const named = await page.$$eval('article h3', (all) => all.map((one) => one.innerText));
  report.check('journey: the owner sees who can read', true, named.some((name) => name.startsWith('Harbour assistant')));
  if (plan.screenshots) await page.screenshot({ path: `${plan.screenshots}/owner.png` });
  const article = await page.evaluate(() => {
    const all = [...document.querySelectorAll('article')];
    return all.find((one) => one.querySelector('h3').innerText.startsWith('Harbour assistant')).getAttribute('aria-labelledby');
  });
  await press(page, 'Revoke', `article[aria-labelledby="${article}"]`);
  report.check('journey: the owner is told', true, (await page.$('#notice')) !== null);

  let refused;
  try {
    const result = await client.callTool({ name: 'search', arguments: { q: 'buoy drifted' } });
    refused = result.isError === true ? 'refused' : 'answered';
  } catch {
    refused = 'refused';
  }
  report.check('journey: the next request is refused', 'refused', refused);
  await client.close();
  callback.close();
  await page.browserContext().close();
}
