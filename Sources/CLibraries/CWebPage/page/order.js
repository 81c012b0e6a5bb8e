// A map that was ordered: its state, and its files under their name.
import { ask, order } from './api.js';
import { fileName } from './area.js';
import { el, link, size } from './dom.js';
import { words } from './words.js';

/** Where the catalog has maps that people ordered. */
export const EDITION = 'groups/extracts/';

/** Orders a map; returns its id. Throws an `APIError`. */
export const orderMap = async (wish) => (await order('v1/extracts', wish)).id;

/** The state of a map; `settled` of its `tiles` need no more work. */
export async function stateOf(id) {
  try { return await (await ask(`v1/extracts/${encodeURIComponent(id)}`)).json(); } catch (error) {
    if (error.status !== 404) throw error;
    return { state: 'unknown' };
  }
}

/** The view of a map that is ready; it needs no token. */
export const pathOfMap = (id) => `#/package/${encodeURIComponent(id)}?edition=${encodeURIComponent(EDITION)}`;

/** What came of an order. `rate`: tiles per second, or `null`. */
export function drawState(state, { name, role, rate }) {
  const w = words.extract;
  if (state.state === 'unknown') return el('p', { key: 'extract', class: 'bad' }, w.noMap);
  const percent = state.tiles > 0 && state.settled !== undefined ? Math.floor((state.settled / state.tiles) * 100) : null;
  const said = [w.states[state.state] ?? state.state, percent === null ? null : `${percent} %`, rate === null ? null : words.job.perSecond(rate)].filter(Boolean).join(', ');
  const files = state.files ?? (state.url ? [{ format: 'mbtiles', url: state.url, size: state.size, sha256: state.sha256 }] : []);
  return el('div', { key: 'extract', class: 'order' }, el('p', {}, `${w.state}: ${said}`, state.reason ? ` – ${state.reason}` : ''),
    state.state === 'building' ? el('progress', { max: 100, value: percent, 'aria-label': words.job.progress }) : null,
    state.waiting ? el('p', { class: 'bad' }, `${w.waiting}: ${state.waiting}`) : null,
    // Without ?download the server gives the file no name, so that of the link counts.
    files.length === 0 ? null : el('p', { class: 'buttons' }, files.map((file) => link(w.ready(file.format, size(file.size)), file.url.replace(/^\//, ''), { class: 'button main', key: file.format, download: fileName(name, file.format) })),
      link(w.look, pathOfMap(state.id), { class: 'button', key: 'look' })),
    state.job && role !== 'client' ? el('p', {}, link(w.job(state.job), `#/job/${state.job}`)) : null);
}
