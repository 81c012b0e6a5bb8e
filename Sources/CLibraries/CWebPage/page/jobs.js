// The list of jobs, and one job with its map.
import { APIError, ask } from './api.js';
import { LogCoverage, STATES, countStates, decodeCoverage } from './coverage.js';
import { announce, button, confirmed, el, kept, link, note, number, short, size, time } from './dom.js';
import { boundsOf, maskSquares } from './geo.js';
import { JobPreview } from './jobpreview.js';
import { MapView } from './map.js';
import { send, tileOf } from './cluster.js';
import { details, empty, facts, table } from './tables.js';
import { words } from './words.js';

const OPEN = ['fetching', 'merging', 'publishing'];
/** A paused job keeps the state that it had; its priority is below 0. */
const isPaused = (job) => OPEN.includes(job.state) && job.priority < 0;
const samples = new Map();

/** Tiles per second of a job over the last minute; `null` before there are two answers. */
export function rateOf(job, now = Date.now() / 1000) {
  const list = samples.get(job.job) ?? [];
  if (list.length === 0 || now - list.at(-1).at >= 1) list.push({ at: now, settled: job.settled });
  while (list.length > 2 && now - list[0].at > 60) list.shift();
  samples.set(job.job, list);
  const [first, last] = [list[0], list.at(-1)];
  return last.at - first.at < 1 ? null : Math.max(0, (last.settled - first.settled) / (last.at - first.at));
}

export const totalRate = (jobs) => jobs.filter((job) => OPEN.includes(job.state)).reduce((sum, job) => sum + (rateOf(job) ?? 0), 0);

const share = (job) => (job.tiles === 0 ? 1 : job.settled / job.tiles);
const zooms = (job) => (job.zoom_min === job.zoom_max ? `${job.zoom_min}` : `${job.zoom_min}–${job.zoom_max}`);
const state = (job) => (isPaused(job) ? words.states.paused : words.states[job.state] ?? job.state);

function left(job) {
  const rate = rateOf(job);
  return job.state === 'fetching' && rate > 0 ? time((job.tiles - job.settled) / rate) : '–';
}

function bar(job) {
  const percent = Math.floor(share(job) * 100);
  return el('span', {}, el('progress', { max: 100, value: percent, 'aria-label': `${words.job.job} ${job.job}` }), ` ${percent} %`);
}

/** There is no job yet. */
export const noJobs = () => empty(words.job.none, link(words.views.extract, '#/extract', { class: 'button' }));

export function jobTable(page, jobs, first = [], none = null) {
  const w = words.job;
  return table(words.views.jobs, [
    ...first, [w.job, (job) => link(`${job.job}`, `#/job/${job.job}`)], [w.label, (job) => job.label], [w.state, (job) => [state(job), job.waiting ? el('br') : null, job.waiting ? el('small', {}, job.waiting) : null]],
    [w.progress, bar], [w.tiles, (job) => number(job.tiles), 'n'], [w.failed, (job) => (job.failed > 0 ? link(number(job.failed), `#/failed?job=${job.job}`) : '0'), 'n'],
    [w.rate, (job) => (OPEN.includes(job.state) && rateOf(job) !== null ? w.perSecond(short(rateOf(job))) : '–'), 'n'], [w.left, left, 'n'],
  ], jobs, (job) => job.job, none);
}

export function jobs(page, parts, query) {
  const w = words.job;
  const chosen = new Set();
  const params = new URLSearchParams({ limit: '100' });
  for (const name of ['state', 'label', 'before']) if (query.get(name)) params.set(name, query.get(name));
  const go = (event) => {
    event.preventDefault();
    const found = [['state', document.getElementById('state').value], ['label', document.getElementById('label').value]].filter(([, value]) => value);
    location.hash = `#/jobs?${new URLSearchParams(found)}`;
  };
  return async (get) => {
    const { jobs: list, next } = await get(`v1/jobs?${params}`);
    const tick = (job) => el('input', { type: 'checkbox', key: `select ${job.job}`, 'aria-label': w.select(job.job), checked: chosen.has(job.job),
      on: { change: (event) => (event.target.checked ? chosen.add(job.job) : chosen.delete(job.job)) } });
    const bulk = async (word) => {
      if (chosen.size === 0) return note(w.noSelection, true);
      if (word === 'cancel' && !await confirmed(words.orders.cancelText(`${chosen.size} ${words.views.jobs}`))) return undefined;
      return send(page, 'v1/jobs/orders', { order: word, jobs: [...chosen] });
    };
    const more = new URLSearchParams(params);
    more.delete('limit');
    if (next) more.set('before', next);
    return [el('h1', {}, words.views.jobs),
      el('form', { on: { submit: go }, key: 'filter' },
        el('label', { for: 'state' }, w.filter, el('select', { id: 'state', key: 'state' }, el('option', { value: '' }, w.allStates),
          Object.entries(words.states).map(([value, text]) => el('option', { value, selected: query.get('state') === value }, text)))),
        el('label', { for: 'label' }, w.labelFilter, el('input', { id: 'label', key: 'label', value: query.get('label') ?? '' })),
        el('button', { type: 'submit', key: 'apply' }, w.apply)),
      page.isOperator && list.length > 0 ? el('p', { class: 'buttons' }, el('span', {}, w.selected), ['pause', 'resume', 'retry', 'cancel'].map((word) => button(words.orders[word], `bulk ${word}`, () => bulk(word), { class: word === 'cancel' ? 'danger' : null }))) : null,
      jobTable(page, list, page.isOperator ? [[w.choose, tick]] : [], params.size > 1 ? empty(w.noneSuch, link(words.views.jobs, '#/jobs')) : noJobs()),
      el('p', { class: 'buttons' }, query.get('before') ? link(w.first, '#/jobs') : null, next ? link(w.next, `#/jobs?${more}`) : null)];
  };
}

