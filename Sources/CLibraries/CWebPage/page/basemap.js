// The lower picture of a map: MapLibre GL JS where it can be had, else the canvas of the page.
import { CanvasBase } from './canvasbase.js';
import { el } from './dom.js';
import { language } from './language.js';
import { LibraryBase } from './librarybase.js';
import { world, worldStyle } from './mapstyle.js';

export class BaseMap {
  /** `view()` gives what the map shows; `changed` is called when the picture changes, and when it cannot be drawn and there is a reason. */
  constructor(view, changed) {
    Object.assign(this, { view, changed, isAlive: true, reason: '', place: el('div', { class: 'layer' }) });
    this.picture = new CanvasBase(this.place, world(language()));
  }

  get isLibrary() { return this.picture instanceof LibraryBase; }

  /** What draws the map, in words. */
  get text() { return this.picture.text + (this.isLibrary || !this.reason ? '' : ` (${this.reason})`); }

  /** Shows a style with MapLibre when it can be had; the canvas stays otherwise. `fallback`: a style for one that is refused; `null` = the world alone. */
  setStyle(style, fallback = null) {
    this.style = { style: style ?? worldStyle(language()), fallback };
    if (this.isLibrary) this.picture.setStyle(this.style);
    else this.making ??= this.#make();
  }

  /** Shows tiles over the world on the canvas; MapLibre has them in its style. */
  setSource(source) { this.picture.setSources?.([...this.picture.sources.slice(0, 2), source]); }

  async #make() {
    const { style } = this;
    try {
      const made = await LibraryBase.make(this.place, style, this.view());
      if (!this.isAlive) return made.remove();
      this.picture.remove();
      this.picture = made;
      if (this.style !== style) made.setStyle(this.style);
    } catch (error) { this.reason = error.message; }
    return this.isAlive && this.changed();
  }

  draw(view) { this.picture.draw(view); }

  /** The features at a place in pixels. */
  features(x, y) { return this.picture.features(x, y); }

  remove() {
    this.isAlive = false;
    this.picture.remove();
    this.place.remove();
  }
}
