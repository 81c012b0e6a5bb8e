// The catalog as a tree, and one package with its map.
import { ask } from './api.js';
import { announce, button, el, kept, link, note, number, size } from './dom.js';
import { boundsOf, maskSquares, project, tilesOf } from './geo.js';
import { MapView } from './map.js';
import { catalogStyle, packageSource, packageStyle } from './mapstyle.js';
import { empty, facts, table } from './tables.js';
import { buildTree, nameOf, packageName, search, totals, updates } from './tree.js';
import { words } from './words.js';

export const pathOf = (item) => `#/package/${encodeURIComponent(item.id)}${item.edition ? `?edition=${encodeURIComponent(item.edition)}` : ''}`;

export function catalog(page, parts, query) {
  const w = words.catalog;
  let text = query.get('q') ?? '';
  let edition = query.get('edition');
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
      sum.packages === 0 ? empty(text ? w.nothing : w.empty, page.role === 'none' ? null : link(words.views.extract, '#/extract', { class: 'button' })) : el('div', { class: 'card' }, branch(found, language, text !== '' || sum.packages <= 60)),
      (data.styles ?? []).length > 0 ? table(w.styles, [[w.style, (one) => one.name ?? one.id], [w.version, (one) => one.version, 'n'], [w.size, (one) => size(one.size), 'n'],
        [words.pack.download, (one) => link(words.pack.download, `${one.url}?download`, { 'aria-label': `${words.pack.download} ${one.id}` })]], data.styles, (one) => one.id) : null];
  };
}

function branch(node, language, isOpen, isTop = true) {
  return el('ul', { class: isTop ? 'tree' : null, lang: language },
    node.packages.map((item) => leaf(item, language)),
    node.children.map((child) => {
      const sum = totals(child);
      // A place with only its own package needs no level of its own.
      if (child.children.length === 0 && child.packages.length === 1 && child.packages[0].region === child.id) return leaf(child.packages[0], language);
      return el('li', { key: `node ${child.id}` }, el('details', { open: isOpen, key: `${child.id} ${isOpen}` },
        el('summary', {}, nameOf(child, language), ' ', el('small', {}, words.catalog.total(number(sum.packages), size(sum.bytes)))), branch(child, language, isOpen, false)));
    }));
}

function leaf(item, language) {
  const w = words.catalog;
  const newest = item.versions[0];
  const cost = updates(item).slice(0, 2).map((one) => `${w.from(one.from)}: ${size(one.bytes)}`).join(', ');
  return el('li', { key: `package ${item.edition}${item.id}`, class: 'pack' }, link(packageName(item, language), pathOf(item)), el('span', {}, `${w.version} ${newest.version}`),
    newest.data_date ? el('span', {}, `${w.data} ${newest.data_date}`) : null, el('span', {}, size(newest.files[0].size)), cost ? el('small', {}, `${w.update} ${cost}`) : null,
    newest.files.map((file) => link(file.format, `${file.url}?download`, { 'aria-label': `${item.id} ${file.format}, ${size(file.size)}` })));
}

