// Other catalogs of the coordinator: what differs from the main one, promotions and rollbacks.
import { order } from './api.js';
import { button, confirmed, el, link, note, number, size } from './dom.js';
import { empty, facts, table } from './tables.js';
import { words } from './words.js';

const MAIN = 'main';
/** The last comparison: lists are large, so it is made again after an order, and once a minute. */
let last = null;

async function compared(get, name) {
  if (last?.name === name && Date.now() - last.at < 60_000) return last.found;
  const found = await get(`v1/catalogs/${encodeURIComponent(name)}/diff/${MAIN}`);
  last = { name, found, at: Date.now() };
  return found;
}

/** Asks, sends an order for the main catalog, says what came of it, and draws again. */
async function change(page, text, body) {
  if (!await confirmed(text)) return;
  try {
    const done = await order(`v1/catalogs/${MAIN}/orders`, body);
    note(words.catalogs.done(done.packages.map((one) => one.edition + one.id).join(', ') || words.none));
  } catch (error) { note(error.message, true); }
  last = null;
  page.refresh();
}

const both = (one, pick) => {
  const [before, after] = [one.old, one.new].map((content) => (content ? pick(content) : null));
  return before === after ? before ?? '–' : `${before ?? '–'} → ${after ?? '–'}`;
};
const percent = (share) => (share > 0 ? `${Math.ceil(share * 1000) / 10} %` : '');

function difference(page, name, found, isRead) {
  const w = words.catalogs;
  const promote = (packages) => change(page, w.sure(packages ? packages.join(', ') : name, MAIN), { order: 'promote', from: name, ...(packages ? { packages } : {}) });
  const columns = [
    [w.id, (one) => one.edition + one.id], [w.change, (one) => w.changes[one.change]], [w.loss, (one) => percent(one.shrinkage), 'n'],
    [w.tiles, (one) => both(one, (content) => number(content.tiles)), 'n'], [w.bytes, (one) => both(one, (content) => size(content.bytes)), 'n'],
    [w.zooms, (one) => both(one, (content) => (content.min_zoom === undefined ? '–' : `${content.min_zoom}-${content.max_zoom}`))],
    [w.date, (one) => both(one, (content) => content.data_date ?? '–')],
  ];
  // The gateway draws both on one map where it reads the other catalog, too.
  if (isRead) columns.push([w.map, (one) => (one.change === 'changed' ? link(w.compare, `#/package/${encodeURIComponent(one.id)}?${new URLSearchParams({ ...(one.edition ? { edition: one.edition } : {}), compare: name })}`, { 'aria-label': `${w.compare} ${one.edition}${one.id}` }) : '')]);
  if (page.isOperator) columns.push([w.promote, (one) => (one.change === 'removed' ? '' : button(w.promote, `promote-${name}-${one.edition}${one.id}`, () => promote([one.id])))]);
  const isNew = found.packages.some((one) => one.change !== 'removed');
  return el('section', { key: name },
    el('h2', {}, name),
    facts([[w.unchanged, number(found.unchanged)], [w.loss, percent(found.shrinkage)], [w.omitted, found.omitted || null]]),
    page.isOperator && isNew ? el('p', { class: 'buttons' }, button(w.all(name), `all-${name}`, () => promote(null))) : null,
    table(w.caption(name, MAIN), columns, found.packages, (one) => one.edition + one.id));
}

export function catalogs(page, parts) {
  const w = words.catalogs;
  return async (get) => {
    const head = el('h1', {}, words.views.catalogs);
    const { coordinator } = await get('v1/status');
    if (!coordinator) return [head, empty(words.edge, link(words.views.catalog, '#/catalog'))];
    const names = coordinator.other_catalogs.map((one) => one.name);
    const chosen = names.includes(parts[0]) ? parts[0] : names.length === 1 ? names[0] : null;
    return [
      head,
      page.isOperator ? el('p', { class: 'buttons' }, button(w.rollback, 'rollback', () => change(page, w.sureBack(MAIN), { order: 'rollback' }))) : null,
      names.length === 0 ? empty(w.none, el('code', {}, w.add)) : null,
      el('p', {}, names.map((one) => [link(one, `#/catalogs/${encodeURIComponent(one)}`), ' '])),
      chosen ? difference(page, chosen, await compared(get, chosen), (await get('v1/catalogs')).catalogs.includes(chosen)) : null,
    ];
  };
}
