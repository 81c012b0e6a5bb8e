// Tables, pairs of names and values, and what is said where there is nothing.
import { el } from './dom.js';
import { words } from './words.js';

/**
 * A table with a caption. `columns`: `[title, cell(row), class]`; `key(row)` names a row; `empty` stands where there is no row.
 *
 * A table with more than three columns shows each row as a card in a narrow window (page.css). The roles keep it a table for screen readers.
 */
export function table(caption, columns, rows, key = (row, i) => i, empty = null) {
  if (rows.length === 0) return empty ?? el('p', { class: 'none' }, `${caption}: `, words.none.toLowerCase());
  const head = columns.map(([title, , style]) => el('th', { scope: 'col', role: 'columnheader', class: style }, title));
  const cells = (row) => columns.map(([title, cell, style], n) => el(n === 0 ? 'th' : 'td',
    { class: style, scope: n === 0 ? 'row' : null, role: n === 0 ? 'rowheader' : 'cell', 'data-title': title }, el('div', {}, cell(row))));
  return el('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': caption },
    el('table', { role: 'table', class: columns.length > 3 ? 'wide' : null }, el('caption', {}, caption),
      el('thead', { role: 'rowgroup' }, el('tr', { role: 'row' }, head)),
      el('tbody', { role: 'rowgroup' }, rows.map((row, i) => el('tr', { role: 'row', key: key(row, i) }, cells(row))))));
}

/** Pairs of a name and a value; those without a value are left out. */
export const facts = (pairs) => el('dl', { class: 'facts' }, pairs.filter(([, value]) => value !== null && value !== undefined && value !== '')
  .map(([name, value]) => el('div', {}, el('dt', {}, name), el('dd', {}, value))));

/** What few people need, behind one line. */
export const details = (key, ...children) => el('details', { key: `details ${key}` }, el('summary', {}, words.details), children);

/** There is nothing yet: why, and what to do next. `action`: a link or button. */
export const empty = (text, action = null) => el('div', { class: 'card empty' }, el('p', {}, text), action ? el('p', { class: 'buttons' }, action) : null);
