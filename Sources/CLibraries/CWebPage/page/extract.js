// A package of a drawn box or of a file with an area: count, estimate, order, progress, download.
import { ask, order } from './api.js';
import { pathOf } from './catalog.js';
import { announce, button, el, kept, link, note, number, size, time } from './dom.js';
import { boundsAround, boxParts, boxProblem, countByZoom, countTiles, holdsSquares, maskSquares, project, tileRange, unproject } from './geo.js';
import { MapView } from './map.js';
import { empty, facts, table } from './tables.js';
import { packageName } from './tree.js';
import { words } from './words.js';

const EDGES = ['west', 'south', 'east', 'north'];
const boxOf = (bounds) => Object.fromEntries(EDGES.map((name, i) => [name, bounds[i]]));
/** The deepest zoom of the tiles of a file. */
const FILE_ZOOM = 14;
/** More squares than the longest mask of the server has. */
const MOST_SQUARES = 400_000;
/** The box in fractions of the world; one that crosses the antimeridian has its eastern part only. */
function fractions(box) {
  const part = boxParts(box).at(-1);
  const [first, last] = [project(part.west, part.north), project(part.east, part.south)];
  return { west: first.x, north: first.y, east: last.x, south: last.y };
}

/** Whether the squares of a mask have every tile of one zoom that meets a box. */
export function holdsBox(squares, box, zoom) {
  const known = new Set(squares.map((one) => `${one.zoom}/${one.x}/${one.y}`));
  const has = (x, y) => {
    for (let up = 0; up <= zoom; up += 1) if (known.has(`${zoom - up}/${Math.floor(x / 2 ** up)}/${Math.floor(y / 2 ** up)}`)) return true;
    return false;
  };
  const { columns, rows } = tileRange(box, zoom);
  for (const [from, to] of columns) {
    for (let x = from; x <= to; x += 1) for (let y = rows[0]; y <= rows[1]; y += 1) if (!has(x, y)) return false;
  }
  return true;
}

/** Bytes and seconds of some tiles, from finished jobs of the same tileset; `null` when there are none. */
export function forecast(jobs, tileset, tiles) {
  const same = jobs.filter((job) => job.tileset === tileset && job.stored > 0 && job.elapsed_seconds > 0);
  if (same.length === 0) return null;
  const sum = (pick) => same.reduce((total, job) => total + pick(job), 0);
  return { bytes: (tiles * sum((job) => job.bytes)) / sum((job) => job.tiles), seconds: Math.max(1, (tiles * sum((job) => job.elapsed_seconds)) / sum((job) => job.tiles)) };
}

