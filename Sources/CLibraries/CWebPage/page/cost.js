// How large a map will be and how long it takes: sampled from its tile server, else from what was built of the same tileset.
import { ask } from './api.js';
import { el, size, time } from './dom.js';
import { forecast, forecastOfPackages } from './forecast.js';
import { words } from './words.js';

/** Bytes, their margin and seconds of an answer of `v1/samples`; `null` without a sample. Pure. */
export function sizeOfSample(answer) {
  if (!answer?.sampled) return null;
  const sum = (pick) => answer.files.reduce((total, file) => total + pick(file), 0);
  const isKnown = answer.files.every((file) => file.margin !== undefined);
  return { bytes: sum((file) => file.bytes), margin: isKnown ? sum((file) => file.margin) : null, seconds: answer.seconds ?? null };
}

/** Whether the tileset has no tile there: a sample without a byte. Pure. */
export const hasNoTiles = (answer) => answer?.bytes === 0 && answer.files.every((file) => file.bytes === 0);

export class Cost {
  constructor(page) {
    this.page = page;
    /** `{key, answer, again}`: of one map; `again` is the time at which the server may be asked again. */
    this.sample = {};
  }

  /**
   * What is known now: `{bytes, margin, seconds, reason, isComing, isEmpty}`. A sample is asked for when the map is another one, and the view is drawn
   * again when it is there. `map`: `{key, tileset, area, zoom, tiles, formats}`.
   */
  async of(get, map) {
    if (this.sample.key !== map.key || Date.now() > this.sample.again) this.#ask(map);
    const past = await this.#past(get, map);
    const { answer } = this.sample;
    const sampled = sizeOfSample(answer);
    // The cluster has more than one worker, so what it took before says more about the time.
    return { ...past, ...sampled, seconds: past?.seconds ?? sampled?.seconds ?? null, reason: answer?.reason ?? '', isComing: answer === undefined, isEmpty: hasNoTiles(answer) };
  }

  async #past(get, { tileset, tiles }) {
    try {
      const jobs = this.page.role === 'client' ? [] : (await get('v1/jobs?state=done&limit=100')).jobs;
      return forecast(jobs, tileset, tiles) ?? forecastOfPackages(await get('catalog.json'), tileset, tiles);
    } catch { return null; }
  }

  async #ask({ key, tileset, area, zoom, formats }) {
    const mine = { key, again: Infinity };
    this.sample = mine;
    try {
      mine.answer = await (await ask('v1/samples', { method: 'POST', body: { tileset, area, max_zoom: zoom, formats } })).json();
      if (mine.answer.retry_after) mine.again = Date.now() + mine.answer.retry_after * 1000;
    } catch (error) { mine.answer = { reason: error.message }; }
    if (this.sample === mine) this.page.refresh();
  }
}

/** What `Cost.of` found. */
export function drawCost({ bytes, margin, seconds, reason, isComing, isEmpty }) {
  const w = words.extract;
  if (isEmpty) return el('span', { id: 'size', class: 'bad' }, w.noTiles);
  if (bytes === undefined) return el('span', { id: 'size', class: 'soft' }, isComing ? w.sampling : w.unknownSize(reason));
  return el('span', { id: 'size', class: isComing ? 'soft' : null }, w.about(size(bytes), margin ? size(margin) : null, seconds === null ? null : seconds < 1 ? w.soon : time(seconds)));
}
