// The features under a pointer that rests on a map.
import { el } from './dom.js';
import { nameOfFeature } from './labels.js';
import { language } from './language.js';

/** Milliseconds. */
const REST = 80;

const textOf = ({ properties }) => nameOfFeature(properties, language()) || Object.entries(properties).slice(0, 2).map(([key, value]) => `${key}: ${value}`).join(', ');

export class MapTip {
  /** `features(x, y)`: those at a place in pixels. */
  constructor(frame, features) {
    this.features = features;
    this.frame = frame;
    this.element = el('div', { class: 'tip', hidden: true });
    frame.append(this.element);
  }

  /** Shows the features at a place in pixels after a moment; `null` hides them. */
  show(place) {
    clearTimeout(this.resting);
    this.element.hidden = true;
    if (place === null || this.features === null) return;
    this.resting = setTimeout(() => {
      if (!this.frame.isConnected) return;
      const { element, frame } = this;
      const found = this.features(...place).slice(0, 4);
      element.replaceChildren(...found.map((one) => el('p', {}, el('strong', {}, one.layer), ' ', textOf(one))));
      element.hidden = found.length === 0;
      const [x, y] = [Math.min(place[0] + 12, frame.clientWidth - element.offsetWidth - 4), Math.min(place[1] + 12, frame.clientHeight - element.offsetHeight - 4)];
      Object.assign(element.style, { left: `${Math.max(0, x)}px`, top: `${Math.max(0, y)}px` });
    }, REST);
  }
}
