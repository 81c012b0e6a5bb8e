// Get a map: choose an area, see what it costs, build it, download it, share it.
import { ask } from './api.js';
import { AROUND_LINES, AROUND_TOWN, EDGES, areaOfLink, boxOf, deepestWithin, hasLines, isCut, linkOfArea, measure, nameOfArea, sumTiles } from './area.js';
import { areaCard, placeResults, placeSearch } from './areacard.js';
import { announce, button, el, kept, link, note, number, short, size } from './dom.js';
import { takeFiles } from './drop.js';
import { boundsOf, boxProblem, maskSquares, project } from './geo.js';
import { holders } from './holders.js';
import { rateOf } from './jobs.js';
import { pathOf } from './catalog.js';
import { holds } from './camera.js';
import { Cost, drawCost } from './cost.js';
import { MapView } from './map.js';
import { EDITION, drawState, orderMap, pathOfMap, stateOf } from './order.js';
import { shareLink, withoutID } from './share.js';
import { details, empty, facts, table } from './tables.js';
import { packageName } from './tree.js';
import { words } from './words.js';

/** Bounds in fractions of the world; of those that cross the antimeridian the eastern part only. */
function fractions([west, south, east, north]) {
  const [first, last] = [project(west <= east ? west : -180, north), project(east, south)];
  return { west: first.x, north: first.y, east: last.x, south: last.y };
}

/** A zoom of a link: `null` for none, not a number for one that cannot be read. */
const whole = (text) => (text ? /^\d+$/.test(text) ? Number(text) : NaN : null);

