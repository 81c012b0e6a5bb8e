// A map that is moved by pointer and keys, with pictures over a base map: cells, tiles, a box.
import { CanvasBase } from './canvasbase.js';
import { button, el, morph } from './dom.js';
import { boxOfCorners, boxParts, project, tileBounds, unproject } from './geo.js';
import { nameOfFeature } from './labels.js';
import { language } from './language.js';
import { LibraryBase } from './librarybase.js';
import { world, worldStyle } from './mapstyle.js';
import { words } from './words.js';

const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const MOST_ZOOM = 18;
/** Pixels of a tile. */
const TILE = 512;

export class MapView {
  /** `label` names the map for screen readers; `onBox` gets a box that was drawn, `onPoint` a corner of a polygon in degrees, `onClick` a place in pixels; `hasTip` shows features under the pointer. */
  constructor({ label, onBox = null, onPoint = null, onClick = null, hasTip = false }) {
    this.camera = { x: 0.5, y: 0.35, zoom: 0 };
    this.pictures = {};
    /** What a pointer draws: `box`, `polygon` or nothing. */
    this.mode = null;
    this.onBox = onBox;
    this.onPoint = onPoint;
    this.onClick = onClick;
    this.hasTip = hasTip;
    this.over = el('canvas', { class: 'over', tabindex: 0, role: 'application', 'aria-label': `${label}. ${words.map.label}` });
    this.caption = el('p', { class: 'caption' });
    this.tools = el('div', { class: 'tools' });
    this.tip = el('div', { class: 'tip', hidden: true });
    this.frame = el('div', { class: 'map' }, this.over, this.tools, this.tip,
      el('div', { class: 'zoom' }, button('+', 'zoom-in', () => this.zoomBy(1), { 'aria-label': words.map.in }),
        button('−', 'zoom-out', () => this.zoomBy(-1), { 'aria-label': words.map.out }),
        button('▣', 'zoom-all', () => this.home && this.fit(this.home), { 'aria-label': words.map.all })));
    this.element = el('div', { 'data-keep': '' }, this.frame, this.caption);
    this.base = new CanvasBase(this.frame, world(language()));
    this.#listen();
    this.sizes = new ResizeObserver(() => this.#resized());
    this.sizes.observe(this.frame);
    this.isAlive = true;
    this.setStyle(worldStyle(language()));
  }

  /** Shows buttons in a corner of the map: `[text, key, isPressed, click]`. */
  setTools(tools) {
    morph(this.tools, el('div', { class: 'tools' }, tools.map(([text, key, isPressed, click]) => button(text, key, click, { 'aria-pressed': String(isPressed) }))));
  }

  remove() {
    this.isAlive = false;
    this.sizes.disconnect();
    this.base.remove();
  }

  /** Shows a style with MapLibre when it can be had; the canvas stays otherwise, and the caption says why. `fallback`: a style for one that is refused. */
  setStyle(style, attribution = '', fallback = null) {
    Object.assign(this, { style: { style, fallback }, attribution });
    this.#say();
    if (this.base instanceof LibraryBase) this.base.setStyle(this.style);
    else this.making ??= this.#make();
  }

  /** Shows tiles over the world on the canvas; MapLibre has them in its style. */
  setSource(source) { this.base.setSources?.([...this.base.sources.slice(0, 2), source]); }

  async #make() {
    const style = this.style;
    try {
      const base = await LibraryBase.make(this.frame, style, this.#view());
      if (!this.isAlive) return base.remove();
      this.base.remove();
      this.base = base;
      if (this.style !== style) base.setStyle(this.style);
      this.#say();
      this.draw();
    } catch (error) {
      this.#say(error.message);
    }
    return undefined;
  }

  #say(reason) {
    this.reason = reason ?? this.reason;
    this.caption.textContent = [this.base.text + (this.base instanceof LibraryBase || !this.reason ? '' : ` (${this.reason})`), this.attribution, words.map.world].filter(Boolean).join(' · ');
  }

