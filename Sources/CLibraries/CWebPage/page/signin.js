// The form that asks for a token.
import { el, link } from './dom.js';
import { words } from './words.js';

/**
 * The token of an address, and the address without it; `null` without one. `packhorse up` prints `#token=T`; people also add it to a link, as `#/jobs#token=T` or
 * `#/jobs?state=done&token=T`. What is after the number sign is sent to no server. Pure.
 */
export function tokenOf(hash) {
  const found = /(?:#\/?|[?&])token=([^#?&]*)/.exec(hash);
  if (!found) return null;
  const rest = hash.slice(found.index + found[0].length);
  const all = hash.slice(0, found.index) + (found[0][0] === '?' ? rest.replace(/^&/, '?') : rest);
  return { token: found[1].trim(), hash: `#/${all.replace(/^[#?&/]+/, '')}` };
}

/** `view`: the one that was opened; `isPrivate`: the catalog needs a token too; `refusal`: why the last token was refused, or empty; `enter(token, isKept)` takes the next one. */
export function signIn(view, isPrivate, refusal, enter) {
  const w = words.signIn;
  const ofCatalog = isPrivate && ['catalog', 'package'].includes(view);
  const why = view === 'extract' ? w.whyExtract : ofCatalog ? w.whyPrivate : w.why;
  const input = el('input', { id: 'token', type: 'password', autocomplete: 'current-password', required: true, spellcheck: 'false', 'aria-describedby': refusal ? 'refusal' : null });
  const keep = el('input', { id: 'keep', type: 'checkbox' });
  const submit = (event) => { event.preventDefault(); enter(input.value.trim(), keep.checked); };
  return el('section', { class: 'card' }, el('h1', {}, w.title), refusal ? el('p', { class: 'bad', id: 'refusal' }, refusal) : null, el('p', {}, why),
    el('form', { on: { submit } },
      el('label', { for: 'token' }, w.token, input), el('button', { class: 'main', type: 'submit' }, w.button),
      el('label', { class: 'line', for: 'keep' }, keep, w.keep)),
    el('p', { class: 'soft' }, w.keepWhy),
    el('p', { class: 'soft' }, w.where, ' ', el('code', {}, w.make(view === 'extract' ? 'client' : 'operator'))), isPrivate ? null : el('p', {}, w.public, ' ', link(words.views.catalog, '#/catalog')));
}
