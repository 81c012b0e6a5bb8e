// The area of a map: a box, a polygon, a region, a town, or a file. How it is written in a link, and what the server says of it.
import { ask } from './api.js';
import { boundsAround, boxProblem, countByZoom, countTiles, maskSquares, project } from './geo.js';

export const EDGES = ['west', 'south', 'east', 'north'];
export const boxOf = (bounds) => Object.fromEntries(EDGES.map((name, i) => [name, bounds[i]]));
/** The deepest zoom of the tiles that the server counts; deeper ones have four times as many. */
const DEEPEST = 14;
/** More squares than the longest mask of the server has. */
const MOST_SQUARES = 400_000;
/** The distance around a town that is taken when none is chosen. */
export const AROUND_TOWN = '20km';
/** The distance around lines that a file is given first. */
export const AROUND_LINES = '1km';
/** Degrees as links have them; the empty rest of a link that was cut is no number. */
const DEGREES = /^-?\d+(\.\d+)?(e-?\d+)?$/;
const degrees = (text) => text.split(',').map((one) => (DEGREES.test(one) ? Number(one) : NaN));
const round = (value) => Math.round(value * 1e4) / 1e4;

/** The area that a link names; `null` for none. */
export function areaOfLink(query) {
  if (query.get('bbox')) {
    const edges = degrees(query.get('bbox'));
    return edges.length === 4 && boxProblem(boxOf(edges)) === null ? { kind: 'box', box: boxOf(edges) } : null;
  }
  if (query.get('region')) return { kind: 'region', id: query.get('region'), name: query.get('place') || query.get('region') };
  const points = (query.get('polygon') ?? query.get('town') ?? '').split(';').map(degrees);
  const isRight = points.every(([longitude, latitude, ...more]) => more.length === 0 && Math.abs(longitude) <= 180 && Math.abs(latitude) <= 85);
  if (query.get('polygon') && isRight && points.length >= 3) return { kind: 'polygon', points };
  if (query.get('town') && isRight && points.length === 1) return { kind: 'town', name: query.get('place') ?? '', longitude: points[0][0], latitude: points[0][1] };
  return null;
}

/** Whether a link lost a part on its way: it has an area that cannot be read, or the mark of its begin without that of its end. */
export const isCut = (query) => (['bbox', 'region', 'polygon', 'town'].some((name) => query.has(name)) && areaOfLink(query) === null) || (query.has('begin') && query.get('end') !== '1');

/** What a link says of an area; a file cannot be in it. */
export function linkOfArea(area) {
  switch (area?.kind) {
    case 'box': return { bbox: EDGES.map((name) => area.box[name]).join(',') };
    case 'region': return { region: area.id, place: area.name };
    case 'town': return { town: `${area.longitude},${area.latitude}`, place: area.name };
    case 'polygon': return { polygon: area.points.map(([x, y]) => `${round(x)},${round(y)}`).join(';') };
    default: return {};
  }
}

/** What people call the area. */
export function nameOfArea(area, words) {
  switch (area?.kind) {
    case 'box': return `${words.box} ${round(area.box.west)} ${round(area.box.south)}`;
    case 'polygon': return `${words.polygon} ${round(area.points[0][0])} ${round(area.points[0][1])}`;
    case 'file': return area.file.name.replace(/\.[^.]+$/, '');
    default: return area?.name ?? '';
  }
}

/** A drawn or typed area as a file for the server. */
function geoJSON(area) {
  if (area.kind === 'town') return { type: 'Point', coordinates: [area.longitude, area.latitude] };
  const { west, south, east, north } = area.kind === 'box' ? area.box : {};
  const ring = area.kind === 'box' ? [[west, south], [east, south], [east, north], [west, north]] : area.points;
  return { type: 'Polygon', coordinates: [[...ring, ring[0]]] };
}

async function regionTiles(area, zoom, margin) {
  const wish = new URLSearchParams({ zoom, ...(margin ? { margin } : {}) });
  const { counts, mask, bounds } = await (await ask(`v1/regions/${encodeURIComponent(area.id)}/tiles?${wish}`)).json();
  return { counts, bounds, squares: maskSquares(mask, MOST_SQUARES), isCoarse: true, body: { regions: [area.id], ...(margin ? { margin } : {}) } };
}

