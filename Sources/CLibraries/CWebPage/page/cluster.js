// Overview, workers, origins, failed work, schedules.
import { order } from './api.js';
import { announce, button, confirmed, el, kept, link, note, number, short, size, time } from './dom.js';
import { MapView } from './map.js';
import { boundsOf } from './geo.js';
import { jobTable, noJobs, totalRate } from './jobs.js';
import { details, empty, facts, table } from './tables.js';
import { words } from './words.js';

/** Sends an order, says what came of it, and draws again. */
export async function send(page, path, body) {
  try {
    const answer = await order(path, body);
    const texts = answer.jobs ? answer.jobs.map((one) => `${words.job.job} ${one.job}: ${one.text || one.code || body.order}`) : [answer.text];
    note(words.orders.done(texts.join('; ')), answer.jobs?.some((one) => one.code));
  } catch (error) { note(error.message, true); }
  page.refresh();
}

const seconds = (value) => time(value);

/** Zoom, column and row of `8/1/2`. */
export function tileOf(text) {
  const [zoom, x, y] = text.split('/').map(Number);
  return { zoom, x, y };
}

export function overview(page) {
  const w = words.status;
  return async (get) => {
    if (page.role === 'client') return [el('h1', {}, words.views.overview), empty(words.status.client, link(words.views.extract, '#/extract', { class: 'button main' }))];
    const status = await get('v1/status');
    const head = el('h1', {}, words.views.overview);
    const internal = [[w.version, status.version], [w.sequence, number(status.catalog_sequence)], [w.epoch, status.coordinator?.epoch]];
    if (!status.coordinator) return [head, empty(words.edge, link(words.views.catalog, '#/catalog')), facts([[w.packages, number(status.packages)]]), details('status', facts(internal))];
    const [{ jobs }, { workers: all }, { origins: sources }] = await Promise.all([get('v1/jobs?limit=10'), get('v1/workers'), get('v1/origins')]);
    const health = status.coordinator;
    const warnings = [
      ...health.findings.map((one) => [one.text, one.hint]),
      ...status.missing_tilesets.map((text) => [`${w.missing} ${text}`, '']),
      ...sources.filter((one) => one.blocked_seconds > 0).map((one) => [w.blocked(one.origin, seconds(one.blocked_seconds)), '']),
      ...all.filter((one) => one.silent_seconds > 30 && one.state !== 'gone').map((one) => [w.silent(one.name, seconds(one.silent_seconds)), one.reason ?? '']),
    ];
    announce(`${w.open}: ${status.open_jobs}. ${w.findings}: ${warnings.length}.`);
    return [
      head,
      warnings.length === 0 ? el('p', { class: 'soft' }, w.calm)
        : el('section', { class: 'card warn' }, el('h2', {}, w.findings), el('ul', {}, warnings.map(([text, hint]) => el('li', {}, text, hint ? ` – ${hint}` : '')))),
      el('p', { class: 'buttons' }, page.mayExtract ? link(words.views.extract, '#/extract', { class: 'button main' }) : null, link(words.views.catalog, '#/catalog', { class: 'button' })),
      facts([[w.coordinator, `${health.state}`], [w.workers, number(status.workers)], [w.open, number(status.open_jobs)],
        [w.rate, short(totalRate(jobs))], [w.packages, number(status.packages)]]),
      el('section', { class: 'card' }, el('h2', {}, w.newest), jobTable(page, jobs, [], noJobs())),
      details('status', facts(internal)),
    ];
  };
}