let hasCoverage = true;

/** The bands of a job: from the gateway's document, or from the lines of the event log. */
class Coverage {
  constructor(number) {
    this.number = number;
    this.log = new LogCoverage();
    this.lines = [];
    this.bands = [];
  }

  async update(get) {
    await this.#events(get);
    if (hasCoverage) {
      try {
        const response = await ask(`v1/jobs/${this.number}/coverage?size=512`);
        this.bands = decodeCoverage(await response.arrayBuffer()).bands;
        return;
      } catch (error) {
        if (!(error instanceof APIError) || error.status !== 404) throw error;
        hasCoverage = false;
      }
    }
    this.bands = this.log.bands();
  }

  async #events(get) {
    for (let page = 0; page < 60; page += 1) {
      const { events } = await get(`v1/events?job=${this.number}&after=${this.log.change}&limit=1000`);
      const fresh = events.filter((event) => event.seq > this.log.change);
      this.log.add(fresh);
      if (fresh.length > 0) this.log.change = Math.max(this.log.change, fresh.at(-1).seq);
      this.lines = this.lines.concat(fresh.map(({ seq, time: at, text }) => ({ seq, at, text }))).slice(-50);
      if (fresh.length < 1000) return;
    }
  }
}

function bounds(bands) {
  return boundsOf(bands.filter((band) => band.width > 0).flatMap((band) => [{ zoom: band.cellZoom - band.shift, x: band.x, y: band.y },
    { zoom: band.cellZoom - band.shift, x: band.x + band.width - 1, y: band.y + band.height - 1 }]));
}

/** The tiles of the packages of a job whose batches are no longer kept. */
function packageSquares(job, catalog) {
  const wanted = new Map(job.packages.map((one) => [one.id, one.version]));
  return (catalog.packages ?? []).filter((one) => wanted.has(one.id)).flatMap((one) => {
    const version = one.versions.find((other) => other.version === wanted.get(one.id)) ?? one.versions[0];
    try { return maskSquares(version.tile_mask); } catch { return []; }
  });
}

