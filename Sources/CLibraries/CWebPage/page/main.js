// The views: their addresses, who may see them, when they are drawn again, what is old.
import { APIError, Events, findSession, read, token } from './api.js';
import { announce, el, morph, note, time } from './dom.js';
import { drawHeader, followTheme } from './frame.js';
import { language, setLanguage } from './language.js';
import { signIn, tokenOf } from './signin.js';
import { words } from './words.js';

const MODULES = {
  overview: ['./cluster.js', 'overview'], jobs: ['./jobs.js', 'jobs'], catalog: ['./catalog.js', 'catalog'], extract: ['./extract.js', 'extract'],
  workers: ['./cluster.js', 'workers'], origins: ['./cluster.js', 'origins'], failed: ['./cluster.js', 'failed'], schedules: ['./cluster.js', 'schedules'],
  catalogs: ['./catalogs.js', 'catalogs'],
  job: ['./jobs.js', 'job'], package: ['./package.js', 'pack'],
};
/** The views that need no token, and those of every token; all others are for viewers and operators. */
const PUBLIC = ['catalog', 'package'];
const OF_ALL = ['overview', 'extract', ...PUBLIC];
/** The view of an address that names none. */
const FIRST = { none: 'catalog', client: 'extract' };
const LISTENERS = new Set();
const main = document.getElementById('main');
let role = null;
/** Whether the token may order maps. */
let mayExtract = false;
let view = null;
let turn = 0;
/** Whether the gateway shows the catalog with a token only. */
let isPrivate = false;
/** Why the last token was refused; said once by the form. */
let refusal = '';

const events = new Events((list) => {
  LISTENERS.forEach((listen) => listen(list));
  if (list.length > 0) refresh();
});

/** What a view may use. */
const page = {
  get role() { return role; },
  /** Whether the state of the cluster may be read. */
  get mayRead() { return role === 'operator' || role === 'viewer'; },
  get isOperator() { return role === 'operator'; },
  get mayExtract() { return mayExtract; },
  /** The language of names. */
  get language() { return language(); },
  set language(code) { setLanguage(code); },
  /** Listens to events until the view is left. */
  onEvents(listen) {
    LISTENERS.add(listen);
    view.ends.push(() => LISTENERS.delete(listen));
  },
  onEnd(end) { view.ends.push(end); },
  refresh: () => refresh(true),
  /** Asks for another token. */
  signIn: () => askForToken(),
};

/** A part of an address; one that was cut within a `%2F` is left as it is. */
function decoded(text) {
  try { return decodeURIComponent(text); } catch { return text; }
}