  #resized() {
    if (!this.hasSize && this.frame.clientWidth > 0) {
      this.hasSize = true;
      if (this.home) this.fit(this.home);
    }
    this.draw();
  }

  get scale() { return TILE * 2 ** this.camera.zoom; }

  #view() {
    const { clientWidth: width, clientHeight: height } = this.frame;
    const { x, y, zoom } = this.camera;
    return { x, y, zoom, width, height, scale: this.scale, west: x - width / 2 / this.scale, north: y - height / 2 / this.scale };
  }

  /** Shows a box in fractions of the world; `isHome` makes it what the button for everything shows. */
  fit(box, isHome = true) {
    if (!box) return;
    if (isHome) this.home = box;
    const width = Math.max(this.frame.clientWidth, 100);
    const height = Math.max(this.frame.clientHeight, 100);
    const wide = Math.max(box.east - box.west, 1e-7);
    const high = Math.max(box.south - box.north, 1e-7);
    const zoom = Math.log2(Math.min(width / wide, height / high) * 0.9 / TILE);
    this.move((box.west + box.east) / 2, (box.north + box.south) / 2, zoom);
  }

  move(x, y, zoom) {
    const least = Math.log2(Math.max(this.frame.clientWidth, 100) / TILE) - 1;
    this.camera = { x: Math.max(0, Math.min(1, x)), y: Math.max(0, Math.min(1, y)), zoom: Math.max(least, Math.min(MOST_ZOOM, zoom)) };
    this.draw();
  }

  /** Changes the zoom; the place at `px`, `py` stays where it is. */
  zoomBy(step, px = this.frame.clientWidth / 2, py = this.frame.clientHeight / 2) {
    const at = this.place(px, py);
    const zoom = Math.min(MOST_ZOOM, this.camera.zoom + step);
    const scale = TILE * 2 ** zoom;
    this.move(at.x - (px - this.frame.clientWidth / 2) / scale, at.y - (py - this.frame.clientHeight / 2) / scale, zoom);
  }

  /** The place of a pixel in fractions of the world. */
  place(px, py) {
    const view = this.#view();
    return { x: view.west + px / view.scale, y: view.north + py / view.scale };
  }

  /** Sets the pictures: `bands`, `squares` (tiles), `box` and `polygon` (corners) in degrees, `marks` (tiles with a cross). */
  set(pictures) {
    Object.assign(this.pictures, pictures);
    this.draw();
  }

  draw() {
    cancelAnimationFrame(this.next);
    this.next = requestAnimationFrame(() => this.#draw());
  }

  #draw() {
    const view = this.#view();
    if (!this.isAlive || view.width === 0) return;
    this.base.draw(view);
    const ratio = window.devicePixelRatio || 1;
    this.over.width = Math.round(view.width * ratio);
    this.over.height = Math.round(view.height * ratio);
    const context = this.over.getContext('2d', { willReadFrequently: true });
    context.scale(ratio, ratio);
    const rect = (bounds) => [(bounds.west - view.west) * view.scale, (bounds.north - view.north) * view.scale,
      (bounds.east - bounds.west) * view.scale, (bounds.south - bounds.north) * view.scale];
    for (const band of this.pictures.bands ?? []) drawBand(context, band, rect);
    context.strokeStyle = colour('--accent');
    context.fillStyle = colour('--mask');
    for (const { zoom, x, y } of this.pictures.squares ?? []) {
      const [left, top, width, height] = rect(tileBounds(zoom, x, y));
      context.fillRect(left, top, width, height);
      if (width > 6 && this.pictures.hasBorders) context.strokeRect(left, top, width, height);
    }
    for (const { zoom, x, y } of this.pictures.marks ?? []) cross(context, rect(tileBounds(zoom, x, y)));
    if (this.pictures.box) this.#drawBox(context, rect);
    if (this.pictures.polygon?.length > 0) this.#drawPolygon(context, view);
  }

  #drawBox(context, rect) {
    context.lineWidth = 2;
    context.setLineDash([6, 3]);
    for (const part of boxParts(this.pictures.box)) {
      const [first, last] = [project(part.west, part.north), project(part.east, part.south)];
      const at = rect({ west: first.x, north: first.y, east: last.x, south: last.y });
      context.fillRect(...at);
      context.strokeRect(...at);
    }
    context.setLineDash([]);
  }

  #drawPolygon(context, view) {
    const places = this.pictures.polygon.map(([longitude, latitude]) => project(longitude, latitude)).map(({ x, y }) => [(x - view.west) * view.scale, (y - view.north) * view.scale]);
    context.lineWidth = 2;
    context.beginPath();
    places.forEach(([x, y], i) => context[i === 0 ? 'moveTo' : 'lineTo'](x, y));
    context.closePath();
    context.fill();
    context.stroke();
    context.fillStyle = colour('--accent');
    for (const [x, y] of places) context.fillRect(x - 4, y - 4, 8, 8);
  }

  #listen() {
    const pointers = new Map();
    let start = null;
    const at = (event) => { const r = this.over.getBoundingClientRect(); return [event.clientX - r.left, event.clientY - r.top]; };
    const degrees = ([px, py]) => { const p = this.place(px, py); return unproject(Math.max(0, Math.min(1, p.x)), Math.max(0, Math.min(1, p.y))); };
    this.over.addEventListener('pointerdown', (event) => {
      this.over.setPointerCapture(event.pointerId);
      pointers.set(event.pointerId, at(event));
      const isBox = this.onBox && (this.mode === 'box' || event.shiftKey);
      start = { at: at(event), corner: isBox ? degrees(at(event)) : null, camera: { ...this.camera }, hasMoved: false };
    });
    this.over.addEventListener('pointerleave', () => this.#tipAt(null));
    this.over.addEventListener('pointermove', (event) => {
      if (pointers.size === 0) this.#tipAt(at(event));
      if (!pointers.has(event.pointerId) || !start) return;
      const [px, py] = at(event);
      if (pointers.size === 2) {
        const before = spread(pointers);
        pointers.set(event.pointerId, [px, py]);
        const middle = [...pointers.values()].reduce((sum, one) => [sum[0] + one[0] / 2, sum[1] + one[1] / 2], [0, 0]);
        this.zoomBy(Math.log2(spread(pointers) / before) || 0, ...middle);
        start.hasMoved = true;
        return;
      }
      pointers.set(event.pointerId, [px, py]);
      start.hasMoved ||= Math.hypot(px - start.at[0], py - start.at[1]) > 4;
      if (start.corner) this.onBox(boxOfCorners(start.corner, degrees([px, py])), false);
      else if (start.hasMoved) this.move(start.camera.x - (px - start.at[0]) / this.scale, start.camera.y - (py - start.at[1]) / this.scale, this.camera.zoom);
    });
    const end = (event) => {
      if (!pointers.delete(event.pointerId) || !start || event.type === 'pointercancel') return;
      if (start.corner && start.hasMoved) this.onBox(boxOfCorners(start.corner, degrees(at(event))), true);
      else if (!start.hasMoved && this.mode === 'polygon') this.onPoint?.(degrees(at(event)));
      else if (!start.hasMoved) this.onClick?.(...at(event));
      if (pointers.size === 0) start = null;
    };
    this.over.addEventListener('pointerup', end);
    this.over.addEventListener('pointercancel', end);
    this.over.addEventListener('wheel', (event) => {
      event.preventDefault();
      this.zoomBy(Math.max(-1, Math.min(1, -event.deltaY / 300)), ...at(event));
    }, { passive: false });
    this.over.addEventListener('keydown', (event) => this.#key(event));
  }

  /** Shows the features at a place in pixels, after the pointer has rested there for a moment; `null` hides them. */
  #tipAt(place) {
    if (!this.hasTip) return;
    clearTimeout(this.resting);
    this.tip.hidden = true;
    if (place === null) return;
    this.resting = setTimeout(() => {
      const found = this.isAlive ? this.base.features(...place).slice(0, 4) : [];
      this.tip.replaceChildren(...found.map((one) => el('p', {}, el('strong', {}, one.layer), ' ', nameOfFeature(one.properties, language()) || Object.entries(one.properties).slice(0, 2).map(([key, value]) => `${key}: ${value}`).join(', '))));
      this.tip.hidden = found.length === 0;
      const [x, y] = [Math.min(place[0] + 12, this.frame.clientWidth - this.tip.offsetWidth - 4), Math.min(place[1] + 12, this.frame.clientHeight - this.tip.offsetHeight - 4)];
      Object.assign(this.tip.style, { left: `${Math.max(0, x)}px`, top: `${Math.max(0, y)}px` });
    }, 80);
  }

  #key(event) {
    const steps = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
    const step = steps[event.key];
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (step) this.move(this.camera.x + (step[0] * 80) / this.scale, this.camera.y + (step[1] * 80) / this.scale, this.camera.zoom);
    else if (event.key === '+' || event.key === '=') this.zoomBy(0.5);
    else if (event.key === '-') this.zoomBy(-0.5);
    else if (event.key === '0' && this.home) this.fit(this.home);
    else if (event.key === 'Enter' && this.mode === 'polygon') this.onPoint?.(unproject(this.camera.x, this.camera.y));
    else if (event.key === 'Enter') this.onClick?.(this.frame.clientWidth / 2, this.frame.clientHeight / 2);
    else return;
    event.preventDefault();
  }
}

