// What lies below: MapLibre GL JS where the gateway has it, else vector tiles on a canvas.
import { ask } from './api.js';
import { tileBounds, unproject } from './geo.js';
import { loadLibrary, tileTemplate } from './library.js';
import { readTile } from './mvt.js';
import { words } from './words.js';

const TILE = 512;
const theme = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

/** Draws vector and raster tiles of `sources`: `{url, minZoom, maxZoom, paint, isRaster}`; later ones lie above. */
export class CanvasBase {
  constructor(container, sources) {
    this.canvas = document.createElement('canvas');
    this.canvas.className = 'base';
    container.prepend(this.canvas);
    this.sources = sources;
    this.tiles = new Map();
    this.text = words.map.own;
  }

  setSources(sources) {
    this.sources = sources;
    this.tiles.clear();
    this.render();
  }

  draw(view) {
    this.view = view;
    this.render();
  }

  render() {
    const { view, canvas } = this;
    if (!view) return;
    const ratio = window.devicePixelRatio || 1;
    canvas.width = Math.round(view.width * ratio);
    canvas.height = Math.round(view.height * ratio);
    // The processor draws: many small paths are slow where a graphics card is only emulated.
    const context = canvas.getContext('2d', { willReadFrequently: true });
    context.scale(ratio, ratio);
    context.fillStyle = theme('--sea');
    context.fillRect(0, 0, view.width, view.height);
    for (const source of this.sources) this.#source(context, view, source);
  }

  #source(context, view, source) {
    const zoom = Math.max(0, Math.min(source.maxZoom, Math.round(view.zoom)));
    if (zoom < source.minZoom) return;
    const n = 2 ** zoom;
    const [west, north] = [view.west * n, view.north * n];
    const [across, down] = [(view.width / view.scale) * n, (view.height / view.scale) * n];
    if (across > 40 || down > 40) return;
    for (let y = Math.max(0, Math.floor(north)); y <= Math.min(n - 1, Math.floor(north + down)); y += 1) {
      for (let x = Math.max(0, Math.floor(west)); x <= Math.min(n - 1, Math.floor(west + across)); x += 1) {
        const tile = this.#tile(source, zoom, x, y);
        if (!tile) continue;
        const side = view.scale / n;
        context.save();
        context.translate((x / n - view.west) * view.scale, (y / n - view.north) * view.scale);
        context.beginPath();
        context.rect(0, 0, side + 0.5, side + 0.5);
        context.clip();
        if (tile instanceof ImageBitmap) context.drawImage(tile, 0, 0, side, side);
        else paint(context, tile, side, source.paint);
        context.restore();
      }
    }
  }

  #tile(source, zoom, x, y) {
    if (source.has && !source.has(zoom, x, y)) return null;
    const path = source.url.replace('{z}', zoom).replace('{x}', x).replace('{y}', y);
    if (this.tiles.has(path)) return this.tiles.get(path);
    if (this.tiles.size > 300) this.tiles.delete(this.tiles.keys().next().value);
    this.tiles.set(path, null);
    this.#load(path, source).then((tile) => {
      this.tiles.set(path, tile);
      cancelAnimationFrame(this.frame);
      this.frame = requestAnimationFrame(() => this.render());
    });
    return null;
  }

  async #load(path, source) {
    try {
      const response = await ask(path);
      if (response.status === 204) return null;
      return source.isRaster ? await createImageBitmap(await response.blob())
        : readTile(new Uint8Array(await response.arrayBuffer()));
    } catch {
      // A tile outside of the package, or a damaged one, is left blank.
      return null;
    }
  }

  /** The features of the loaded tiles at a place in pixels: the layers and texts of points and areas. */
  features(x, y) {
    const { view } = this;
    const found = [];
    const source = this.sources.at(-1);
    if (!source || source.isRaster) return found;
    const zoom = Math.max(source.minZoom, Math.min(source.maxZoom, Math.round(view.zoom)));
    const n = 2 ** zoom;
    const [column, row] = [(view.west + x / view.scale) * n, (view.north + y / view.scale) * n];
    const tile = this.#tile(source, zoom, Math.floor(column), Math.floor(row));
    for (const [name, layer] of tile ?? []) {
      const at = [(column % 1) * layer.extent, (row % 1) * layer.extent];
      for (const feature of layer.features) {
        if (feature.type === 3 && isInside(feature.parts, at)) found.push({ layer: name, properties: feature.properties });
      }
    }
    return found;
  }

  remove() { this.canvas.remove(); }
}

function isInside(parts, [x, y]) {
  let inside = false;
  for (const part of parts) {
    for (let i = 0, j = part.length - 2; i < part.length; j = i, i += 2) {
      if ((part[i + 1] > y) !== (part[j + 1] > y)
        && x < ((part[j] - part[i]) * (y - part[i + 1])) / (part[j + 1] - part[i + 1]) + part[i]) inside = !inside;
    }
  }
  return inside;
}

function paint(context, layers, side, style) {
  for (const [name, layer] of layers) {
    const look = style(name);
    if (!look) continue;
    const scale = side / layer.extent;
    for (const feature of layer.features) {
      context.beginPath();
      for (const part of feature.parts) {
        if (feature.type === 1) {
          context.rect(part[0] * scale - 1.5, part[1] * scale - 1.5, 3, 3);
          continue;
        }
        for (let i = 0; i < part.length; i += 2) {
          if (i === 0) context.moveTo(part[0] * scale, part[1] * scale);
          else context.lineTo(part[i] * scale, part[i + 1] * scale);
        }
      }
      if (look.fill && feature.type !== 2) { context.fillStyle = theme(look.fill); context.fill('evenodd'); }
      if (look.line && feature.type !== 1) { context.strokeStyle = theme(look.line); context.lineWidth = look.width ?? 1; context.stroke(); }
    }
  }
}

