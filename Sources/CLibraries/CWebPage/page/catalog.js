// The catalog as a tree.
import { announce, button, el, link, number, size } from './dom.js';
import { empty, table } from './tables.js';
import { buildTree, nameOf, packageName, search, totals, updates } from './tree.js';
import { words } from './words.js';

export const pathOf = (item) => `#/package/${encodeURIComponent(item.id)}${item.edition ? `?edition=${encodeURIComponent(item.edition)}` : ''}`;

export function catalog(page, parts, query) {
  const w = words.catalog;
  let text = query.get('q') ?? '';
  let edition = query.get('edition');
  /** Whether a person opened or closed a place, by its key. */
  const choices = new Map();
  return async (get) => {
    const data = await get('catalog.json');
    const editions = data.editions ?? [];
    const countOf = (path) => data.packages.filter((item) => item.edition === path).length;
    // The first one that has something to show.
    edition ??= (editions.find((one) => countOf(one.path) > 0) ?? editions[0])?.path ?? '';
    const language = page.language;
    const whole = buildTree(data, language, (item) => item.edition === edition);
    const found = search(whole, text);
    const sum = totals(found);
    const nameOfEdition = (one) => [one.group ?? w.base, one.language].filter(Boolean).join(', ');
    const others = editions.filter((one) => one.path !== edition && countOf(one.path) > 0);
    const choose = (path) => { edition = path; page.refresh(); };
    const type = (event) => {
      text = event.target.value;
      history.replaceState(null, '', `#/catalog?${new URLSearchParams({ ...(text ? { q: text } : {}), ...(edition ? { edition } : {}) })}`);
      page.refresh();
      announce(w.found(sum.packages));
    };
    return [el('h1', {}, words.views.catalog),
      el('form', { key: 'search', role: 'search', on: { submit: (event) => event.preventDefault() } },
        el('label', { for: 'q' }, w.search, el('input', { id: 'q', type: 'search', key: 'q', value: text, on: { input: type }, autocomplete: 'off' })),
        el('label', { for: 'lang' }, words.language, el('select', { id: 'lang', key: 'lang', on: { change: (event) => { page.language = event.target.value; page.refresh(); } } },
          Object.entries(w.languages).map(([code, name]) => el('option', { value: code, selected: code === language }, name)))),
        editions.length > 1 ? el('label', { for: 'edition' }, w.group, el('select', { id: 'edition', key: 'edition', on: { change: (event) => choose(event.target.value) } },
          editions.map((one) => el('option', { value: one.path, selected: one.path === edition }, nameOfEdition(one))))) : null),
      el('p', { class: 'soft' }, w.total(number(sum.packages), size(sum.bytes)), ' · ', link(w.plain, 'catalog.html')),
      others.length === 0 ? null : el('p', { class: 'buttons' }, w.others, ' ', others.slice(0, 8).map((one) => button(`${nameOfEdition(one)} (${number(countOf(one.path))})`, `edition ${one.path}`, () => choose(one.path)))),
      sum.packages === 0 ? empty(text ? w.nothing : w.empty, page.role === 'none' ? null : link(words.views.extract, '#/extract', { class: 'button' })) : el('div', { class: 'card' }, branch(found, { language, isOpen: sum.packages <= 60, choices })),
      (data.styles ?? []).length > 0 ? table(w.styles, [[w.style, (one) => one.name ?? one.id], [w.version, (one) => one.version, 'n'], [w.size, (one) => size(one.size), 'n'],
        [words.pack.download, (one) => link(words.pack.download, `${one.url}?download`, { 'aria-label': `${words.pack.download} ${one.id}` })]], data.styles, (one) => one.id) : null];
  };
}

/** The list of a place. `tree`: its language, whether places are open at first, and the choices of the person. */
function branch(node, tree, isTop = true) {
  return el('ul', { class: isTop ? 'tree' : null, lang: tree.language },
    node.packages.map((item) => leaf(item, tree.language)),
    node.children.map((child) => {
      // A place with only its own package needs no level of its own.
      if (child.children.length === 0 && child.packages.length === 1 && child.packages[0].region === child.id) return leaf(child.packages[0], tree.language);
      return el('li', { key: `node ${child.id}` }, place(child, tree));
    }));
}

/** A place that can be opened. The list of a closed one is made when it is opened: 600 packages would take 100 ms at each drawing. */
function place(node, tree) {
  const key = `${node.id} ${tree.isOpen}`;
  const isOpen = tree.choices.get(key) ?? tree.isOpen;
  const sum = totals(node);
  const toggle = ({ currentTarget: element }) => {
    tree.choices.set(key, element.open);
    if (element.open && element.children.length === 1) element.append(branch(node, tree, false));
  };
  return el('details', { open: isOpen, key, on: { toggle } },
    el('summary', {}, nameOf(node, tree.language), ' ', el('small', {}, words.catalog.total(number(sum.packages), size(sum.bytes)))),
    isOpen ? branch(node, tree, false) : null);
}

function leaf(item, language) {
  const w = words.catalog;
  const newest = item.versions[0];
  const cost = updates(item).slice(0, 2).map((one) => `${w.from(one.from)}: ${size(one.bytes)}`).join(', ');
  return el('li', { key: `package ${item.edition}${item.id}`, class: 'pack' }, link(packageName(item, language), pathOf(item)), el('span', {}, `${w.version} ${newest.version}`),
    newest.data_date ? el('span', {}, `${w.data} ${newest.data_date}`) : null, el('span', {}, size(newest.files[0].size)), cost ? el('small', {}, `${w.update} ${cost}`) : null,
    newest.files.map((file) => link(file.format, `${file.url}?download`, { 'aria-label': `${item.id} ${file.format}, ${size(file.size)}` })));
}
