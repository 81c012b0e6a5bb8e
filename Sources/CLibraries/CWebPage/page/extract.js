// A package of a drawn box: count, estimate, order, progress, download.
import { ask, order } from './api.js';
import { pathOf } from './catalog.js';
import { announce, button, el, facts, kept, link, note, number, size, table, time } from './dom.js';
import { boundsAround, boxParts, boxProblem, countTiles, maskSquares, project, tileRange } from './geo.js';
import { MapView } from './map.js';
import { packageName } from './tree.js';
import { words } from './words.js';

const EDGES = ['west', 'south', 'east', 'north'];
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
  /** The deepest zoom; `null` = that of the tileset. */
  let deepest = /^\d+$/.test(query.get('zoom') ?? '') ? Number(query.get('zoom')) : null;
  const view = new MapView({ label: words.views.extract, onBox: (drawn, isDone) => set(drawn, isDone) });
  view.fit({ west: 0.1, east: 0.9, north: 0.15, south: 0.75 });
  page.onEnd(() => { view.remove(); clearTimeout(timer); });
  const typed = (query.get('bbox') ?? '').split(',').map(Number);
  if (typed.length === 4 && query.get('bbox')) {
    const given = Object.fromEntries(EDGES.map((name, i) => [name, typed[i]]));
    if (boxProblem(given) === null) { box = given; view.set({ box }); view.fit(fractions(box)); }
  }

  function set(drawn, isDone) {
    box = drawn;
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

  function type() {
    box = Object.fromEntries(EDGES.map((name) => { const text = document.getElementById(name).value.trim(); return [name, text === '' ? NaN : Number(text)]; }));
    change();
    if (boxProblem(box) === null) view.fit(fractions(box), false);
  }

  async function build(one, zoom) {
    try {
      const made = await order('v1/extracts', { tileset: one.id, area: { bbox: EDGES.map((name) => box[name]) }, max_zoom: zoom });
      extractID = made.id;
      history.replaceState(null, '', `#/extract?${new URLSearchParams({ id: made.id, tileset: one.id, zoom, bbox: EDGES.map((name) => box[name]).join(',') })}`);
    } catch (error) { note(words.error(error.message, error.hint), true); }
    page.refresh();
  }

  async function estimateOf(one, zoom, tiles) {
    if (page.role === 'client') return null;
    const body = { tileset: one.id, area: { bbox: EDGES.map((name) => box[name]) }, zooms: `${one.min_zoom}-${zoom}`, tile_limit: tiles };
    return (await ask('v1/estimates', { method: 'POST', body })).json();
  }

  async function findPlaces(get) {
    if (place === '') return [];
    const { regions, towns } = await get(`v1/regions?${new URLSearchParams({ q: place.slice(0, 60), lang: page.language })}`);
    return [...regions.slice(0, 6), ...towns.slice(0, 6).map((town) => ({ id: town.id, name: `${town.name}, ${town.region}`, bounds: boundsAround(town) }))];
  }

  function show(region) {
    view.fit(fractions(Object.fromEntries(EDGES.map((name, i) => [name, region.bounds[i]]))), false);
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

  async function holders(get, one, zoom) {
    const middle = [box.west <= box.east ? (box.west + box.east) / 2 : box.east, (box.south + box.north) / 2];
    const { packages } = await get(`v1/packages?at=${middle.join(',')}`);
    const data = await get('catalog.json');
    return packages.flatMap((found) => {
      const item = data.packages.find((other) => other.id === found.id && other.edition === found.edition);
      if (!item || found.max_zoom < zoom || found.tileset !== one.id) return [];
      return holdsBox(maskSquares(item.versions[0].tile_mask), box, zoom) ? [{ item, found }] : [];
    });
  }

  return async (get) => {
    const { tilesets: list, missing, extract_tiles: most } = await get('v1/tilesets');
    const one = list.find((other) => other.id === tileset) ?? list[0];
    const lost = missing.length === 0 ? null : el('div', { class: 'card warn' }, el('p', {}, w.missing), el('ul', {}, missing.map((text) => el('li', {}, text))));
    if (!one) return [el('h1', {}, words.views.extract), lost ?? el('p', {}, w.none)];
    const zooms = Array.from({ length: one.max_zoom - one.min_zoom + 1 }, (_, i) => one.min_zoom + i);
    const zoom = zooms.includes(deepest) ? deepest : one.max_zoom;
    const places = await findPlaces(get);
    const problem = boxProblem(box);
    const tiles = problem ? null : countTiles(box, one.min_zoom, zoom);
    const isTooBig = tiles > most;
    let near = [];
    let guess = null;
    if (tiles !== null && !isTooBig) {
      const wanted = box;
      try {
        estimate ??= await estimateOf(one, zoom, tiles);
        near = await holders(get, one, zoom);
        if (page.role !== 'client') guess = forecast((await get('v1/jobs?state=done&limit=100')).jobs, one.id, tiles);
      } catch (error) { if (error.status !== 422 && error.status !== 503) throw error; estimate = { warnings: [error.message] }; }
      if (wanted !== box) estimate = null;
    }
    const state = extractID ? await progress(get, extractID) : null;
    const input = (name) => el('label', { for: name }, w[name], el('input', { id: name, key: name, inputmode: 'decimal', type: 'text', value: box && Number.isFinite(box[name]) ? box[name] : '', 'aria-describedby': 'count', on: { input: type } }));
    const draw = () => { view.isDrawing = !view.isDrawing; page.refresh(); };
    return [el('h1', {}, words.views.extract), el('p', {}, w.intro), lost, placeSearch(places),
      kept(view.element, 'map'),
      el('div', { class: 'cards' },
        el('section', { class: 'card' },
          el('p', { class: 'buttons' }, button(view.isDrawing ? w.drawing : w.draw, 'draw', draw, { 'aria-pressed': String(view.isDrawing) }),
            el('label', { for: 'tileset' }, w.tileset, el('select', { id: 'tileset', key: 'tileset', on: { change: (event) => { tileset = event.target.value; change(); } } },
              list.map((other) => el('option', { value: other.id, selected: other === one }, `${other.name ?? other.id}, ${other.min_zoom}–${other.max_zoom}`)))),
            el('label', { for: 'deepest' }, w.upTo, el('select', { id: 'deepest', key: 'deepest', on: { change: (event) => { deepest = Number(event.target.value); change(); } } },
              zooms.map((number) => el('option', { value: number, selected: number === zoom }, String(number)))))),
          el('div', { class: 'edges', key: 'edges' }, EDGES.map(input)),
          el('p', { id: 'count', class: (problem && box) || isTooBig ? 'bad' : null }, problem ? w.problems[problem] : tiles === null ? '' : w.limit(number(tiles), number(most)), isTooBig ? ` – ${w.tooMany}` : ''),
          tiles === null || isTooBig ? null : table(w.perZoom, [[words.pack.zoom, (at) => at], [w.tiles, (at) => number(countTiles(box, at, at)), 'n']],
            zooms.filter((number) => number <= zoom), (number) => number)),
        el('section', { class: 'card' }, el('h2', {}, w.size),
          estimate?.tiles !== undefined ? facts([[w.tiles, number(estimate.tiles)], [words.job.batches, number(estimate.batches)], [w.size, guess ? w.about(size(guess.bytes), time(guess.seconds)) : w.unknownSize]]) : null,
          (estimate?.warnings ?? []).map((text) => el('p', { class: 'soft' }, text)),
          near.length > 0 ? el('div', {}, el('p', {}, w.holds), el('ul', {}, near.slice(0, 3).map(({ item, found }) => el('li', { key: item.id }, link(`${packageName(item, page.language)} (${size(found.size)})`, pathOf(item)))))) : null,
          page.mayExtract ? button(w.build, 'build', () => build(one, zoom), { class: 'main', disabled: tiles === null || isTooBig || state?.state === 'building' }) : el('p', { class: 'soft' }, w.noRole),
          state ? status(state) : null))];
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