export function workers(page) {
  const w = words.worker;
  return async (get) => {
    const list = (await get('v1/workers')).workers;
    const path = (one) => `v1/workers/${encodeURIComponent(one.name)}/orders`;
    const drain = (one) => {
      const word = one.state === 'draining' ? 'undo' : 'drain';
      return button(words.orders[word], `${word} ${one.name}`, () => send(page, path(one), { order: word }));
    };
    return [el('h1', {}, words.views.workers), table(words.views.workers, [
      [w.name, (one) => one.name], [w.state, (one) => one.reason ? `${one.state}: ${one.reason}` : one.state], [w.leases, (one) => number(one.leases), 'n'],
      [w.credit, (one) => number(one.credit), 'n'], [w.silent, (one) => seconds(one.silent_seconds), 'n'], [w.tiles, (one) => number(one.tiles), 'n'],
      [w.bytes, (one) => size(one.bytes), 'n'], [w.host, (one) => `${one.host} ${one.pid}`], [w.build, (one) => one.build],
      ...(page.isOperator ? [[words.orders.title, drain]] : []),
    ], list, (one) => one.name, empty(w.none, el('code', {}, w.start)))];
  };
}

const history = new Map();
const TEN_MINUTES = 600;

/** Remembers how many requests an origin has had; returns rates by time, oldest first. */
function rates(origin, now = Date.now() / 1000) {
  const list = history.get(origin.origin) ?? [];
  if (list.length === 0 || now - list.at(-1).at >= 1) list.push({ at: now, requests: origin.requests });
  while (list.length > 0 && now - list[0].at > TEN_MINUTES) list.shift();
  history.set(origin.origin, list);
  return list.slice(1).map((one, i) => ({ at: one.at - now, rate: Math.max(0, (one.requests - list[i].requests) / (one.at - list[i].at)) }));
}

function sparkline(points, label) {
  const canvas = el('canvas', { class: 'spark', width: 600, height: 48, role: 'img', 'aria-label': label, 'data-live': '' });
  const context = canvas.getContext('2d', { willReadFrequently: true });
  const most = Math.max(1, ...points.map((one) => one.rate));
  context.strokeStyle = getComputedStyle(document.documentElement).getPropertyValue('--accent');
  context.lineWidth = 2;
  points.forEach(({ at, rate }, i) => context[i === 0 ? 'moveTo' : 'lineTo'](600 + at, 46 - (rate / most) * 44));
  context.stroke();
  return canvas;
}

export function origins() {
  const w = words.origin;
  const limit = (rate, count) => [rate ? `${short(rate)}/s` : null, count ? w.connections(number(count)) : null].filter(Boolean).join(', ') || '–';
  return async (get) => {
    const list = (await get('v1/origins')).origins;
    const now = (one) => rates(one).at(-1)?.rate;
    return [el('h1', {}, words.views.origins), table(words.views.origins, [
      [w.origin, (one) => one.origin], [w.state, (one) => one.state], [w.limit, (one) => limit(one.per_second, one.concurrency)],
      [w.granted, (one) => limit(one.granted_per_second, one.granted_concurrency)], [w.accepts, (one) => limit(one.accepts_per_second, one.accepts_concurrency)],
      [w.now, (one) => (now(one) === undefined ? '–' : `${short(now(one))}/s`), 'n'], [w.requests, (one) => number(one.requests), 'n'], [w.throttled, (one) => number(one.throttled), 'n'],
      [w.failed, (one) => number(one.failed), 'n'], [w.workers, (one) => number(one.workers), 'n'], [w.blocked, (one) => (one.blocked_seconds > 0 ? seconds(one.blocked_seconds) : '–'), 'n'],
    ], list, (one) => one.origin, empty(w.none)),
    list.map((one) => {
      const points = rates(one);
      return el('figure', { class: 'card', key: one.origin }, el('figcaption', {}, `${one.origin}: ${w.rate}`), sparkline(points, `${one.origin}: ${w.rate}`),
        el('p', { class: 'caption' }, points.length === 0 ? words.loading : `${short(Math.min(...points.map((p) => p.rate)))} – ${short(Math.max(...points.map((p) => p.rate)))}/s`));
    })];
  };
}