export function extract(page, parts, query) {
  const w = words.extract;
  let box = null;
  let tileset = query.get('tileset') ?? '';
  let extractID = query.get('id');
  let estimate = null;
  let timer;
  let place = '';
  /** The chosen file, in place of a box; what the server read of it, or `problem`. */
  let source = null;
  let file = null;
  let margin = '';
  let hasWaypoints = false;
  /** The deepest zoom; `null` = that of the tileset. */
  let deepest = /^\d+$/.test(query.get('zoom') ?? '') ? Number(query.get('zoom')) : null;
  const view = new MapView({ label: words.views.extract, onBox: (drawn, isDone) => set(drawn, isDone) });
  view.element.addEventListener('dragover', (event) => event.preventDefault());
  view.element.addEventListener('drop', (event) => { event.preventDefault(); choose(event.dataTransfer.files[0]); });
  view.fit({ west: 0.1, east: 0.9, north: 0.15, south: 0.75 });
  page.onEnd(() => { view.remove(); clearTimeout(timer); });
  const typed = (query.get('bbox') ?? '').split(',').map(Number);
  if (typed.length === 4 && query.get('bbox')) {
    const given = boxOf(typed);
    if (boxProblem(given) === null) { box = given; view.set({ box }); view.fit(fractions(box)); }
  }

  function set(drawn, isDone) {
    box = drawn;
    leaveFile();
    for (const name of EDGES) { const input = document.getElementById(name); if (input) input.value = Number.isFinite(drawn[name]) ? drawn[name] : ''; }
    change();
    if (isDone) { view.isDrawing = false; page.refresh(); }
  }

  function change() {
    estimate = null;
    extractID = null;
    view.set({ box: boxProblem(box) === null ? box : null });
    clearTimeout(timer);
    // The estimate is asked for once the box has come to rest.
    timer = setTimeout(() => page.refresh(), 300);
  }

  function choose(chosen) {
    if (!chosen) return;
    source = chosen;
    file = null;
    box = null;
    for (const name of EDGES) { const input = document.getElementById(name); if (input) input.value = ''; }
    change();
  }

  function leaveFile() {
    source = null;
    file = null;
    view.set({ squares: [] });
  }

  /** Sends the file, once for each zoom and margin; the answer has its tiles. */
  async function readFile(zoom) {
    const wish = new URLSearchParams({ zoom: Math.min(FILE_ZOOM, zoom), ...(margin ? { margin } : {}), ...(hasWaypoints ? { waypoints: 1 } : {}) }).toString();
    const sent = source;
    if (sent === null || (file?.source === sent && file.wish === wish)) return;
    const made = { source: sent, wish };
    try {
      Object.assign(made, await (await ask(`v1/areas?${wish}`, { method: 'POST', body: sent })).json());
      made.squares = maskSquares(made.mask, MOST_SQUARES);
      made.counts = countByZoom(made.squares);
      announce(w.read(sent.name, made.format));
    } catch (error) {
      if (error.status === 401) throw error;
      Object.assign(made, { problem: error.status ? words.error(error.message, error.hint) : w.notRead, squares: undefined });
    }
    if (source !== sent) return;
    file = made;
    view.set({ squares: file.squares ?? [] });
    if (file.squares) view.fit(fractions(boxOf(file.bounds)));
  }

  function type() {
    leaveFile();
    box = Object.fromEntries(EDGES.map((name) => { const text = document.getElementById(name).value.trim(); return [name, text === '' ? NaN : Number(text)]; }));
    change();
    if (boxProblem(box) === null) view.fit(fractions(box), false);
  }

  const area = () => (file ? { mask: file.mask } : { bbox: EDGES.map((name) => box[name]) });

  async function build(one, zoom) {
    try {
      const made = await order('v1/extracts', { tileset: one.id, area: area(), max_zoom: zoom });
      extractID = made.id;
      history.replaceState(null, '', `#/extract?${new URLSearchParams({ id: made.id, tileset: one.id, zoom, ...(box ? { bbox: EDGES.map((name) => box[name]).join(',') } : {}) })}`);
    } catch (error) { note(words.error(error.message, error.hint), true); }
    page.refresh();
  }

  async function estimateOf(one, zoom, tiles) {
    if (page.role === 'client') return null;
    const body = { tileset: one.id, area: area(), zooms: `${one.min_zoom}-${zoom}`, tile_limit: tiles };
    return (await ask('v1/estimates', { method: 'POST', body })).json();
  }

  async function findPlaces(get) {
    if (place === '') return [];
    const { regions, towns } = await get(`v1/regions?${new URLSearchParams({ q: place.slice(0, 60), lang: page.language })}`);
    return [...regions.slice(0, 6), ...towns.slice(0, 6).map((town) => ({ id: town.id, name: `${town.name}, ${town.region}`, bounds: boundsAround(town) }))];
  }

  function show(region) {
    view.fit(fractions(boxOf(region.bounds)), false);
  }

  function placeSearch(places) {
    const search = (event) => { event.preventDefault(); place = document.getElementById('place').value.trim(); page.refresh(); };
    return [
      el('form', { key: 'places', role: 'search', on: { submit: search } },
        el('label', { for: 'place' }, w.place, el('input', { id: 'place', key: 'place', type: 'search', value: place, autocomplete: 'off' })), el('button', { key: 'find', type: 'submit' }, w.find)),
      place === '' ? null : places.length === 0 ? el('p', { class: 'soft' }, w.noPlace)
        : el('p', { class: 'buttons' }, places.map((one) => button(one.name, `place ${one.id}`, () => show(one)))),
    ];
  }

  /** A place of the area. */
  function middle() {
    if (!file) return [box.west <= box.east ? (box.west + box.east) / 2 : box.east, (box.south + box.north) / 2];
    const { zoom, x, y } = file.squares[0];
    const { longitude, latitude } = unproject((x + 0.5) / 2 ** zoom, (y + 0.5) / 2 ** zoom);
    return [longitude, latitude];
  }

  function fileChoice() {
    const wish = (event) => { margin = event.target.value.trim(); change(); };
    return el('div', { class: 'buttons', key: 'files' },
      el('label', { for: 'file' }, w.file, el('input', { id: 'file', key: 'file', type: 'file', on: { change: (event) => { choose(event.target.files[0]); event.target.value = ''; } } })),
      source ? [
        el('label', { for: 'margin' }, w.margin, el('input', { id: 'margin', key: 'margin', type: 'text', value: margin, autocomplete: 'off', on: { change: wish } })),
        el('label', { class: 'line', key: 'waypoints' }, el('input', { type: 'checkbox', key: 'waypoints', checked: hasWaypoints, on: { change: (event) => { hasWaypoints = event.target.checked; change(); } } }), w.waypoints),
        button(w.noFile, 'no-file', () => { leaveFile(); change(); }),
      ] : null);
  }

  async function holders(get, one, zoom) {
    const { packages } = await get(`v1/packages?at=${middle().join(',')}`);
    const data = await get('catalog.json');
    return packages.flatMap((found) => {
      const item = data.packages.find((other) => other.id === found.id && other.edition === found.edition);
      if (!item || found.max_zoom < zoom || found.tileset !== one.id) return [];
      const squares = maskSquares(item.versions[0].tile_mask);
      return (file ? holdsSquares(squares, file.squares) : holdsBox(squares, box, zoom)) ? [{ item, found }] : [];
    });
  }

  return async (get) => {
    const { tilesets: list, missing, extract_tiles: most } = await get('v1/tilesets');
    const one = list.find((other) => other.id === tileset) ?? list[0];
    const lost = missing.length === 0 ? null : el('div', { class: 'card warn' }, el('p', {}, w.missing), el('ul', {}, missing.map((text) => el('li', {}, text))));
    if (!one) return [el('h1', {}, words.views.extract), lost ?? empty(w.none, el('code', {}, w.start))];
    const zooms = Array.from({ length: one.max_zoom - one.min_zoom + 1 }, (_, i) => one.min_zoom + i);
    const zoom = zooms.includes(deepest) ? deepest : one.max_zoom;
    const places = await findPlaces(get);
    await readFile(zoom);
    const problem = source ? file?.problem : w.problems[boxProblem(box)];
    const isThere = source ? file?.squares !== undefined : boxProblem(box) === null;
    const count = (from, to) => (file ? file.counts.slice(from, to + 1).reduce((sum, n) => sum + n, 0) : countTiles(box, from, to));
    const tiles = isThere ? count(one.min_zoom, zoom) : null;
    const isTooBig = tiles > most;
    let near = [];
    let guess = null;
    if (tiles !== null && !isTooBig) {
      const wanted = file ?? box;
      try {
        estimate ??= await estimateOf(one, zoom, tiles);
        near = await holders(get, one, zoom);
        if (page.role !== 'client') guess = forecast((await get('v1/jobs?state=done&limit=100')).jobs, one.id, tiles);
      } catch (error) { if (error.status !== 422 && error.status !== 503) throw error; estimate = { warnings: [error.message] }; }
      if (wanted !== (file ?? box)) estimate = null;
    }
    const state = extractID ? await progress(get, extractID) : null;
    const input = (name) => el('label', { for: name }, w[name], el('input', { id: name, key: name, inputmode: 'decimal', type: 'text', value: box && Number.isFinite(box[name]) ? box[name] : '', 'aria-describedby': 'count', on: { input: type } }));
    const draw = () => { view.isDrawing = !view.isDrawing; page.refresh(); };
    view.setTools([[view.isDrawing ? w.drawing : w.draw, 'draw', view.isDrawing, draw]]);
    return [el('h1', {}, words.views.extract), el('p', {}, matchMedia('(pointer: coarse)').matches ? w.introTouch : w.intro), lost, placeSearch(places),
      kept(view.element, 'map'),
      el('div', { class: 'cards' },
        el('section', { class: 'card' },
          el('p', { class: 'buttons' },
            el('label', { for: 'tileset' }, w.tileset, el('select', { id: 'tileset', key: 'tileset', on: { change: (event) => { tileset = event.target.value; change(); } } },
              list.map((other) => el('option', { value: other.id, selected: other === one }, `${other.name ?? other.id}, ${other.min_zoom}–${other.max_zoom}`)))),
            el('label', { for: 'deepest' }, w.upTo, el('select', { id: 'deepest', key: 'deepest', on: { change: (event) => { deepest = Number(event.target.value); change(); } } },
              zooms.map((number) => el('option', { value: number, selected: number === zoom }, String(number)))))),
          el('div', { class: 'edges', key: 'edges' }, EDGES.map(input)),
          fileChoice(),
          file?.squares ? el('p', { id: 'read' }, w.read(file.source.name, file.format)) : null,
          tiles === null || isTooBig ? null : table(w.perZoom, [[words.pack.zoom, (at) => at], [w.tiles, (at) => number(count(at, at)), 'n']],
            zooms.filter((number) => number <= zoom), (number) => number)),
        el('section', { class: 'card' }, el('h2', {}, w.size),
          estimate?.tiles !== undefined ? facts([[w.tiles, number(estimate.tiles)], [words.job.batches, number(estimate.batches)], [w.size, guess ? w.about(size(guess.bytes), time(guess.seconds)) : w.unknownSize]]) : null,
          (estimate?.warnings ?? []).map((text) => el('p', { class: 'soft' }, text)),
          near.length > 0 ? el('div', {}, el('p', {}, w.holds), el('ul', {}, near.slice(0, 3).map(({ item, found }) => el('li', { key: item.id }, link(`${packageName(item, page.language)} (${size(found.size)})`, pathOf(item)))))) : null,
          state ? status(state) : null)),
      el('div', { class: 'act' },
        page.mayExtract ? button(w.build, 'build', () => build(one, zoom), { class: 'main', disabled: tiles === null || isTooBig || state?.state === 'building' }) : el('span', { class: 'soft' }, w.noRole),
        el('span', { id: 'count', class: problem || isTooBig ? 'bad' : null }, problem || (tiles === null ? w.noArea : w.limit(number(tiles), number(most))), isTooBig ? ` – ${w.tooMany}` : ''))];
  };

  function status(state) {
    const job = state.of;
    const percent = job && job.tiles > 0 ? Math.floor((job.settled / job.tiles) * 100) : 0;
    announce(`${words.views.extract}: ${w.states[state.state] ?? state.state}`);
    return el('div', { key: 'extract' }, el('p', {}, `${w.state}: ${w.states[state.state] ?? state.state}`, state.reason ? ` – ${state.reason}` : ''),
      state.state === 'building' ? el('progress', { max: 100, value: percent, 'aria-label': words.job.progress }) : null,
      state.waiting ? el('p', { class: 'bad' }, `${w.waiting}: ${state.waiting}`) : null,
      state.job && page.role !== 'client' ? el('p', {}, link(w.job(state.job), `#/job/${state.job}`)) : null,
      state.url ? el('p', {}, link(`${w.ready} (${size(state.size)})`, `${state.url.replace(/^\//, '')}?download`), el('br'), el('small', { class: 'mono' }, state.sha256)) : null);
  }

  async function progress(get, id) {
    let state;
    try { state = await (await ask(`v1/extracts/${encodeURIComponent(id)}`)).json(); } catch (error) {
      if (error.status !== 404) throw error;
      return { state: 'unknown' };
    }
    if (state.job && state.state === 'building' && page.role !== 'client') state.of = await get(`v1/jobs/${state.job}`);
    return state;
  }
}
