// The requests of the page: one token, one event stream.

const KEY = 'packhorse.token';
/** The last answers by path, shown when the server is away. */
const kept = new Map();

/** A refusal; its `hint` is for programs that use the API. */
export class APIError extends Error {
  constructor(status, problem) {
    super(problem.detail || problem.title || `status ${status}`);
    this.status = status;
    this.code = problem.code ?? 'no-answer';
  }
}

/** In the session storage of one tab, or in the storage of all tabs when the person wants to stay signed in. */
export const token = {
  get: () => sessionStorage.getItem(KEY) ?? localStorage.getItem(KEY) ?? '',
  get isKept() { return localStorage.getItem(KEY) !== null; },
  set: (text, isKept = false) => {
    // What one token has read is not shown to another.
    if (text !== token.get()) kept.clear();
    sessionStorage.removeItem(KEY);
    localStorage.removeItem(KEY);
    if (text) (isKept ? localStorage : sessionStorage).setItem(KEY, text);
  },
};

function headers(more) {
  return token.get() ? { ...more, Authorization: `Bearer ${token.get()}` } : more;
}

/** Sends a request. A file is sent unchanged, every other body as JSON. Throws an `APIError` unless the status is 304 or 200 to 299. */
export async function ask(path, { method = 'GET', body, signal, more = {} } = {}) {
  let response;
  const isFile = body instanceof Blob;
  const type = isFile ? 'application/octet-stream' : 'application/json';
  try {
    response = await fetch(path, {
      method, signal, headers: headers(body === undefined ? more : { 'Content-Type': type, ...more }), body: isFile || body === undefined ? body : JSON.stringify(body),
    });
  } catch (error) {
    if (error.name === 'AbortError') throw error;
    throw new APIError(0, { detail: '' });
  }
  if (response.ok) return response;
  let problem = {};
  // A proxy in between may answer with a page instead of a problem.
  try { problem = await response.json(); } catch { problem = {}; }
  throw new APIError(response.status, problem);
}

/** The JSON of a path; `{data, age}`, where age is in seconds when only an earlier answer is there, else 0. */
export async function read(path, signal) {
  try {
    const response = await ask(path, { signal });
    const tag = response.headers.get('ETag');
    const earlier = kept.get(path);
    // Large lists that did not change are not parsed again.
    const data = tag !== null && earlier?.tag === tag ? earlier.data : await response.json();
    kept.delete(path);
    kept.set(path, { data, tag, at: Date.now() });
    if (kept.size > 200) kept.delete(kept.keys().next().value);
    return { data, age: 0 };
  } catch (error) {
    const isAway = error instanceof APIError && (error.status === 0 || error.status >= 500 || error.status === 429);
    if (!isAway || !kept.has(path)) throw error;
    const { data, at } = kept.get(path);
    return { data, age: Math.max(1, (Date.now() - at) / 1000) };
  }
}

export const order = async (path, body) => (await ask(path, { method: 'POST', body })).json();

/** The roles of the token, the widest first; `none` without one that the gateway knows. `isPrivate`: the catalog needs a token. */
export async function findSession() {
  try {
    const { roles, is_private: isPrivate } = await (await ask('v1/session')).json();
    const known = ['operator', 'viewer', 'client'].filter((role) => roles.includes(role));
    return { roles: known.length > 0 ? known : ['none'], isPrivate };
  } catch (error) {
    // A server that is away refuses what the token may not do once it is back.
    return { roles: [error.status === 401 || !token.get() ? 'none' : 'operator'] };
  }
}

/** The event log from now on, over one connection; it stops while the page is hidden. */
export class Events {
  constructor(receive) {
    this.receive = receive;
    /** Whether the token may read events; who may not does not ask. */
    this.mayRead = false;
    this.last = null;
    this.abort = null;
    document.addEventListener('visibilitychange', () => (document.hidden ? this.stop() : this.start()));
  }

  stop() {
    this.abort?.abort();
    this.abort = null;
  }

  /** Stops, and begins with the newest event at the next start: the token is another one. */
  reset() {
    this.stop();
    this.mayRead = false;
    this.last = null;
  }

  async start() {
    if (this.abort || document.hidden || !this.mayRead) return;
    const { signal } = (this.abort = new AbortController());
    for (let wait = 1; !signal.aborted; wait = Math.min(30, wait * 2)) {
      try {
        if (this.last === null) this.last = (await (await ask('v1/events?after=0&limit=1', { signal })).json()).last;
        const response = await ask(`v1/events?after=${this.last}`, { signal, more: { Accept: 'text/event-stream' } });
        await this.#follow(response.body.getReader());
        wait = 1;
      } catch (error) {
        // Of a token that was removed, or a server without events; everything else is tried again.
        if (error.status === 401 || error.status === 403 || error.status === 404) break;
      }
      if (!signal.aborted) await new Promise((resolve) => { setTimeout(resolve, wait * 1000); });
    }
  }

  async #follow(reader) {
    const decoder = new TextDecoder();
    let rest = '';
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      const blocks = (rest + decoder.decode(value, { stream: true })).split('\n\n');
      rest = blocks.pop();
      const events = [];
      for (const block of blocks) {
        const data = block.split('\n').filter((line) => line.startsWith('data: ')).map((line) => line.slice(6)).join('\n');
        if (/^event: reset$/m.test(block)) this.last = 0;
        else if (data) events.push(JSON.parse(data));
      }
      if (events.length > 0) this.last = Math.max(this.last, ...events.map((event) => event.seq));
      this.receive(events);
    }
  }
}