export function job(page, parts) {
  const w = words.job;
  const id = parts[0];
  const cover = new Coverage(id);
  const view = new MapView({ label: w.map, hasTip: true });
  const preview = new JobPreview(view);
  page.onEnd(() => view.remove());
  let fitted = '';
  let band = null;
  return async (get) => {
    const one = await get(`v1/jobs/${encodeURIComponent(id)}`);
    await cover.update(get);
    // The job is shown also where the catalog does not answer now.
    await preview.update(get, one, page.language).catch(() => null);
    const { bands } = cover;
    const name = (item) => words.coverage.band(item.zoomMin, item.zoomMax);
    const shown = bands.find((item) => name(item) === band) ?? bands[0];
    let squares = [];
    if (bands.length === 0) squares = packageSquares(one, await get('catalog.json'));
    const marks = (one.failures ?? []).map((failure) => tileOf(failure.tile)).slice(0, 1000);
    view.set({ bands: shown ? [shown] : [], squares, marks });
    const key = bands.length > 0 ? `bands ${bands.length}` : `squares ${squares.length}`;
    if (fitted !== key) { view.fit(bounds(bands.slice(0, 1)) ?? boundsOf(squares)); fitted = key; }
    const order = async (word, more = {}) => {
      if (word === 'cancel' && !await confirmed(words.orders.cancelText(`${w.job} ${id}`))) return;
      send(page, `v1/jobs/${id}/orders`, { order: word, ...more });
    };
    const percent = Math.floor(share(one) * 100);
    announce(`${w.job} ${id}: ${state(one)}, ${percent} %`);
    const rate = rateOf(one);
    const given = page.isOperator ? orders(one, order) : {};
    return [
      el('h1', {}, `${w.job} ${one.job}: ${one.label}`),
      given.buttons,
      el('p', {}, `${state(one)}, ${number(one.settled)} / ${number(one.tiles)}`, OPEN.includes(one.state) && rate !== null ? `, ${w.perSecond(short(rate))}` : '', left(one) === '–' ? '' : `, ${w.left.toLowerCase()} ${left(one)}`, bar(one)),
      one.waiting ? el('p', { class: 'card warn' }, `${w.waiting}: ${one.waiting}`) : null,
      one.reason ? el('p', { class: 'bad' }, `${w.reason}: ${one.reason}`) : null,
      one.summary_only ? el('p', { class: 'soft' }, w.summary) : null,
      el('section', { class: 'card' }, el('h2', {}, w.map),
        bands.length > 1 ? el('fieldset', { key: 'bands', class: 'buttons' }, el('legend', {}, words.coverage.bands), bands.map((item) => el('label', { class: 'line' },
          el('input', { type: 'radio', name: 'band', key: `band ${name(item)}`, checked: item === shown, on: { change: () => { band = name(item); page.refresh(); } } }), name(item)))) : null,
        kept(view.element, 'map'),
        bands.length > 0 ? coverTable(bands, name) : el('p', { class: 'soft' }, one.packages.length > 0 ? words.coverage.gone : words.coverage.none)),
      facts([[w.tiles, `${number(one.settled)} / ${number(one.tiles)}`], [w.rate, OPEN.includes(one.state) && rate !== null ? w.perSecond(short(rate)) : null],
        [w.left, OPEN.includes(one.state) ? left(one) : null], [w.failed, one.failed > 0 ? link(number(one.failed), `#/failed?job=${id}`) : '0'], [w.empty, number(one.empty)],
        [w.bytes, size(one.bytes)], [w.zooms, zooms(one)], [w.tileset, one.tileset], [w.formats, (one.formats ?? []).join(', ')],
        [w.elapsed, time(one.elapsed_seconds)], [w.since, one.submitted?.replace('T', ' ').replace('Z', ' UTC')]]),
      details('job', given.values, facts([[w.received, size(one.received)], [w.batches, `${number(one.batches_done)} / ${number(one.batches)}`], [w.priority, one.priority], [w.weight, one.weight],
        [w.reused, one.reused > 0 ? number(one.reused) : null], [w.notModified, one.not_modified > 0 ? number(one.not_modified) : null],
        [w.notSent, one.not_sent > 0 ? size(one.not_sent) : null], [w.receivedAgain, one.received_again > 0 ? size(one.received_again) : null], [w.blockList, one.block_list ?? null]])),
      el('div', { class: 'cards' },
        el('section', { class: 'card' }, table(`${w.packages} (${number(one.packages_total)})`, [
          [words.catalogs.id, (item) => (item.state === 'published' ? link(item.id, `#/package/${encodeURIComponent(item.id)}`) : item.id)], [w.state, (item) => item.state],
          [words.catalog.version, (item) => item.version ?? '–', 'n'], [words.catalog.size, (item) => size(item.size), 'n'],
        ], one.packages, (item) => item.id)),
        el('section', { class: 'card' }, el('h2', {}, w.events), el('ul', { class: 'events', tabindex: 0, 'aria-label': w.events }, cover.lines.slice(-20).reverse().map((line) => el('li', { key: line.seq }, el('small', {}, line.at.slice(11, 19)), ' ', line.text))))),
      one.failures.length > 0 ? el('section', { class: 'card' }, table(w.failures, [[w.tile, (item) => item.tile], [words.failed.cause, (item) => item.cause], [words.failed.detail, (item) => item.detail]], one.failures, (item, i) => `${item.tile} ${i}`)) : null,
    ];
  };
}

function orders(one, order) {
  const ask = (word, value) => {
    const input = el('input', { type: 'number', key: `value ${word}`, id: `value-${word}`, value, 'aria-label': `${words.orders[word]}: ${words.orders.value}`, min: word === 'weight' ? 1 : null });
    return el('form', { key: word, on: { submit: (event) => { event.preventDefault(); order(word, { [word === 'weight' ? 'weight' : 'priority']: Number(document.getElementById(`value-${word}`).value) }); } } },
      input, el('button', { type: 'submit', key: `set ${word}` }, words.orders[word]));
  };
  const isOpen = OPEN.includes(one.state);
  const shown = [isPaused(one) ? 'resume' : isOpen ? 'pause' : null, isOpen ? 'cancel' : null, ['failed', 'cancelled'].includes(one.state) ? 'retry' : null].filter(Boolean);
  return { buttons: el('div', { class: 'buttons', key: 'orders' }, shown.map((word) => button(words.orders[word], word, () => order(word), { class: word === 'cancel' ? 'danger' : null }))),
    values: isOpen ? el('div', { class: 'buttons', key: 'values' }, ask('prioritise', one.priority), ask('weight', one.weight)) : null };
}

function coverTable(bands, name) {
  const used = STATES.map((key, i) => [key, i]).filter(([key, i]) => i > 0 && key !== 'cut' && bands.some((band) => band.cells.includes(i)));
  const rows = bands.map((band) => ({ band, counts: countStates(band) }));
  return [el('ul', { class: 'legend' }, used.map(([key]) => el('li', { class: `s-${key}` }, words.coverage.states[key]))),
    table(words.coverage.table, [[words.coverage.bands, ({ band }) => `${name(band)}: ${words.coverage.cellSize(band.cellZoom - band.shift)}`],
      ...used.map(([key, i]) => [words.coverage.states[key], ({ counts }) => number(counts[i]), 'n'])], rows, ({ band }) => name(band))];
}
