// The lower picture of a map by MapLibre GL JS. It takes no input: the view above moves it.
import { token } from './api.js';
import { unproject } from './geo.js';
import { loadLibrary } from './library.js';
import { localPath } from './mapstyle.js';
import { words } from './words.js';

/** Milliseconds until a map is drawn; the canvas is shown for so long, so the number may be large. */
const PATIENCE = 60_000;

export class LibraryBase {
  /** Resolves when the map is drawn; rejects with the reason in words. `style`: a document; `fallback`: one for a style that is refused. */
  static async make(container, { style, fallback }, view) {
    const library = await loadLibrary();
    const place = document.createElement('div');
    place.className = 'base';
    container.prepend(place);
    const map = new library.Map({
      container: place, style, interactive: false, attributionControl: false, fadeDuration: 0, renderWorldCopies: false, transformRequest: request, ...camera(view),
    });
    const base = new LibraryBase(map, place, library, fallback);
    return new Promise((resolve, reject) => {
      // Without `worker-src blob:` the library neither loads nor says why.
      const watchdog = setTimeout(() => { base.remove(); reject(new Error(base.failure ? words.map.failed : words.map.slow)); }, PATIENCE);
      map.once('load', () => { clearTimeout(watchdog); resolve(base); });
    });
  }

  constructor(map, place, library, fallback) {
    Object.assign(this, { map, place, fallback, text: words.map.library(library.getVersion()) });
    map.on('error', ({ error }) => {
      this.failure = error;
      // A style that the library refuses never loads; a tile that cannot be read leaves a hole only.
      if (this.fallback && !map.isStyleLoaded()) this.setStyle({ style: this.fallback });
    });
  }

  setStyle({ style, fallback = null }) {
    this.fallback = fallback;
    this.map.setStyle(style, { diff: false });
  }

  draw(view) {
    // Another size makes a new canvas, which costs more than to paint.
    const size = `${view.width} ${view.height}`;
    if (this.size !== size) this.map.resize();
    this.size = size;
    this.map.jumpTo(camera(view));
  }

  /** The features at a place in pixels, without those of the world below. */
  features(x, y) {
    const box = [[x - 4, y - 4], [x + 4, y + 4]];
    const seen = new Set();
    return this.map.queryRenderedFeatures(box).filter((one) => one.source !== 'world' && one.source !== 'towns').flatMap((one) => {
      const found = { layer: one.sourceLayer || one.layer.id, properties: one.properties };
      const key = JSON.stringify(found);
      // A feature that several layers of the style draw is one feature.
      if (seen.has(key)) return [];
      seen.add(key);
      return [found];
    }).slice(0, 20);
  }

  remove() {
    this.map.remove();
    this.place.remove();
  }
}

function camera(view) {
  const { longitude, latitude } = unproject(view.x, view.y);
  return { center: [longitude, latitude], zoom: view.zoom };
}

/** Everything is asked for below this page, with the token, which a private catalog needs. */
function request(url) {
  if (!/^https?:/.test(url)) return undefined;
  return { url: new URL(localPath(url), location.href).href, ...(token.get() ? { headers: { Authorization: `Bearer ${token.get()}` } } : {}) };
}