async function fileTiles(area, zoom, margin, hasWaypoints) {
  const wish = new URLSearchParams({ zoom, ...(hasWaypoints ? { waypoints: 1 } : {}) });
  const around = margin || (area.kind === 'town' ? AROUND_TOWN : '');
  if (around) wish.set('margin', around);
  const body = area.kind === 'file' ? area.file : new Blob([JSON.stringify(geoJSON(area))]);
  // What the person has; what is drawn or typed is on the map already.
  if (['file', 'town'].includes(area.kind)) wish.set('outline', 1);
  const { format, bounds, mask, outline } = await (await ask(`v1/areas?${wish}`, { method: 'POST', body })).json();
  const squares = maskSquares(mask, MOST_SQUARES);
  const place = ([longitude, latitude]) => project(longitude, latitude);
  return {
    format, bounds, squares, counts: countByZoom(squares, 22), body: { mask },
    outline: outline ? { lines: outline.lines.map((line) => line.map(place)), points: outline.points.map(place) } : null,
  };
}

/**
 * How many tiles an area has at each zoom up to `zoom`, its bounds, its squares for the map, and what a request says of it; of a file and a town also the lines
 * and places, as fractions of the world.
 * A box alone is counted here. Throws an `APIError`.
 */
export async function measure(area, zoom, margin, hasWaypoints) {
  const deepest = Math.min(zoom, DEEPEST);
  if (area.kind === 'box' && !margin) {
    const counts = Array.from({ length: zoom + 1 }, (_, at) => countTiles(area.box, at, at));
    return { counts, bounds: EDGES.map((name) => area.box[name]), squares: [], body: { bbox: EDGES.map((name) => area.box[name]) } };
  }
  const found = area.kind === 'region' ? await regionTiles(area, deepest, margin) : await fileTiles(area, deepest, margin, hasWaypoints);
  for (let at = found.counts.length; at <= zoom; at += 1) found.counts[at] = 4 * found.counts[at - 1];
  return found;
}

/** Whether a file has lines: those of GPX, and others that do not end where they begin, as borders do. */
export const hasLines = ({ format, outline }) => (outline?.lines ?? []).some((line) => format === 'gpx' || line[0].x !== line.at(-1).x || line[0].y !== line.at(-1).y);

/** Tiles from a zoom to another. */
export const sumTiles = (counts, from, to) => counts.slice(from, to + 1).reduce((sum, n) => sum + n, 0);

/** The deepest zoom at which an area has at most `most` tiles; `null` when there is none. */
export function deepestWithin(counts, from, most) {
  let sum = 0;
  let found = null;
  for (let zoom = from; zoom < counts.length; zoom += 1) {
    sum += counts[zoom];
    if (sum > most) break;
    found = zoom;
  }
  return found;
}

/** The places that a search found: regions, then towns. Names that hold the text stand alone when there are any. */
export function placesOf({ regions, towns }, text) {
  const all = [...regions.slice(0, 8).map((one) => ({ kind: 'region', id: one.id, name: one.name, path: one.path, bounds: one.bounds, names: Object.values(one.names) })),
    ...towns.slice(0, 8).map((one) => ({ kind: 'town', id: one.id, name: one.name, path: one.region, longitude: one.longitude, latitude: one.latitude, bounds: boundsAround(one), names: [one.name] }))];
  const wanted = text.trim().toLowerCase();
  const exact = all.filter((one) => one.kind === 'region' && one.names.some((name) => name.toLowerCase() === wanted));
  return exact.length > 0 ? all.filter((one) => exact.includes(one) || one.kind === 'town') : all;
}

/** The name of a downloaded file. */
export const fileName = (name, format) => `${name.normalize('NFC').replace(/[^\p{L}\p{N}._]+/gu, '-').replace(/^[-.]+|[-.]+$/g, '') || 'map'}.${format}`;