export function extract(page, parts, query) {
  const w = words.extract;
  /** What the person chose. */
  const wish = {
    area: areaOfLink(query), tileset: query.get('tileset') ?? '', zoom: whole(query.get('zoom')), margin: query.get('margin') ?? '', name: query.get('name') ?? '',
    hasPMTiles: query.get('format') === 'pmtiles', hasWaypoints: false, search: '', corners: [],
  };
  let wasCut = isCut(query);
  let id = wasCut ? null : query.get('id');
  /** What the server says of the present wish: `{key, counts, bounds, squares, body}`, `{key, problem}`, or `{key, isComing}` before it has answered. */
  let measured = {};
  /** Grows with each change of what is drawn. */
  let turn = 0;
  /** Grows with each change of the wish. */
  let wishes = 0;
  let estimate = null;
  const cost = new Cost(page);
  /** Whether the margin is the one for lines, which no person chose. */
  let isFilled = false;
  /** The area that the map has been moved to; one that is drawn or typed does not move it. */
  let shown = null;
  /** What was around the area when it was last counted. */
  let around = '';
  let timer;
  const view = new MapView({ label: w.map, onBox: (box, isDone) => drawn(box, isDone), onPoint: ({ longitude, latitude }) => { wish.corners.push([longitude, latitude]); view.set({ polygon: wish.corners }); page.refresh(); } });
  page.onEnd(takeFiles(w.drop, dropped));
  view.fit({ west: 0.1, east: 0.9, north: 0.15, south: 0.75 });
  page.onEnd(() => { view.remove(); clearTimeout(timer); });

  /** The map that the address names without its area, as of a file: what the catalog has of it once it is ready. Draws its tiles. */
  async function madeOf(get) {
    if (!id || wish.area !== null || wasCut) return null;
    const item = (await get('catalog.json')).packages.find((one) => one.id === id && one.edition === EDITION);
    if (item && shown !== id && id && wish.area === null) {
      shown = id;
      const squares = maskSquares(item.versions[0].tile_mask);
      view.set({ squares });
      view.fit(boundsOf(squares));
    }
    return { name: wish.name || (item ? packageName(item, page.language) : '') };
  }

  /** Another wish: the earlier order is no longer that of the view. */
  function change(more = {}) {
    // The name of a map without its area is not that of another area.
    if (id && wish.area === null && more.area) document.getElementById('name').value = wish.name = '';
    Object.assign(wish, more);
    turn += 1;
    wishes += 1;
    // A name and a format change no tile.
    if (Object.keys(more).some((key) => !['name', 'hasPMTiles'].includes(key))) forget();
    if (more.area !== undefined && more.area?.kind !== 'file') document.getElementById('file').value = '';
    estimate = null;
    wasCut = false;
    if (shown !== null && shown === id) view.set({ squares: [] });
    if (id) history.replaceState(null, '', withoutID(location.hash));
    id = null;
    clearTimeout(timer);
    // The server is asked once the person has come to rest.
    timer = setTimeout(() => page.refresh(), 300);
  }

  /** No answer of an earlier wish counts any more; what is drawn says so at once, the next drawing may wait for the server. */
  function forget() {
    measured = {};
    const [order, said] = [document.querySelector('[data-key=build]'), document.getElementById('count')];
    if (order) order.disabled = true;
    if (said) said.textContent = wish.area ? coming(wish.area) : w.noArea;
  }

  function fillMargin(text) {
    isFilled = text !== '';
    wish.margin = text;
    document.getElementById('margin').value = text;
  }

  const coming = (area) => (area.kind === 'file' && !area.format ? w.reading(area.file.name) : w.counting);

  function choose(area) {
    view.mode = null;
    view.set({ squares: [], outline: null, polygon: area?.kind === 'polygon' ? area.points : [], box: area?.kind === 'box' ? area.box : null });
    if (area?.bounds) view.fit(fractions(area.bounds), false);
    if (area?.kind !== 'box') fillEdges(null);
    if (isFilled) fillMargin('');
    change({ area, corners: [], search: area === null ? wish.search : '' });
    page.refresh();
  }

  function dropped(files) {
    const input = document.getElementById('file');
    if (files.length === 0 || !input) return;
    input.files = files;
    choose({ kind: 'file', file: files[0] });
  }

  const fillEdges = (box) => { for (const name of EDGES) { const input = document.getElementById(name); if (input) input.value = box && Number.isFinite(box[name]) ? box[name] : ''; } };

  function drawn(box, isDone) {
    fillEdges(box);
    if (isDone) {
      shown = { kind: 'box', box };
      return choose(shown);
    }
    view.set({ box, squares: [], outline: null, polygon: [] });
    shown = { kind: 'box', box };
    return change({ area: shown });
  }

  function typed() {
    const texts = EDGES.map((name) => document.getElementById(name).value.trim());
    const box = boxOf(texts.map((text) => (text === '' ? NaN : Number(text))));
    const isRight = boxProblem(box) === null;
    view.set({ box: isRight ? box : null, squares: [], outline: null, polygon: [] });
    if (isRight) view.fit(fractions(EDGES.map((name) => box[name])), false);
    shown = texts.every((text) => text === '') ? null : { kind: 'box', box };
    change({ area: shown });
  }

  function setTools() {
    const start = (mode) => () => { const next = view.mode === mode ? null : mode; Object.assign(view, { mode: next }); wish.corners = []; view.set({ polygon: [] }); page.refresh(); };
    const n = wish.corners.length;
    const isPolygon = view.mode === 'polygon';
    view.setTools([[view.mode === 'box' ? w.drawing : w.draw, 'draw', view.mode === 'box', start('box')], [isPolygon ? w.corners(n) : w.drawPolygon, 'polygon', isPolygon, start('polygon')],
      ...(isPolygon && n >= 3 ? [[w.finish, 'finish', false, () => { shown = { kind: 'polygon', points: wish.corners }; choose(shown); }]] : []),
      ...(isPolygon && n > 0 ? [[w.undo, 'undo', false, () => { wish.corners.pop(); view.set({ polygon: wish.corners }); page.refresh(); }]] : [])]);
  }

  /** Asks for the tiles of the wish unless it is known or asked for; its answer is drawn when it comes. */
  function count(zoom) {
    const { area, margin, hasWaypoints } = wish;
    const key = JSON.stringify([linkOfArea(area), area?.file?.name, area?.file?.lastModified, zoom, margin, hasWaypoints]);
    if (wasCut || area === null) { measured = wasCut ? { problem: w.cut } : {}; return; }
    const problem = area.kind === 'box' ? boxProblem(area.box) : null;
    if (problem) { measured = { problem: w.problems[problem] ?? '' }; return; }
    if (measured.key === key && measured.area === area) return;
    const mine = { key, area, isComing: true };
    measured = mine;
    const refused = (error) => ({ problem: !error.status ? w.notRead : /only waypoints/.test(error.message) ? w.onlyWaypoints : error.message, error });
    measure(area, zoom, margin, hasWaypoints).catch(refused).then((found) => { if (measured === mine) counted(found, key, area); });
  }

  function counted(found, key, area) {
    turn += 1;
    page.refresh();
    // A line alone is a row of tiles; once its margin is removed, it stays so.
    if (found.format && !area.format && !wish.margin && hasLines(found)) {
      area.format = found.format;
      fillMargin(AROUND_LINES);
      forget();
      return;
    }
    measured = { ...found, key, area };
    if (found.format) area.format = found.format;
    view.set({ squares: found.squares ?? [], outline: found.outline ?? null });
    // A file that could not be read has no bounds yet: it moves the map once it has.
    if (!found.bounds) return;
    const [box, reach] = [fractions(found.bounds), `${wish.margin} ${wish.hasWaypoints}`];
    if (shown !== area || (reach !== around && !holds(view.view, box))) view.fit(box);
    shown = area;
    around = reach;
  }

  /** What the coordinator says of the job that would build the map, for those who may ask it. */
  async function plan(get, now, one, zoom, tiles) {
    // A job would publish a region in the main edition, which refuses another tileset than that of its package there. A map is a package of its own.
    const isTaken = ({ packages = [] }) => packages.some((item) => item.edition === '' && now.body.regions.includes(item.id) && item.versions[0].tileset !== one.id);
    if (now.body.regions && isTaken(await get('catalog.json'))) estimate = {};
    try {
      estimate ??= await (await ask('v1/estimates', { method: 'POST', body: { tileset: one.id, area: now.body, zooms: `${one.min_zoom}-${zoom}`, tile_limit: tiles } })).json();
    } catch (error) {
      if (![409, 422, 503].includes(error.status)) throw error;
      estimate = { warnings: error.status === 409 ? [] : [error.message] };
    }
    if (now !== measured) estimate = null;
  }

  const linkOf = (one, zoom, name = wish.name) => `#/extract?${new URLSearchParams({ begin: 1, ...linkOfArea(wish.area), tileset: one.id, zoom, ...(wish.margin ? { margin: wish.margin } : {}), ...(name ? { name } : {}),
    ...(wish.hasPMTiles ? { format: 'pmtiles' } : {}), ...(id ? { id } : {}), end: 1 })}`;

  /** `body`: the area whose tiles were shown. */
  async function build(one, zoom, name, body) {
    if (body !== measured.body) return;
    const ordered = wishes;
    try {
      const found = await orderMap({ tileset: one.id, area: body, max_zoom: zoom, name: name.slice(0, 60).replaceAll('/', '-'), ...(wish.hasPMTiles ? { formats: ['pmtiles'] } : {}) });
      // The address and the download are those of the present wish.
      if (ordered !== wishes) return note(w.earlier);
      id = found;
      // A file cannot be in the address, but its name can.
      history.replaceState(null, '', linkOf(one, zoom, wish.area.kind === 'file' ? name : wish.name));
    } catch (error) { note(error.message, true); }
    return page.refresh();
  }

  /** What a link asks for that is not here; `null` for nothing. No other tileset or zoom is taken in its place without being asked for. */
  function unknown(list, missing, one, zooms) {
    if (wish.tileset && one.id !== wish.tileset) return { key: 'tileset', text: w.noTileset(wish.tileset, missing.length > 0) };
    return wish.zoom !== null && !zooms.includes(wish.zoom) ? { key: 'deepest', text: w.noZoom(Number.isNaN(wish.zoom) ? query.get('zoom') : wish.zoom, one.min_zoom, one.max_zoom) } : null;
  }

  /** Another tileset; a zoom that was chosen and that it does not have is given up, one of a link is asked about. */
  function another(list, absent, tileset) {
    const { min_zoom: least, max_zoom: deepest } = list.find((other) => other.id === tileset);
    change({ tileset, zoom: !absent && (wish.zoom < least || wish.zoom > deepest) ? null : wish.zoom });
  }

  function choices(list, one, zooms, zoom, name, absent) {
    const select = (key, text, options, chosen, take) => el('label', { for: key }, text, el('select', { id: key, key, on: { change: (event) => take(event.target.value) } },
      // Without a choice nothing is chosen: else the first could not be.
      [...(absent?.key === key ? [['', w.choose]] : []), ...options].map(([value, label]) => el('option', { value, key: value, selected: value === (absent?.key === key ? '' : chosen) }, label))));
    const input = (key, text, value, more) => el('label', { for: key }, text, el('input', { id: key, key, type: 'text', value, autocomplete: 'off', on: { change: (event) => { if (key === 'margin') isFilled = false; change({ [key]: event.target.value.trim() }); } }, ...more }), key === 'margin' ? el('small', {}, w.metres) : null);
    return el('section', { class: 'card', key: 'choices' }, el('h2', {}, w.what), el('div', { class: 'buttons' },
      select('tileset', w.tileset, list.map((other) => [other.id, `${other.name ?? other.id}, ${other.min_zoom}–${other.max_zoom}`]), one.id, (value) => { if (value) another(list, absent, value); }),
      select('deepest', w.upTo, zooms.map((at) => [String(at), w.detail(at)]), String(zoom), (value) => { if (value) change({ zoom: Number(value) }); }),
      input('margin', wish.area?.kind === 'town' ? w.radius : w.margin, wish.margin, { placeholder: wish.area?.kind === 'town' ? AROUND_TOWN : w.noMargin }),
      input('name', w.name, wish.name, { placeholder: name, maxlength: 60 }),
      el('label', { class: 'line', for: 'pmtiles' }, el('input', { id: 'pmtiles', key: 'pmtiles', type: 'checkbox', checked: wish.hasPMTiles, on: { change: (event) => change({ hasPMTiles: event.target.checked }) } }), w.pmtiles)));
  }

  function limit(tiles, most) {
    return el('div', { class: 'card warn', key: 'limit' }, el('p', {}, w.tooMany(number(tiles), number(most))),
      el('p', {}, w.raise, ' ', el('code', {}, `packhorse up --extract-tiles ${Math.ceil(tiles / 5000) * 5000}`)));
  }

  async function draw(get) {
    const { tilesets: list, missing, extract_tiles: most, public_url: base } = await get('v1/tilesets');
    const one = list.find((other) => other.id === wish.tileset) ?? list[0];
    const lost = missing.length === 0 ? null : el('div', { class: 'card warn' }, el('p', {}, w.missing), el('ul', {}, missing.map((text) => el('li', {}, text))));
    if (!one) return [el('h1', {}, words.views.extract), lost ?? empty(w.none, el('code', {}, w.start))];
    const zooms = Array.from({ length: one.max_zoom - one.min_zoom + 1 }, (_, i) => one.min_zoom + i);
    const zoom = zooms.includes(wish.zoom) ? wish.zoom : one.max_zoom;
    const absent = unknown(list, missing, one, zooms);
    const results = await placeResults(get, wish.search, page.language);
    count(zoom);
    const now = measured;
    // The token is no longer known.
    if (now.error?.status === 401) throw now.error;
    if (wish.area?.kind === 'box') view.set({ box: boxProblem(wish.area.box) === null ? wish.area.box : null });
    if (wish.area?.kind === 'polygon') view.set({ polygon: wish.area.points });
    const isThere = now.counts !== undefined;
    const { body } = now;
    const tiles = isThere ? sumTiles(now.counts, one.min_zoom, zoom) : null;
    const isTooBig = tiles > most;
    // The deepest zoom that the limit allows; offered in the bar, which a phone shows at once.
    const fits = isTooBig ? deepestWithin(now.counts, one.min_zoom, most) : null;
    const known = isThere && !isTooBig && !absent ? await cost.of(get, { key: `${now.key} ${one.id} ${wish.hasPMTiles}`, tileset: one.id, area: now.body, zoom, tiles, formats: wish.hasPMTiles ? ['mbtiles', 'pmtiles'] : ['mbtiles'] }) : null;
    if (known && page.role !== 'client') await plan(get, now, one, zoom, tiles);
    const near = isThere && !isTooBig && !absent ? (await holders(get, now, one.id, zoom)).filter(({ item }) => item.id !== id) : [];
    // Others may not ask for the state of a map; one that is ready they see in the catalog.
    const state = id && page.mayExtract ? await stateOf(id) : null;
    const made = await madeOf(get);
    const name = nameOfArea(wish.area, w) || made?.name || w.map;
    const rate = state?.settled === undefined ? null : rateOf(state);
    if (state) announce(`${words.views.extract}: ${w.states[state.state] ?? state.state}`);
    setTools();
    // A map that is ready needs no token; a file cannot be in the address of one that is not.
    const shared = state?.state === 'published' ? pathOfMap(id) : wish.area && wish.area.kind !== 'file' && !absent ? linkOf(one, zoom) : null;
    const mayBuild = isThere && !isTooBig && !absent && !known?.isEmpty && state?.state !== 'building';
    return [el('h1', {}, words.views.extract), lost, absent ? el('div', { class: 'card warn', key: 'absent' }, el('p', {}, absent.text)) : null,
      el('div', { class: 'getmap' },
        el('div', { class: 'where' }, placeSearch(wish.search, (text) => { wish.search = text; page.refresh(); }), results === null ? null : areaCard.results(results, choose), kept(view.element, 'map')),
        el('div', { class: 'what' },
          areaCard.chosen(wish, made === null ? now : { ...now, said: w.made(name) }, { choose, typed, change, isTouch: matchMedia('(pointer: coarse)').matches }),
          choices(list, one, zooms, zoom, name, absent),
          isTooBig && !absent ? limit(tiles, most) : null,
          near.length === 0 ? null : el('div', { class: 'card', key: 'near' }, el('p', {}, w.holds), el('ul', {}, near.slice(0, 3).map(({ item, found }) => el('li', { key: item.id }, link(`${packageName(item, page.language)} (${size(found.size)})`, pathOf(item)))))),
          (estimate?.warnings ?? []).map((text) => el('p', { class: 'soft' }, text)),
          tiles === null || isTooBig ? null : details('tiles', estimate?.tiles === undefined ? null : facts([[w.tiles, number(estimate.tiles)], [words.job.batches, number(estimate.batches)]]),
            table(w.perZoom, [[words.pack.zoom, (at) => at], [w.tiles, (at) => number(now.counts[at]), 'n']], zooms.filter((at) => at <= zoom), (at) => at)))),
      el('div', { class: 'act' },
        page.mayExtract ? button(w.build, 'build', () => build(one, zoom, wish.name || name, body), { class: state?.files || state?.url || fits !== null ? null : 'main', disabled: !mayBuild }) : el('span', { class: 'soft' }, w.noRole, ' ', button(words.signIn.other, 'sign-in', () => page.signIn())),
        el('span', { id: 'count', class: now.problem || isTooBig || absent ? 'bad' : null }, now.problem || (absent ? w.absent[absent.key] : now.isComing ? coming(wish.area) : made !== null ? w.made(name) : tiles === null ? w.noArea : w.limit(number(tiles), number(most)))),
        fits === null || absent ? null : button(w.fewer(fits), 'fewer', () => change({ zoom: fits }), { class: 'main' }),
        known === null ? null : drawCost(known),
        shared === null ? null : button(w.share, 'share', () => shareLink(shared, base)),
        state ? drawState(state, { name: wish.name || name, role: page.role, rate: rate === null ? null : short(rate) }) : null)];
  }

  return async (get) => {
    for (;;) {
      const begun = turn;
      const drawn = await draw(get);
      // Another wish, or an answer, came while the server was asked: what was read for the earlier one is not drawn.
      if (begun === turn) return drawn;
    }
  };
}