export function pack(page, parts, query) {
  const w = words.pack;
  const id = parts[0];
  const view = new MapView({ label: id, hasTip: true, onClick: (px, py) => { found = view.base.features?.(px, py) ?? []; page.refresh(); } });
  page.onEnd(() => view.remove());
  let found = null;
  let shown = null;
  /** `{id, name, style}` of each style for the package; the last one is made from its layers. */
  let styles = [];
  let chosen = 0;
  let hasBorders = false;
  const draw = (newest) => view.setStyle(styles[chosen].style, newest.attribution ?? '', styles.at(-1).style);
  return async (get) => {
    const data = await get('catalog.json');
    // A link that names no edition, such as that of a job, means the first one with this package.
    const wanted = query.get('edition');
    const item = data.packages.find((one) => one.id === id && (wanted === null || one.edition === wanted));
    if (!item) return [el('h1', {}, id), empty(w.missing, link(words.views.catalog, '#/catalog'))];
    const edition = item.edition ?? '';
    const group = data.editions?.find((one) => one.path === edition)?.group;
    const [newest] = item.versions;
    const name = `${id}@${newest.version}`;
    const squares = maskSquares(newest.tile_mask);
    if (shown !== name) {
      shown = name;
      view.fit(boundsOf(squares));
      const tileJSON = await get(`tiles/${encodeURIComponent(name)}.json${edition ? `?edition=${encodeURIComponent(edition)}` : ''}`);
      const source = packageSource(tileJSON, tilesOf(squares), page.language);
      view.setSource(source);
      if (tileJSON.bounds && tileJSON.bounds[0] < tileJSON.bounds[2]) view.fit(fractions(tileJSON.bounds));
      styles = await stylesFor(data, newest, tileJSON, source, page.language);
      draw(newest);
    }
    view.set({ squares: hasBorders ? squares : [], hasBorders });
    const title = packageName(item, page.language);
    const at = (file) => new URL(file.url, location.href).href;
    return [
      el('h1', {}, w.title(title, newest.version)), el('p', { class: 'soft' }, nameOf(item, page.language)),
      el('p', { class: 'buttons' }, newest.files.map((file, i) => link(w.get(file.format, size(file.size)), `${file.url}?download`, { class: i === 0 ? 'button main' : 'button', key: file.format }))),
      el('section', { class: 'card' }, kept(view.element, 'map'),
        el('p', { class: 'buttons' }, el('label', { class: 'line' }, el('input', { type: 'checkbox', key: 'borders', on: { change: (event) => { hasBorders = event.target.checked; page.refresh(); } } }), words.map.borders),
          styles.length > 1 ? el('label', { class: 'line' }, w.style, el('select', { key: 'style', on: { change: (event) => { chosen = event.target.selectedIndex; draw(newest); } } },
            styles.map((one, i) => el('option', { value: one.id, selected: i === chosen }, one.name)))) : null),
        found === null ? null : found.length === 0 ? el('p', { class: 'soft' }, words.map.noFeatures) : table(words.map.features, [[words.map.feature, (one) => one.layer],
          [words.map.properties, (one) => Object.entries(one.properties).slice(0, 12).map(([key, value]) => `${key}: ${value}`).join(', ')]], found)),
      el('section', { class: 'card' }, el('h2', {}, w.about), facts([[w.tileset, newest.tileset], [words.catalog.zooms, `${newest.min_zoom ?? 0}–${newest.max_zoom ?? 14}`], [words.catalog.data, newest.data_date],
        [w.edition, edition]]), newest.attribution ? el('p', { class: 'soft' }, `${w.attribution}: ${newest.attribution}`) : null),
      el('section', { class: 'card' }, table(w.files, [[words.catalog.format, (file) => file.format], [words.catalog.size, (file) => size(file.size), 'n'], [w.sha, (file) => el('span', { class: 'mono' }, file.sha256)],
        [w.download, (file) => link(w.download, `${file.url}?download`, { 'aria-label': `${w.download} ${file.format}` })]], newest.files, (file) => file.format)),
      el('section', { class: 'card' }, table(w.updates, [[w.installed, (one) => one.from], [w.fetch, (one) => size(one.bytes), 'n'], [w.way, (one) => (one.isPatch ? words.catalog.patch : words.catalog.whole)]], updates(item), (one) => one.from)),
      el('section', { class: 'card' }, table(w.mask, [[w.zoom, (one) => one.zoom], [w.count, (one) => number(one.count), 'n']], tilesByZoom(squares, newest.min_zoom ?? 0, newest.max_zoom ?? 14), (one) => one.zoom)),
      el('section', { class: 'card' }, el('h2', {}, w.commands), [`curl -O ${at(newest.files[0])}`, `packhorse device install ${id}${group ? ` --group ${group}` : ''} --catalog ${new URL('.', location.href).href} --store ./maps`].map((line) => el('div', {},
        el('pre', {}, el('code', {}, line)), button(w.copy, `copy ${line}`, () => navigator.clipboard?.writeText(line).then(() => note(w.copied)))))),
    ];
  };
}

/** How many tiles a mask has at each zoom: its squares, what is below them, and what is above them. */
export function tilesByZoom(squares, min, max) {
  const rows = [];
  for (let zoom = min; zoom <= max; zoom += 1) {
    const above = new Set();
    let count = 0;
    for (const one of squares) {
      if (one.zoom <= zoom) count += 4 ** (zoom - one.zoom);
      else above.add(Math.floor(one.x / 2 ** (one.zoom - zoom)) * 2 ** zoom + Math.floor(one.y / 2 ** (one.zoom - zoom)));
    }
    rows.push({ zoom, count: count + above.size });
  }
  return rows;
}

function fractions([west, south, east, north]) {
  const [first, last] = [project(west, north), project(east, south)];
  return { west: first.x, north: first.y, east: last.x, south: last.y };
}

/** The styles of the catalog for the tileset of a package, and one that is made from its layers. */
async function stylesFor(data, newest, tileJSON, source, language) {
  const found = [];
  for (const { id, name } of (data.styles ?? []).slice(0, 10)) {
    try {
      const style = catalogStyle(await (await ask(`style/${encodeURIComponent(id)}/style.json`)).json(), newest.tileset, tileJSON, source);
      if (style) found.push({ id, name: name ?? id, style });
    } catch (error) { console.warn(`style ${id}: ${error.message}`); }
  }
  return [...found, { id: '', name: words.pack.plainStyle, style: packageStyle(tileJSON, source, language) }];
}
