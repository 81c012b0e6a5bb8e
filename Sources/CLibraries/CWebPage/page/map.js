// A map that is moved by pointer and keys, with pictures over a base map: cells, tiles, a box.
import { BaseMap } from './basemap.js';
import { fitted, limited, placeAt, scaleOf, viewOf, zoomed } from './camera.js';
import { button, el, morph } from './dom.js';
import { listen } from './mapinput.js';
import { drawPictures } from './mappictures.js';
import { MapSlider } from './mapslider.js';
import { MapTip } from './maptip.js';
import { words } from './words.js';

export class MapView {
  /** `label` names the map for screen readers; `onBox` gets a box that was drawn, `onPoint` a corner of a polygon in degrees, `onClick` a place in pixels; `hasTip` shows features under the pointer. */
  constructor({ label, onBox = null, onPoint = null, onClick = null, hasTip = false }) {
    this.camera = { x: 0.5, y: 0.35, zoom: 0 };
    this.pictures = {};
    /** What a pointer draws: `box`, `polygon` or nothing. */
    this.mode = null;
    Object.assign(this, { onBox, onPoint, onClick, isAlive: true, attribution: '', slider: null });
    this.over = el('canvas', { class: 'over', tabindex: 0, role: 'application', 'aria-label': `${label}. ${words.map.label}` });
    this.caption = el('p', { class: 'caption' });
    this.tools = el('div', { class: 'tools' });
    this.frame = el('div', { class: 'map' }, this.over, this.tools,
      el('div', { class: 'zoom' }, button('+', 'zoom-in', () => this.zoomBy(1), { 'aria-label': words.map.in }),
        button('−', 'zoom-out', () => this.zoomBy(-1), { 'aria-label': words.map.out }),
        button('▣', 'zoom-all', () => this.home && this.fit(this.home), { 'aria-label': words.map.all })));
    this.tip = new MapTip(this.frame, hasTip ? (x, y) => this.features(x, y) : null);
    this.element = el('div', { 'data-keep': '' }, this.frame, this.caption);
    this.base = new BaseMap(() => this.view, () => { this.#say(); this.draw(); });
    this.frame.prepend(this.base.place);
    listen(this);
    this.sizes = new ResizeObserver(() => this.#resized());
    this.sizes.observe(this.frame);
    this.setStyle(null);
  }

  /** Shows buttons in a corner of the map: `[text, key, isPressed, click]`. */
  setTools(tools) {
    morph(this.tools, el('div', { class: 'tools' }, tools.map(([text, key, isPressed, click]) => button(text, key, click, { 'aria-pressed': String(isPressed) }))));
  }

  remove() {
    this.isAlive = false;
    this.sizes.disconnect();
    this.slider?.remove();
    this.base.remove();
  }

  /** Shows a style, see `BaseMap.setStyle`. */
  setStyle(style, attribution = '', fallback = null) {
    this.attribution = attribution;
    this.base.setStyle(style, fallback);
    this.#say();
  }

  /** Shows tiles where MapLibre is not there, see `BaseMap.setSource`. */
  setSource(source) { this.base.setSource(source); }

  /** Shows another picture left of a line: `{left, right, style, fallback, source}`; `null` ends it. */
  compare(other) {
    const share = this.slider?.share;
    this.slider?.remove();
    this.slider = other ? new MapSlider(this, other) : null;
    if (!other) return;
    if (share !== undefined) this.slider.move(share);
    this.slider.base.setSource(other.source);
    this.slider.base.setStyle(other.style, other.fallback);
    this.draw();
  }

  /** The features at a place in pixels, of the picture that is seen there. */
  features(x, y) {
    return this.isAlive ? (this.slider?.isLeft(x) ? this.slider.base : this.base).features(x, y) : [];
  }

  #say() {
    this.caption.textContent = [this.base.text, this.attribution, words.map.world].filter(Boolean).join(' · ');
  }

  #resized() {
    if (!this.hasSize && this.frame.clientWidth > 0) {
      this.hasSize = true;
      if (this.home) this.fit(this.home);
    }
    this.draw();
  }

  get size() { return { width: this.frame.clientWidth, height: this.frame.clientHeight }; }

  /** What the map shows. */
  get view() { return viewOf(this.camera, this.size); }

  get scale() { return scaleOf(this.camera.zoom); }

  /** Shows a box in fractions of the world; `isHome` makes it what the button for everything shows. */
  fit(box, isHome = true) {
    if (!box) return;
    if (isHome) this.home = box;
    const { x, y, zoom } = fitted(box, this.size);
    this.move(x, y, zoom);
  }

  move(x, y, zoom) {
    this.camera = limited({ x, y, zoom }, this.size);
    this.draw();
  }

  /** Changes the zoom; the place at `px`, `py` stays where it is. */
  zoomBy(step, px = this.frame.clientWidth / 2, py = this.frame.clientHeight / 2) {
    const { x, y, zoom } = zoomed(this.view, step, px, py);
    this.move(x, y, zoom);
  }

  /** The place of a pixel in fractions of the world. */
  place(px, py) { return placeAt(this.view, px, py); }

  /** Sets the pictures: `bands`, `squares` (tiles), `box` and `polygon` (corners) in degrees, `outline` (`{lines, points}`) in fractions of the world, `marks` (tiles with a cross); `isSheer`: cells show the map below. */
  set(pictures) {
    Object.assign(this.pictures, pictures);
    this.draw();
  }

  draw() {
    cancelAnimationFrame(this.next);
    this.next = requestAnimationFrame(() => this.#draw());
  }

  #draw() {
    const { view, over } = this;
    if (!this.isAlive || view.width === 0) return;
    this.base.draw(view);
    this.slider?.base.draw(view);
    const ratio = window.devicePixelRatio || 1;
    over.width = Math.round(view.width * ratio);
    over.height = Math.round(view.height * ratio);
    const context = over.getContext('2d', { willReadFrequently: true });
    context.scale(ratio, ratio);
    drawPictures(context, this.pictures, view);
  }
}
