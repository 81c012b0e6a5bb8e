// What maps look like: the embedded world, packages over it, and the same as styles of MapLibre.
import { nameOfFeature } from './labels.js';
import { tileTemplate } from './library.js';

export const theme = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

/** The address below this page: the gateway may name another host for itself than the browser. */
export function localPath(address) {
  const url = new URL(address, location.href);
  return (url.pathname + url.search).replace(/%7B/gi, '{').replace(/%7D/gi, '}').replace(/^\//, '');
}

/**
 * The embedded world, in two sources: `{url, minZoom, maxZoom, paint(layer), label(layer, properties)}`.
 * `label` gives `{text, weight, size}` of points with a name.
 */
export const world = (language) => [
  {
    url: `world/${language}/tiles/{z}/{x}/{y}.pbf`, minZoom: 0, maxZoom: 14,
    paint: (layer) => ({ countries: { fill: '--land', line: '--border', width: 1.2 }, regions: { line: '--border', width: 0.5 } })[layer],
    label: (layer, { name, kind, rank }) => (layer === 'labels' && name ? { text: name, weight: (kind === 'country' ? 2e9 : 1e6) - rank, size: kind === 'country' ? 15 : 12 } : null),
  },
  {
    url: 'world/towns/{z}/{x}/{y}.pbf', minZoom: 0, maxZoom: 14, paint: () => null,
    label: (layer, { name, population }) => ({ text: name, weight: population, size: population > 500_000 ? 14 : 12, isTown: true }),
  },
];

/** How layers look, by the names that vector tiles of maps have. */
const LOOKS = [[/water|ocean|sea|lake/, { fill: '--sea' }], [/building/, { fill: '--building' }], [/road|transport|street|rail|path/, { line: '--road', width: 1 }],
  [/bound|border|admin/, { line: '--border', width: 1 }], [/wood|forest|landcover|park|grass/, { fill: '--wood' }], [/label|place|poi|name|point/, { fill: '--road' }],
  [/countr|land|region/, { fill: '--land', line: '--border', width: 1 }]];
const look = (layer) => (LOOKS.find(([pattern]) => pattern.test(layer)) ?? [null, { line: '--road', width: 0.7 }])[1];

/** The tiles of a package in plain colours. `has`: which tiles there are, see `tilesOf` of geo.js. */
export function packageSource(tileJSON, has, language) {
  const url = localPath(tileJSON.tiles[0]);
  return {
    url, has, minZoom: tileJSON.minzoom ?? 0, maxZoom: tileJSON.maxzoom ?? 14, isRaster: /\.(png|jpe?g|webp|avif)/.test(url), paint: look,
    label: (layer, properties) => { const text = nameOfFeature(properties, language); return text ? { text, weight: 1 / (properties.rank ?? 50), size: 12 } : null; },
  };
}

const FONT = ['Page Regular'];
const text = (id, source, layer, field, more = {}) => ({
  id, type: 'symbol', source, 'source-layer': layer, ...more,
  layout: { 'text-field': field, 'text-font': FONT, 'text-size': 12, 'text-max-width': 8, ...more.layout },
  paint: { 'text-color': theme('--text'), 'text-halo-color': theme('--card'), 'text-halo-width': 1.4 },
});

function worldLayers() {
  const shared = (id, layer) => ({ id: `world ${id}`, source: 'world', 'source-layer': layer });
  return [
    { id: 'world sea', type: 'background', paint: { 'background-color': theme('--sea') } },
    { ...shared('land', 'countries'), type: 'fill', paint: { 'fill-color': theme('--land') } },
    { ...shared('regions', 'regions'), type: 'line', paint: { 'line-color': theme('--border'), 'line-width': 0.5 } },
    { ...shared('borders', 'countries'), type: 'line', paint: { 'line-color': theme('--border'), 'line-width': 1.2 } },
  ];
}

function worldLabels() {
  const of = (kind) => (kind === 'country' ? ['==', ['get', 'kind'], 'country'] : ['!=', ['get', 'kind'], 'country']);
  const places = { 'text-size': ['step', ['get', 'population'], 11, 50000, 12, 500000, 14], 'symbol-sort-key': ['-', 0, ['get', 'population']], 'text-anchor': 'bottom', 'text-offset': [0, -0.3] };
  return [
    { id: 'world dots', type: 'circle', source: 'towns', 'source-layer': 'towns', paint: { 'circle-radius': 2, 'circle-color': theme('--text'), 'circle-opacity': 0.7 } },
    text('world towns', 'towns', 'towns', ['get', 'name'], { layout: places }),
    text('world region names', 'world', 'labels', ['get', 'name'], { filter: of('region'), minzoom: 5, layout: { 'text-size': 11, 'symbol-sort-key': ['get', 'rank'] } }),
    text('world country names', 'world', 'labels', ['get', 'name'], { filter: of('country'), layout: { 'text-size': 15, 'text-transform': 'uppercase', 'symbol-sort-key': ['get', 'rank'] } }),
  ];
}

/** The world as a style. `over`: sources, layers above its ground, and names above its own, which MapLibre gives their places first. */
export function worldStyle(language, over = { sources: {}, layers: [], names: [] }) {
  const root = new URL('.', location.href).href;
  const [ground, towns] = world(language).map(({ url, maxZoom }) => ({ type: 'vector', tiles: [root + url], maxzoom: maxZoom }));
  return {
    version: 8, glyphs: 'glyphs://{fontstack}/{range}', sources: { world: ground, towns, ...over.sources },
    layers: [...worldLayers(), ...over.layers, ...worldLabels(), ...over.names],
  };
}

/** The source of a package for MapLibre. */
function sourceOf(path, tileJSON) {
  const source = { type: path.isRaster ? 'raster' : 'vector', tiles: [tileTemplate(path)], minzoom: path.minZoom, maxzoom: path.maxZoom };
  if (path.isRaster) source.tileSize = tileJSON.tileSize ?? 256;
  if (tileJSON.bounds) source.bounds = tileJSON.bounds;
  return tileJSON.encoding === 'mlt' ? { ...source, encoding: 'mlt' } : source;
}

/** A style of the layers that a TileJSON names, over the world; pictures as they are. `path`: the `packageSource`. */
export function packageStyle(tileJSON, path, language) {
  const layers = path.isRaster ? [{ id: 'tiles', type: 'raster', source: 'package' }] : [];
  const names = [];
  for (const { id, fields } of path.isRaster ? [] : tileJSON.vector_layers ?? []) {
    const { fill, line, width } = look(id);
    const shared = { source: 'package', 'source-layer': id };
    if (fill) layers.push({ id: `${id} fill`, type: 'fill', ...shared, filter: ['==', ['geometry-type'], 'Polygon'], paint: { 'fill-color': theme(fill) } });
    if (line) layers.push({ id: `${id} line`, type: 'line', ...shared, paint: { 'line-color': theme(line), 'line-width': width ?? 1 } });
    if (fill) layers.push({ id: `${id} point`, type: 'circle', ...shared, filter: ['==', ['geometry-type'], 'Point'], paint: { 'circle-radius': 2, 'circle-color': theme('--road') } });
    const keys = [`name:${language}`, `name_${language}`, 'name'].filter((key) => fields?.[key] !== undefined);
    if (keys.length === 0) continue;
    const field = ['to-string', ['coalesce', ...keys.map((key) => ['get', key]), '']];
    const sort = fields.rank === undefined ? {} : { 'symbol-sort-key': ['to-number', ['get', 'rank'], 99] };
    names.push(text(`${id} names`, 'package', id, field, { filter: ['==', ['geometry-type'], 'Point'], layout: { 'text-anchor': 'bottom', 'text-offset': [0, -0.2], ...sort } }),
      text(`${id} lines`, 'package', id, field, { filter: ['==', ['geometry-type'], 'LineString'], minzoom: 12, layout: { 'symbol-placement': 'line' } }));
  }
  return worldStyle(language, { sources: { package: sourceOf(path, tileJSON) }, layers, names });
}

/** A style of the catalog with the tiles of one version of a package; `null` when it is not for the tileset. */
export function catalogStyle(style, tileset, tileJSON, path) {
  const ours = Object.entries(style.sources ?? {}).filter(([, one]) => new RegExp(`/tiles/~${tileset.replace(/[^\w-]/g, '\\$&')}\\.json`).test(one.url ?? ''));
  if (ours.length === 0) return null;
  const { url: _, ...more } = ours[0][1];
  const found = ours.map(([name]) => [name, { ...more, ...sourceOf(path, tileJSON) }]);
  return { glyphs: 'glyphs://{fontstack}/{range}', ...style, sources: { ...style.sources, ...Object.fromEntries(found) } };
}
