// Two pictures on one map: a line divides them, and moves by pointer, touch and keys.
import { BaseMap } from './basemap.js';
import { el } from './dom.js';
import { words } from './words.js';

/** How far one press of a key moves the line, in hundredths of the width. */
const STEPS = { ArrowLeft: -2, ArrowDown: -2, ArrowRight: 2, ArrowUp: 2, PageDown: -10, PageUp: 10 };
const ENDS = { Home: 0, End: 100 };

/** Where a key moves the line from `share`, 0...100; `null` for a key that does not. */
export function moveOf(key, share) {
  if (ENDS[key] !== undefined) return ENDS[key];
  return STEPS[key] === undefined ? null : Math.max(0, Math.min(100, share + STEPS[key]));
}

export class MapSlider {
  /** `view`: a `MapView`; `left` and `right` name the pictures: the left one is that of this slider, the right one that of the map. */
  constructor(view, { left, right }) {
    Object.assign(this, { view, left, right, share: 50 });
    this.base = new BaseMap(() => view.view, () => view.draw());
    this.line = el('div', { class: 'divide', role: 'slider', tabindex: 0, 'aria-label': words.map.divide(left, right), 'aria-orientation': 'horizontal', 'aria-valuemin': 0, 'aria-valuemax': 100 },
      el('span', { class: 'side', 'aria-hidden': 'true' }, left), el('span', { class: 'grip', 'aria-hidden': 'true' }, '⇔'), el('span', { class: 'side', 'aria-hidden': 'true' }, right));
    view.over.before(this.base.place);
    view.over.after(this.line);
    this.line.addEventListener('keydown', (event) => {
      const to = event.ctrlKey || event.metaKey || event.altKey ? null : moveOf(event.key, this.share);
      if (to === null) return;
      event.preventDefault();
      this.move(to);
    });
    this.line.addEventListener('pointerdown', (event) => { this.line.setPointerCapture(event.pointerId); this.line.focus(); event.preventDefault(); });
    this.line.addEventListener('pointermove', (event) => {
      if (!this.line.hasPointerCapture(event.pointerId)) return;
      const { left: edge, width } = view.frame.getBoundingClientRect();
      this.move(Math.max(0, Math.min(100, ((event.clientX - edge) / Math.max(1, width)) * 100)));
    });
    this.move(50);
  }

  /** Puts the line at a share of the width, 0...100. */
  move(share) {
    this.share = share;
    this.base.place.style.clipPath = `inset(0 ${100 - share}% 0 0)`;
    this.line.style.left = `${share}%`;
    this.line.setAttribute('aria-valuenow', String(Math.round(share)));
    this.line.setAttribute('aria-valuetext', words.map.divided(this.left, Math.round(share), this.right));
  }

  /** Whether a pixel shows the picture on the left. */
  isLeft(x) { return x < (this.view.frame.clientWidth * this.share) / 100; }

  remove() {
    this.base.remove();
    this.line.remove();
  }
}
