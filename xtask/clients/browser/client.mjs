// A plain OAuth client: registers, and makes the addresses it would send the owner to.

import { createHash } from 'node:crypto';

const CHALLENGE = createHash('sha256').update('a-verifier-that-is-long-enough-to-be-one-0123456789').digest('base64url');
const DEVICE = 'urn:ietf:params:oauth:grant-type:device_code';

export class OAuthClient {
  #url;
  #redirect;
  id;

  static async register(url, redirect, name) {
    const client = new OAuthClient();
    client.#url = url;
    client.#redirect = redirect;
    const metadata = { client_name: name, redirect_uris: [redirect], grant_types: ['authorization_code', 'refresh_token', DEVICE] };
    client.id = (await client.#post('/oauth/register', metadata)).client_id;
    return client;
  }

  /** Where the owner is asked; without details the owner chooses. At `hosts` the client wants to be told of changes. */
  authorize(details, hosts) {
    const query = new URLSearchParams({
      response_type: 'code',
      client_id: this.id,
      redirect_uri: this.#redirect,
      state: 'here',
      code_challenge: CHALLENGE,
      code_challenge_method: 'S256',
      resource: `${this.#url}/mcp`,
    });
    if (details) query.set('authorization_details', JSON.stringify(details));
    if (hosts) query.set('event_callback_hosts', hosts);
    return `${this.#url}/oauth/authorize?${query}`;
  }

  /** As above, pushed as JSON: the owner carries a code back by hand. */
  async push(details) {
    const body = { client_id: this.id, authorization_details: details };
    return (await this.#post('/oauth/par', body)).authorization_url;
  }

  async device(details) {
    const form = new URLSearchParams({
      client_id: this.id,
      resource: `${this.#url}/mcp`,
      authorization_details: JSON.stringify(details),
    });
    return startDevice(this.#url, form);
  }

  async #post(path, body) {
    const headers = { 'content-type': 'application/json' };
    const answer = await fetch(this.#url + path, { method: 'POST', headers, body: JSON.stringify(body) });
    if (!answer.ok) throw new Error(`${path} answered ${answer.status}: ${await answer.text()}`);
    return answer.json();
  }
}

/** The command line asks for the owner's own credential. */
export function ownerDevice(url) {
  return startDevice(url, new URLSearchParams({ client_id: 'pdpp_cli' }));
}

async function startDevice(url, form) {
  const answer = await fetch(`${url}/oauth/device_authorization`, { method: 'POST', body: form });
  if (!answer.ok) throw new Error(`the device was refused: ${await answer.text()}`);
  return (await answer.json()).user_code;
}

/** Messages with three optional fields, and channels. */
export function details(words = 'Find what the crew agreed on') {
  return [
    {
      type: 'https://pdpp.dev/data-access',
      source: { id: 'urn:pdpp:source:slack' },
      purpose_code: 'https://pdpp.dev/purpose/agent_context',
      purpose_description: words,
      access_mode: 'continuous',
      client_claims: { commitments: [words] },
      streams: [
        { name: 'messages', fields: ['author_name', 'channel_name', 'sent_at', 'text_plain'] },
        { name: 'channels', fields: ['name', 'topic'] },
      ],
    },
  ];
}
