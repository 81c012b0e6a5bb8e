// MapLibre GL JS, where the gateway has it: loaded at the first map, and asked for no tile that a package does not have.
import { ask } from './api.js';
import { loadGlyphs } from './glyphs.js';
import { words } from './words.js';

const FILES = {
  script: ['ui/lib/maplibre-gl.js', 'sha256-44DerlYLxdGCvkEkobnN1QhjBLDLgskqWvI9AYqoEBU='],
  style: ['ui/lib/maplibre-gl.css', 'sha256-eSrJl9z2rm9kPrTi3uRjDIXnBWUmvY+4X/6Dxn1sQbQ='],
};
/** By name: `{url, has(zoom, x, y), isRaster}`. */
const tiles = new Map();
let loading;

/** The library; rejects with the reason in words. The browser compares the SHA-256 before it runs the script. */
export function loadLibrary() {
  loading ??= load();
  return loading;
}

async function load() {
  if (!document.createElement('canvas').getContext('webgl2')) throw new Error(words.map.noWebGL);
  // A gateway says what it has, so that a missing library is no error in the console.
  const { library } = await (await ask('ui/lib/files.json')).json().catch(() => ({}));
  if (!library) throw new Error(words.map.noLibrary);
  const [href, digest] = FILES.style;
  document.head.append(Object.assign(document.createElement('link'), { rel: 'stylesheet', href, integrity: digest }));
  await new Promise((resolve, reject) => {
    const script = Object.assign(document.createElement('script'), { src: FILES.script[0], integrity: FILES.script[1] });
    script.addEventListener('load', resolve);
    script.addEventListener('error', () => reject(new Error(words.map.noLibrary)));
    document.head.append(script);
  });
  if (!window.maplibregl) throw new Error(words.map.noLibrary);
  window.maplibregl.addProtocol('tiles', loadTile);
  window.maplibregl.addProtocol('glyphs', loadGlyphs);
  return window.maplibregl;
}

/** A template for the tiles of a package, a `packageSource`: those outside of it are not asked for. `has`: see `tilesOf` of geo.js. */
export function tileTemplate({ url, has, isRaster }) {
  const name = String(tiles.size);
  tiles.set(name, { url, has, isRaster });
  return `tiles://${name}/{z}/{x}/{y}`;
}

async function loadTile({ url }, { signal }) {
  const [name, zoom, x, y] = url.slice('tiles://'.length).split('/');
  const source = tiles.get(name);
  const none = { data: new ArrayBuffer(0) };
  if (!source?.has(Number(zoom), Number(x), Number(y))) {
    // A picture that is not there makes the map draw its parent; vector tiles have no such rule.
    if (source?.isRaster) throw Object.assign(new Error('outside of the package'), { status: 404 });
    return none;
  }
  const response = await ask(source.url.replace('{z}', zoom).replace('{x}', x).replace('{y}', y), { signal });
  return response.status === 204 ? none : { data: await response.arrayBuffer() };
}