/** `#/job/4?x=y` → `{name, parts, query}`. */
export function route() {
  const [path, query] = location.hash.replace(/^#\/?/, '').split('?');
  const [name, ...parts] = path.split('/').map(decoded);
  return { isNamed: MODULES[name] !== undefined, name: MODULES[name] ? name : FIRST[role] ?? 'overview', parts, query: new URLSearchParams(query ?? '') };
}

/** Where a person who may ask for no map sees the one of a link, once it is ready; `null` for none. */
async function readyMap({ name, query }) {
  const id = query.get('id');
  if (name !== 'extract' || !id) return null;
  try {
    const { EDITION, pathOfMap } = await import('./order.js');
    const { data } = await read('catalog.json', view.abort.signal);
    return data.packages.some((one) => one.id === id && one.edition === EDITION) ? pathOfMap(id) : null;
  } catch { return null; }
}

/** Takes a token out of the address. */
function takeToken() {
  const query = new URLSearchParams(location.search);
  const inQuery = query.has('token');
  query.delete('token');
  // What is after a question mark was sent, and may be in the logs of servers.
  if (inQuery) refusal = words.signIn.sent;
  const found = tokenOf(location.hash);
  if (inQuery || found) history.replaceState(null, '', `${location.pathname}${query.size > 0 ? `?${query}` : ''}${found?.hash ?? location.hash}`);
  if (found?.token) change(found.token, token.isKept);
}

/** Another token. */
function change(text, isKept) {
  token.set(text, isKept);
  role = null;
  events.reset();
}

async function open() {
  turn += 1;
  const mine = turn;
  view?.ends.forEach((end) => end());
  view = { ends: [], abort: new AbortController(), isBusy: false };
  view.ends.push(() => view.abort.abort());
  if (role === null) {
    const session = await findSession();
    if (mine !== turn) return;
    const { roles } = session;
    [role] = roles;
    isPrivate = session.isPrivate ?? isPrivate;
    mayExtract = role === 'operator' || roles.includes('client');
  }
  if (role === 'none' && token.get()) forget();
  if (mine !== turn) return;
  const to = route();
  const ready = mayExtract || (isPrivate && role === 'none') ? null : await readyMap(to);
  if (mine !== turn) return;
  if (ready !== null) return location.replace(ready);
  drawHeader(to.name, role, { signOut, changed: redraw });
  document.title = `${words.views[to.name] ?? to.parts.join(' ')} – ${words.title}`;
  main.replaceChildren(el('p', { class: 'soft' }, words.loading));
  // A token in the address that the gateway does not know opens the form, not the catalog.
  const isClosed = role === 'none' ? isPrivate || !PUBLIC.includes(to.name) || (refusal && !to.isNamed) : !page.mayRead && !OF_ALL.includes(to.name);
  if (isClosed) {
    bar('');
    return askForToken();
  }
  if (refusal) note(refusal, true);
  refusal = '';
  const [file, name] = MODULES[to.name];
  const make = (await import(file))[name];
  if (mine !== turn) return;
  view.update = make(page, to.parts, to.query);
  await refresh(true);
  if (mine === turn && document.activeElement === document.body) main.focus({ preventScroll: true });
  events.mayRead = page.mayRead;
  events.start();
}

/** Asks for the data of the view again and draws it; more often than once a second only when `isNow`. */
async function refresh(isNow = false) {
  const one = view;
  if (!one?.update) return;
  if (one.isBusy || (!isNow && Date.now() - (one.at ?? 0) < 1000)) {
    one.isWanted = true;
    return;
  }
  one.isBusy = true;
  one.isWanted = false;
  try {
    let oldest = 0;
    const get = async (path) => {
      const { data, age } = await read(path, one.abort.signal);
      oldest = Math.max(oldest, age);
      return data;
    };
    const fresh = await one.update(get);
    if (one !== view || !one.update) return;
    draw(fresh, oldest);
  } catch (error) {
    if (one === view && error.name !== 'AbortError') fail(error);
  } finally {
    one.isBusy = false;
    one.at = Date.now();
  }
}

function draw(fresh, age) {
  const next = el('main', { id: 'main', tabindex: -1, class: age > 0 ? 'old' : null }, fresh);
  morph(main, next);
  bar(age > 0 ? words.stale(time(age)) : '');
}

function bar(text) {
  const place = document.getElementById('bar');
  if (place.textContent === text) return;
  place.textContent = text;
  if (text) announce(text);
}

function fail(error) {
  if (error instanceof APIError && error.status === 401) {
    // Without a token nothing is asked for but the catalog.
    if (token.get()) forget();
    else isPrivate = true;
    role = null;
    open();
    return;
  }
  if (error.status === 403 && main.querySelector('h1') === null) {
    bar('');
    return askForToken(error.message);
  }
  if (!(error instanceof APIError)) console.error(error);
  const text = error.code === 'no-coordinator' ? words.edge : error.status === 0 ? words.away : error.message;
  bar(text);
  if (main.querySelector('h1') === null) main.replaceChildren(el('h1', {}, words.title), el('p', {}, text));
}

/** The gateway does not know the token: the next form says so. */
function forget() {
  token.set('');
  events.reset();
  refusal = words.signIn.unknown;
}

function askForToken(why = refusal) {
  view.update = null;
  refusal = '';
  if (why) announce(why);
  main.replaceChildren(signIn(route().name, isPrivate, why, (text, isKept) => { change(text, isKept); open(); }));
}

function signOut() {
  change('');
  open();
}

/** Maps take their colours when they are made. */
function redraw() {
  if (view?.update) open();
}

takeToken();
followTheme(redraw);
window.addEventListener('hashchange', () => {
  if (location.hash === '#main') return;
  takeToken();
  open();
});
document.getElementById('skip').addEventListener('click', (event) => { event.preventDefault(); main.focus(); });
// Events cause a drawing at once; this also catches what has no event, and ends the time in which the page is old.
setInterval(() => { if (!document.hidden && (view?.isWanted || Date.now() - (view?.at ?? 0) > 5000)) refresh(true); }, 1000);
open();
