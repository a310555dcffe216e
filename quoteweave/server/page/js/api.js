// @ts-check
/** Talks to the server: requests, problems as errors, and event streams over POST. */

/** An error that the server returned, or a failure to reach it. `status` is 0 if no server was reached. */
export class Problem extends Error {
  /** @param {{status?: number, title?: string, detail?: string, type?: string, request_id?: string, fallback?: string}} said */
  constructor(said) {
    super(said.detail || said.title || "The request failed.");
    this.status = said.status ?? 0;
    this.title = said.title || "The request failed";
    this.detail = said.detail ?? "";
    this.kind = (said.type ?? "").split(/[/:#]/).pop() ?? "";
    this.request = said.request_id ?? "";
    /** Another model that can answer the same question. */
    this.fallback = said.fallback ?? "";
  }
}

/** @type {() => Promise<void>} */
let signIn = () => Promise.reject(new Problem({ status: 401, title: "Not signed in" }));

/** Sets what is called when the server asks for a key. @param {() => Promise<void>} ask */
export function onUnauthorised(ask) {
  signIn = ask;
}

/** @param {Response} response @returns {Promise<Problem>} */
async function problemOf(response) {
  try {
    const said = await response.json();
    return new Problem({ status: response.status, ...said });
  } catch {
    return new Problem({ status: response.status, title: `The server answered with status ${response.status}` });
  }
}

/**
 * Sends a request and returns the response; if the server wants a key, asks for one and tries again.
 * @param {string} path
 * @param {{method?: string, body?: unknown, signal?: AbortSignal, accept?: string, asked?: boolean}} [options]
 * @returns {Promise<Response>}
 */
export async function send(path, options = {}) {
  const { method = "GET", body, signal, accept = "application/json", asked = false } = options;
  const form = body instanceof FormData;
  /** @type {Record<string, string>} */
  const headers = { accept, ...(body === undefined || form ? {} : { "content-type": "application/json" }) };
  let response;
  try {
    const content = body === undefined ? undefined : form ? body : JSON.stringify(body);
    response = await fetch(path, { method, headers, body: content, signal, credentials: "same-origin" });
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new Problem({ status: 0, title: "The server cannot be reached", detail: "It may have been stopped, or the connection is down." });
  }
  if (response.ok) return response;
  const problem = await problemOf(response);
  if (problem.status !== 401 || asked || path === "/v1/session") throw problem;
  await signIn();
  return send(path, { ...options, asked: true });
}

/**
 * Sends a request and returns the JSON of its response; null for an empty one.
 * @param {string} path
 * @param {{method?: string, body?: unknown, signal?: AbortSignal}} [options]
 * @returns {Promise<any>}
 */
export async function call(path, options) {
  const text = await (await send(path, options)).text();
  return text ? JSON.parse(text) : null;
}

/**
 * Yields the events of a stream, each with its type and its JSON.
 * @param {string} path
 * @param {{method?: string, body?: unknown, signal?: AbortSignal, opened?: (headers: Headers) => void}} [options]
 * @returns {AsyncGenerator<{type: string, data: any}>}
 */
export async function* stream(path, options) {
  const response = await send(path, { ...options, accept: "text/event-stream" });
  options?.opened?.(response.headers);
  if (!response.body) return;
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let held = "";
  try {
    for (;;) {
      const { value, done } = await reader.read();
      held += done ? "\n\n" : value;
      const parts = held.split(/\r\n\r\n|\n\n|\r\r/);
      held = parts.pop() ?? "";
      for (const part of parts) {
        const event = parseEvent(part);
        if (event) yield event;
      }
      if (done) return;
    }
  } catch (error) {
    if (options?.signal?.aborted) throw error;
    if (error instanceof Problem) throw error;
    throw new Problem({ status: 0, title: "The connection to the server broke", detail: "What had arrived is shown." });
  } finally {
    reader.cancel().catch(() => {});
  }
}

/**
 * Reads one event of a stream; null for a comment, and for `[DONE]`.
 * @param {string} part
 * @returns {{type: string, data: any} | null}
 */
export function parseEvent(part) {
  let type = "message";
  const data = [];
  for (const line of part.split(/\r\n|\n|\r/)) {
    const [, field, value] = /^([^:]*):? ?(.*)$/.exec(line) ?? [];
    if (field === "event") type = value;
    else if (field === "data") data.push(value);
  }
  if (!data.length || data[0] === "[DONE]") return null;
  return { type, data: JSON.parse(data.join("\n")) };
}

/** @param {string} name a document's name, whose slashes are kept */
export const pathOf = (name) => name.split("/").map(encodeURIComponent).join("/");

/** @param {string} collection */
export const base = (collection) => `/v1/collections/${encodeURIComponent(collection)}`;

/** The address of a page. @param {string} collection @param {string} document @param {number} page */
export const pageUrl = (collection, document, page) => `${base(collection)}/pages/${pathOf(document)}/${page}`;

/** The address of a quote. @param {string} collection @param {string} id */
export const quoteUrl = (collection, id) => `${base(collection)}/quotes/${encodeURIComponent(id)}`;