/** The embedded outlines. */
export const WORLD = {
  url: 'world/{z}/{x}/{y}.pbf', minZoom: 0, maxZoom: 14,
  paint: (layer) => ({ countries: { fill: '--land', line: '--border', width: 1.2 }, regions: { line: '--border', width: 0.5 } })[layer],
};

/** The tiles of a package in plain colours, by the names that vector tiles of maps have. `has`: which tiles there are. */
export function packageSource(tileJSON, has) {
  const colours = [[/water|ocean|sea|lake/, { fill: '--sea' }], [/building/, { fill: '--building' }], [/road|transport|street|rail|path/, { line: '--road', width: 1 }],
    [/bound|border|admin/, { line: '--border', width: 1 }], [/wood|forest|landcover|park|grass/, { fill: '--wood' }], [/label|place|poi|name|point/, { fill: '--road' }],
    [/countr|land|region/, { fill: '--land', line: '--border', width: 1 }]];
  const url = localPath(tileJSON.tiles[0]);
  return {
    url, has, minZoom: tileJSON.minzoom ?? 0, maxZoom: tileJSON.maxzoom ?? 14,
    isRaster: /\.(png|jpe?g|webp|avif)/.test(url),
    paint: (name) => (colours.find(([pattern]) => pattern.test(name)) ?? [null, { line: '--road', width: 0.7 }])[1],
  };
}

/** The address below this page: the gateway may name another host for itself than the browser. */
export function localPath(address) {
  const url = new URL(address, location.href);
  return (url.pathname + url.search).replace(/%7B/gi, '{').replace(/%7D/gi, '}').replace(/^\//, '');
}

/** MapLibre as the lower picture; it takes no input, the view above moves it. */
export class LibraryBase {
  /** Resolves when the map is drawn; rejects with the reason in words. `style`: an address or a document. */
  static async make(container, style, view) {
    const library = await loadLibrary();
    const place = document.createElement('div');
    place.className = 'base';
    container.prepend(place);
    const map = new library.Map({
      container: place, style, interactive: false, attributionControl: false, fadeDuration: 0, renderWorldCopies: false,
      transformRequest: (url) => (/^https?:/.test(url) ? { url: new URL(localPath(url), location.href).href } : undefined), ...camera(view),
    });
    let failure;
    map.on('error', (event) => { failure = event.error; });
    return new Promise((resolve, reject) => {
      // Without `worker-src blob:` the library neither loads nor says why.
      const watchdog = setTimeout(() => { map.remove(); place.remove(); reject(new Error(failure ? words.map.failed : words.map.slow)); }, 8000);
      map.once('load', () => { clearTimeout(watchdog); resolve(new LibraryBase(map, place, library)); });
    });
  }

  constructor(map, place, library) {
    this.map = map;
    this.place = place;
    this.text = words.map.library(library.getVersion());
  }

  draw(view) {
    this.map.resize();
    this.map.jumpTo(camera(view));
  }

  features(x, y) {
    return this.map.queryRenderedFeatures([x, y]).slice(0, 20).map((one) => ({ layer: one.sourceLayer || one.layer.id, properties: one.properties }));
  }

  setBorders(isShown) { this.map.showTileBoundaries = isShown; }

  remove() {
    this.map.remove();
    this.place.remove();
  }
}

function camera(view) {
  const { longitude, latitude } = unproject(view.x, view.y);
  return { center: [longitude, latitude], zoom: view.zoom };
}

/** A plain MapLibre style of the layers that a TileJSON names; `path`: its `packageSource`. */
export function plainStyle(tileJSON, path) {
  const tiles = [tileTemplate(path)];
  const source = { type: path.isRaster ? 'raster' : 'vector', tiles, minzoom: path.minZoom, maxzoom: path.maxZoom, tileSize: path.isRaster ? tileJSON.tileSize ?? 256 : 512 };
  if (tileJSON.encoding === 'mlt') source.encoding = 'mlt';
  const layers = [{ id: 'sea', type: 'background', paint: { 'background-color': theme('--sea') } }];
  if (path.isRaster) layers.push({ id: 'tiles', type: 'raster', source: 'package' });
  for (const { id } of path.isRaster ? [] : tileJSON.vector_layers ?? []) {
    const look = path.paint(id);
    const shared = { source: 'package', 'source-layer': id };
    if (look.fill) layers.push({ id: `${id} fill`, type: 'fill', ...shared, filter: ['==', ['geometry-type'], 'Polygon'], paint: { 'fill-color': theme(look.fill) } });
    if (look.line) layers.push({ id: `${id} line`, type: 'line', ...shared, paint: { 'line-color': theme(look.line), 'line-width': look.width ?? 1 } });
    if (look.fill) layers.push({ id: `${id} point`, type: 'circle', ...shared, filter: ['==', ['geometry-type'], 'Point'], paint: { 'circle-radius': 2, 'circle-color': theme('--road') } });
  }
  return { version: 8, sources: { package: source }, layers };
}

export { TILE, tileBounds };
