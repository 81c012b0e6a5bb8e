// One package: its map, its versions beside each other, its files and what an update costs.
import { fileName } from './area.js';
import { button, el, kept, link, note, number, size } from './dom.js';
import { boundsOf, countByZoom, maskSquares, project } from './geo.js';
import { MapView } from './map.js';
import { EDITION } from './order.js';
import { empty, facts, table } from './tables.js';
import { nameOf, packageName, updates } from './tree.js';
import { keptVersions, tilesOfVersion, versionsElsewhere } from './versions.js';
import { words } from './words.js';

export function pack(page, parts, query) {
  const w = words.pack;
  const id = parts[0];
  // A link that names no edition, such as that of a job, means the first one with this package.
  const wanted = query.get('edition');
  const view = new MapView({ label: id, hasTip: true, onClick: (px, py) => { found = view.features(px, py); page.refresh(); } });
  page.onEnd(() => view.remove());
  let found = null;
  let shown = null;
  /** What is on the map, and what is left of the line: `{tileJSON, source, styles}`. */
  let main = null;
  let others = [];
  let beside = query.get('compare') ?? '';
  let style = 0;
  let hasBorders = false;

  async function draw(get, data, item, newest) {
    view.setStyle(main.styles[style].style, newest.attribution ?? '', main.styles.at(-1).style);
    const other = others.find((one) => one.key === beside);
    if (!other) return view.compare(null);
    const { source, styles } = await tilesOfVersion(get, data, item, other, page.language);
    const same = styles.find((one) => one.id === main.styles[style].id) ?? styles.at(-1);
    return view.compare({ left: other.name, right: w.version(newest.version, newest.data_date), style: same.style, fallback: styles.at(-1).style, source });
  }

  return async (get) => {
    const data = await get('catalog.json');
    // The edition of a link may have lost its end, or was encoded twice.
    const isKnown = wanted === '' || [...(data.editions ?? []).map((one) => one.path), ...data.packages.map((one) => one.edition)].includes(wanted);
    const item = data.packages.find((one) => one.id === id && (!isKnown || one.edition === wanted));
    if (!item) return [el('h1', {}, w.none), empty(words.extract.noMap, link(words.views.catalog, '#/catalog'))];
    const [newest] = item.versions;
    const squares = maskSquares(newest.tile_mask);
    if (shown !== newest.version) {
      view.fit(boundsOf(squares));
      main = await tilesOfVersion(get, data, item, { version: newest, path: 'tiles' }, page.language);
      others = [...keptVersions(item), ...(page.mayRead ? await versionsElsewhere(get, item) : [])];
      const { bounds } = main.tileJSON;
      view.setSource(main.source);
      if (bounds && bounds[0] < bounds[2]) view.fit(fractions(bounds));
      style = Math.min(style, main.styles.length - 1);
      await draw(get, data, item, newest);
      shown = newest.version;
    }
    view.set({ squares: hasBorders ? squares : [], hasBorders });
    const again = () => draw(get, data, item, newest).catch((error) => note(error.message, true));
    const compare = (key) => {
      beside = key;
      history.replaceState(null, '', `#/package/${encodeURIComponent(id)}?${new URLSearchParams({ ...(item.edition ? { edition: item.edition } : {}), ...(key ? { compare: key } : {}) })}`);
      again();
    };
    const select = (key, text, options, chosen, take) => el('label', { class: 'line' }, text, el('select', { key, on: { change: (event) => take(event.target) } },
      options.map(([value, name]) => el('option', { value, selected: value === chosen }, name))));
    return [
      el('h1', {}, w.title(packageName(item, page.language), newest.version)), nameOf(item, page.language) === packageName(item, page.language) ? null : el('p', { class: 'soft' }, nameOf(item, page.language)),
      el('p', { class: 'buttons' }, newest.files.map((file, i) => fileLink(w.get(file.format, size(file.size)), item, file, page.language, { class: i === 0 ? 'button main' : 'button', key: file.format }))),
      el('section', { class: 'card' }, kept(view.element, 'map'),
        el('p', { class: 'buttons' }, el('label', { class: 'line' }, el('input', { type: 'checkbox', key: 'borders', on: { change: (event) => { hasBorders = event.target.checked; page.refresh(); } } }), words.map.borders),
          main.styles.length > 1 ? select('style', w.style, main.styles.map((one) => [one.id, one.name]), main.styles[style].id, (box) => { style = box.selectedIndex; again(); }) : null,
          others.length > 0 ? select('compare', w.compare, [['', w.alone], ...others.map((one) => [one.key, one.name])], beside, (box) => compare(box.value)) : null),
        found === null ? null : found.length === 0 ? el('p', { class: 'soft' }, words.map.noFeatures) : table(words.map.features, [[words.map.feature, (one) => one.layer],
          [words.map.properties, (one) => Object.entries(one.properties).slice(0, 12).map(([key, value]) => `${key}: ${value}`).join(', ')]], found)),
      ...tablesOf(data, item, squares, page.language),
    ];
  };
}

/** A download. The file of a map that a person ordered has the name of the map, as in the view that builds it. */
const fileLink = (text, item, { url, format }, language, more) => (item.edition === EDITION
  ? link(text, url, { ...more, download: fileName(packageName(item, language), format) }) : link(text, `${url}?download`, more));

/** The files of a package, its updates, tiles and command lines. */
function tablesOf(data, item, squares, language) {
  const w = words.pack;
  const [newest] = item.versions;
  const group = data.editions?.find((one) => one.path === (item.edition ?? ''))?.group;
  const [least, most] = [newest.min_zoom ?? 0, newest.max_zoom ?? 14];
  const lines = [`curl -O ${new URL(newest.files[0].url, location.href).href}`, `packhorse device install ${item.id}${group ? ` --group ${group}` : ''} --catalog ${new URL('.', location.href).href} --store ./maps`];
  return [
    el('section', { class: 'card' }, el('h2', {}, w.about), facts([[w.tileset, newest.tileset], [words.catalog.zooms, `${least}–${most}`], [words.catalog.data, newest.data_date],
      [w.edition, item.edition]]), newest.attribution ? el('p', { class: 'soft' }, `${w.attribution}: ${newest.attribution}`) : null),
    el('section', { class: 'card' }, table(w.files, [[words.catalog.format, (file) => file.format], [words.catalog.size, (file) => size(file.size), 'n'], [w.sha, (file) => el('span', { class: 'mono' }, file.sha256)],
      [w.download, (file) => fileLink(w.download, item, file, language, { 'aria-label': `${w.download} ${file.format}` })]], newest.files, (file) => file.format)),
    el('section', { class: 'card' }, table(w.updates, [[w.installed, (one) => one.from], [w.fetch, (one) => size(one.bytes), 'n'], [w.way, (one) => (one.isPatch ? words.catalog.patch : words.catalog.whole)]], updates(item), (one) => one.from)),
    el('section', { class: 'card' }, table(w.mask, [[w.zoom, (one) => one.zoom], [w.count, (one) => number(one.count), 'n']], countByZoom(squares, most).slice(least).map((count, i) => ({ zoom: least + i, count })), (one) => one.zoom)),
    el('section', { class: 'card' }, el('h2', {}, w.commands), lines.map((line) => el('div', {},
      el('pre', {}, el('code', {}, line)), button(w.copy, `copy ${line}`, () => navigator.clipboard?.writeText(line).then(() => note(w.copied)))))),
  ];
}

function fractions([west, south, east, north]) {
  const [first, last] = [project(west, north), project(east, south)];
  return { west: first.x, north: first.y, east: last.x, south: last.y };
}
