// The lower picture of a map where MapLibre GL JS is not there: tiles on a canvas.
import { ask } from './api.js';
import { placeLabels } from './labels.js';
import { theme } from './mapstyle.js';
import { readTile } from './mvt.js';
import { words } from './words.js';

/** Draws vector and raster tiles of `sources` (see mapstyle.js), later ones above, and names over all of them. */
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
    const labels = [];
    for (const source of this.sources) this.#source(context, view, source, labels);
    drawLabels(context, labels);
  }

  #source(context, view, source, labels) {
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
        if (source.label && !(tile instanceof ImageBitmap)) collect(labels, tile, source, { left: (x / n - view.west) * view.scale, top: (y / n - view.north) * view.scale, side, view });
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
    for (const [name, layer] of tile instanceof Map ? tile : []) {
      const at = [(column % 1) * layer.extent, (row % 1) * layer.extent];
      for (const feature of layer.features) {
        const isHere = feature.type === 3 ? isInside(feature.parts, at) : feature.parts.some((part) => isNear(part, at, (6 * layer.extent * n) / view.scale));
        if (isHere) found.push({ layer: name, properties: feature.properties });
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

/** Whether a line or point comes close to a place. */
function isNear(part, [x, y], reach) {
  for (let i = 0; i + 1 < part.length; i += 2) {
    const j = Math.max(0, i - 2);
    const [dx, dy] = [part[i] - part[j], part[i + 1] - part[j + 1]];
    const along = Math.max(0, Math.min(1, ((x - part[j]) * dx + (y - part[j + 1]) * dy) / (dx * dx + dy * dy || 1)));
    if (Math.hypot(x - part[j] - along * dx, y - part[j + 1] - along * dy) <= reach) return true;
  }
  return false;
}

/** The names of the points of a tile, with their places on the map. */
function collect(labels, layers, source, { left, top, side, view }) {
  for (const [name, layer] of layers) {
    for (const feature of layer.features) {
      const label = feature.type === 1 ? source.label(name, feature.properties) : null;
      if (!label) continue;
      const [x, y] = [left + (feature.parts[0][0] / layer.extent) * side, top + (feature.parts[0][1] / layer.extent) * side];
      if (x > 0 && y > 0 && x < view.width && y < view.height) labels.push({ ...label, x, y });
    }
  }
}

const fontOf = (label) => `${label.size}px system-ui, "Liberation Sans", sans-serif`;

function drawLabels(context, labels) {
  const widthOf = (label) => { context.font = fontOf(label); return context.measureText(label.text).width; };
  context.textAlign = 'center';
  context.lineJoin = 'round';
  context.lineWidth = 3;
  for (const label of placeLabels(labels, widthOf)) {
    context.font = fontOf(label);
    context.strokeStyle = theme('--card');
    context.fillStyle = theme('--text');
    const y = label.y + (label.isTown ? -5 : label.size / 3);
    context.strokeText(label.text, label.x, y);
    context.fillText(label.text, label.x, y);
    if (label.isTown) context.fillRect(label.x - 1.5, label.y - 1.5, 3, 3);
  }
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