function spread(pointers) {
  const [a, b] = [...pointers.values()];
  return Math.max(1, Math.hypot(a[0] - b[0], a[1] - b[1]));
}

const CELLS = ['', '--c-waiting', '--c-work', '--c-stored', '--c-partly', '--c-empty', '--c-failed', '--c-lost', '', '--c-same'];

/** One pixel for each byte, stretched without smoothing; failed cells also have a cross. */
function drawBand(context, band, rect) {
  if (band.width === 0 || band.height === 0) return;
  const picture = document.createElement('canvas');
  picture.width = band.width;
  picture.height = band.height;
  const pixels = picture.getContext('2d', { willReadFrequently: true });
  const colours = CELLS.map((name) => name && colour(name));
  const zoom = band.cellZoom - band.shift;
  band.cells.forEach((state, i) => {
    if (!colours[state]) return;
    pixels.fillStyle = colours[state];
    pixels.fillRect(i % band.width, Math.floor(i / band.width), 1, 1);
  });
  const n = 2 ** zoom;
  const at = rect({ west: band.x / n, north: band.y / n, east: (band.x + band.width) / n, south: (band.y + band.height) / n });
  context.imageSmoothingEnabled = false;
  context.globalAlpha = 0.75;
  context.drawImage(picture, ...at);
  context.globalAlpha = 1;
  const side = at[2] / band.width;
  if (side < 6) return;
  context.strokeStyle = colour('--grid');
  context.lineWidth = 1;
  band.cells.forEach((state, i) => {
    if (state === 0) return;
    const place = [at[0] + (i % band.width) * side, at[1] + Math.floor(i / band.width) * side, side, side];
    context.strokeRect(...place);
    if (state === 6 || state === 7) cross(context, place);
  });
}

function cross(context, [left, top, width, height]) {
  const grow = Math.max(0, 6 - width) / 2;
  context.save();
  context.strokeStyle = colour('--cross');
  context.lineWidth = 2;
  context.beginPath();
  context.moveTo(left - grow, top - grow);
  context.lineTo(left + width + grow, top + height + grow);
  context.moveTo(left + width + grow, top - grow);
  context.lineTo(left - grow, top + height + grow);
  context.stroke();
  context.restore();
}