/** Rows as CSV; a cell that a spreadsheet would compute begins with an apostrophe. */
export function csv(rows) {
  const cell = (value) => {
    const text = String(value ?? '');
    const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
    return /[",\n\r]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
  };
  return rows.map((row) => row.map(cell).join(',')).join('\r\n');
}

export function failed(page, parts, query) {
  const w = words.failed;
  const view = new MapView({ label: w.map });
  page.onEnd(() => view.remove());
  let isFitted = false;
  return async (get) => {
    const job = query.get('job') ?? '';
    const path = new URLSearchParams([['limit', '200'], ...(job ? [['job', job]] : []), ...(query.get('after') ? [['after', query.get('after')]] : [])]);
    const { batches, next } = await get(`v1/failed?${path}`);
    const marks = batches.map((one) => tileOf(one.cell));
    view.set({ marks, squares: marks });
    if (!isFitted && marks.length > 0) { view.fit(boundsOf(marks)); isFitted = true; }
    const give = (one, word) => button(words.orders[word], `${word} ${one.job}/${one.batch}`, async () => {
      if (word === 'drop' && !await confirmed(words.orders.dropText)) return;
      send(page, `v1/jobs/${one.job}/failed/orders`, { order: word, batches: [one.batch] });
    });
    const save = () => {
      const rows = [[w.job, w.batch, w.cell, w.zooms, w.tiles, w.cause, w.detail, w.attempts], ...batches.map((one) => [one.job, one.batch, one.cell, one.zooms, one.tiles, one.cause, one.detail, one.attempts])];
      const url = URL.createObjectURL(new Blob([csv(rows)], { type: 'text/csv' }));
      el('a', { href: url, download: 'failed-work.csv' }).click();
      setTimeout(() => URL.revokeObjectURL(url), 10_000);
    };
    const input = el('input', { id: 'job', inputmode: 'numeric', pattern: '[0-9]*', value: job, key: 'job' });
    return [el('h1', {}, words.views.failed),
      el('form', { on: { submit: (event) => { event.preventDefault(); location.hash = `#/failed?job=${document.getElementById('job').value}`; } }, key: 'filter' },
        el('label', { for: 'job' }, w.filter, input), el('button', { type: 'submit', key: 'apply' }, words.job.apply)),
      batches.length === 0 ? empty(w.none, job ? link(w.all, '#/failed') : link(words.views.jobs, '#/jobs')) : [
        kept(view.element, 'map'),
        el('p', { class: 'buttons' }, button(w.csv, 'csv', save)),
        table(words.views.failed, [
          [w.job, (one) => link(`${one.job}`, `#/job/${one.job}`)], [w.batch, (one) => one.batch, 'n'], [w.cell, (one) => one.cell], [w.zooms, (one) => one.zooms],
          [w.tiles, (one) => `${number(one.tiles)} ${one.whole ? `(${w.whole})` : `(${w.some})`}`], [w.cause, (one) => one.cause], [w.detail, (one) => one.detail], [w.attempts, (one) => number(one.attempts), 'n'],
          ...(page.isOperator ? [[words.orders.title, (one) => el('span', { class: 'buttons' }, give(one, 'requeue'), give(one, 'drop'))]] : []),
        ], batches, (one) => `${one.job}/${one.batch}`),
        next ? link(w.more, `#/failed?${new URLSearchParams({ ...(job ? { job } : {}), after: next })}`) : null,
      ]];
  };
}

export function schedules() {
  const w = words.schedule;
  return async (get) => {
    const list = (await get('v1/schedules')).schedules;
    return [el('h1', {}, words.views.schedules), table(words.views.schedules, [
      [w.id, (one) => one.id], [w.every, (one) => one.every], [w.label, (one) => one.label], [w.next, (one) => (one.paused ? w.paused : seconds(one.next_seconds)), 'n'],
      [w.last, (one) => (one.last_job ? link(`${one.last_job}`, `#/job/${one.last_job}`) : '–'), 'n'], [w.fired, (one) => number(one.fired), 'n'], [w.skipped, (one) => number(one.skipped), 'n'],
    ], list, (one) => one.id, empty(w.none, el('code', {}, w.add)))];
  };
}
