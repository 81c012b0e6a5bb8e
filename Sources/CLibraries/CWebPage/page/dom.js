// Elements without markup in strings: every text goes through textContent.
import { words } from './words.js';

/**
 * Makes an element. `attributes`: `class`, `on` (listeners by event), `key` (identity between two drawings), boolean
 * and text attributes. `children`: elements, texts, `null`.
 */
export function el(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (key === 'on') listen(element, value);
    else if (key === 'key') element.dataset.key = value;
    else if (key === 'value') element.value = value;
    else if (key === 'checked') element.checked = value;
    else element.setAttribute(key, value === true ? '' : String(value));
  }
  add(element, children);
  return element;
}

/** The listeners of elements by event. An element that stays in the document takes those of its newer drawing. */
const listeners = new WeakMap();
const dispatch = (event) => listeners.get(event.currentTarget)?.[event.type]?.(event);

function listen(element, on) {
  listeners.set(element, on);
  // The same function is added only once.
  for (const event of Object.keys(on)) element.addEventListener(event, dispatch);
}

function add(element, children) {
  for (const child of children.flat(3)) {
    if (child === null || child === undefined || child === false) continue;
    element.append(child instanceof Node ? child : document.createTextNode(String(child)));
  }
}

/**
 * Makes `old` look and act like `fresh` and keeps what did not change, so that focus, selection and scrolling stay.
 * An element with another `key` is replaced; one with `data-keep` is left alone, one with `data-live` is always replaced.
 */
export function morph(old, fresh) {
  listen(old, listeners.get(fresh) ?? {});
  for (const { name } of [...old.attributes]) if (!fresh.hasAttribute(name) && name !== 'open') old.removeAttribute(name);
  for (const { name, value } of [...fresh.attributes]) if (old.getAttribute(name) !== value) old.setAttribute(name, value);
  const news = [...fresh.childNodes];
  // One with a key that comes later stays, also when something new is put before it.
  const comesLater = (one, i) => one.dataset?.key !== undefined && news.slice(i + 1).some((other) => other.dataset?.key === one.dataset.key);
  news.forEach((one, i) => {
    let was = old.childNodes[i];
    if (one.dataset?.key !== undefined && was?.dataset?.key !== one.dataset.key) {
      const moved = [...old.childNodes].slice(i).find((other) => other.dataset?.key === one.dataset.key);
      if (moved) {
        old.insertBefore(moved, was);
        was = moved;
      }
    }
    if (was === undefined) old.append(one);
    else if (!isSame(was, one)) {
      if (comesLater(was, i)) old.insertBefore(one, was);
      else was.replaceWith(one);
    } else if (was.nodeType === Node.TEXT_NODE) {
      if (was.data !== one.data) was.data = one.data;
    } else if (was.dataset.keep === undefined) morph(was, one);
  });
  while (old.childNodes.length > news.length) old.lastChild.remove();
}

/** Elements whose value is not an attribute: another one must not take it over. */
const WITH_VALUE = ['INPUT', 'SELECT', 'TEXTAREA'];

function isSame(a, b) {
  if (a.nodeType !== b.nodeType) return false;
  if (a.nodeType !== Node.ELEMENT_NODE) return a.nodeType === Node.TEXT_NODE;
  if (a.tagName !== b.tagName || a.dataset.key !== b.dataset.key || b.dataset.live !== undefined) return false;
  return a.dataset.key !== undefined || !WITH_VALUE.includes(a.tagName) || a.isEqualNode(b);
}

/** The element when it is in no document yet, else a place for it that `morph` leaves alone. */
export function kept(element, key) {
  element.dataset.key = key;
  return element.isConnected ? el(element.tagName.toLowerCase(), { key, 'data-keep': '' }) : element;
}

export const button = (text, key, click, more = {}) => el('button', { type: 'button', key, on: { click }, ...more }, text);
export const link = (text, href, more = {}) => el('a', { href, key: href, ...more }, text);

export const number = (value) => (Number.isFinite(value) ? new Intl.NumberFormat('en').format(value) : '–');
export const short = (value) => (Number.isFinite(value) ? new Intl.NumberFormat('en', { maximumFractionDigits: 1, notation: value >= 1e6 ? 'compact' : 'standard' }).format(value) : '–');

/** Bytes in the decimal units of the command line. */
export function size(bytes) {
  if (!Number.isFinite(bytes)) return '–';
  const units = ['B', 'kB', 'MB', 'GB', 'TB'];
  let step = 0;
  let value = bytes;
  for (; value >= 1000 && step < units.length - 1; step += 1) value /= 1000;
  return `${step === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${units[step]}`;
}

/** Seconds as two units. */
export function time(seconds) {
  if (!Number.isFinite(seconds)) return '–';
  const s = Math.max(0, Math.round(seconds));
  if (s < 60) return `${s} s`;
  if (s < 3600) return `${Math.floor(s / 60)} min ${s % 60} s`;
  if (s < 86400) return `${Math.floor(s / 3600)} h ${Math.floor((s % 3600) / 60)} min`;
  return `${Math.floor(s / 86400)} d ${Math.floor((s % 86400) / 3600)} h`;
}

/** Asks before an order that cannot be undone. */
export function confirmed(text) {
  return new Promise((resolve) => {
    const close = (answer) => { dialog.close(); dialog.remove(); resolve(answer); };
    const dialog = el('dialog', { 'aria-label': words.orders.sure, on: { cancel: () => close(false) } }, el('p', {}, text),
      el('p', { class: 'buttons' }, button(words.orders.back, 'no', () => close(false)), button(words.orders.go, 'yes', () => close(true), { class: 'danger' })));
    document.body.append(dialog);
    dialog.showModal();
  });
}

let spoken = 0;
let queued;
/** Tells screen readers, once in ten seconds at most; the last text wins. */
export function announce(text) {
  const live = document.getElementById('live');
  clearTimeout(queued);
  queued = setTimeout(() => { spoken = Date.now(); live.textContent = text; }, Math.max(0, spoken + 10_000 - Date.now()));
}

/** Shows the answer to an order to everyone, at once. */
export function note(text, isError = false) {
  const place = document.getElementById('note');
  place.className = isError ? 'note error' : 'note';
  place.textContent = text;
  clearTimeout(place.timer);
  place.timer = setTimeout(() => { place.textContent = ''; }, 12_000);
}
