// Where a client waits for the owner's browser to come back.

import { createServer } from 'node:http';

export class Callback {
  #server;
  #waiting = [];
  url;

  static async listen() {
    const callback = new Callback();
    callback.#server = createServer((request, response) => callback.#arrive(request, response));
    await new Promise((ready) => callback.#server.listen(0, '127.0.0.1', ready));
    callback.url = `http://127.0.0.1:${callback.#server.address().port}/callback`;
    return callback;
  }

  /** The query the browser brings next. Call it before the browser sets off. */
  next() {
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  #arrive(request, response) {
    const url = new URL(request.url, this.url);
    response.setHeader('content-type', 'text/html; charset=utf-8');
    response.end('<!doctype html><html lang="en"><title>Client</title><link rel="icon" href="data:,"><main><h1>Back at the client</h1></main></html>');
    if (url.pathname === '/callback') this.#waiting.shift()?.(Object.fromEntries(url.searchParams));
  }

  close() {
    this.#server.closeAllConnections();
    this.#server.close();
  }
}
