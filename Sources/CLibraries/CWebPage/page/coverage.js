// Which cells of a job are stored, in work or failed. Pure.
import { tileOfHilbert } from './geo.js';
import { Fields, numbers } from './proto.js';

/** The states of a cell by their byte. */
export const STATES = ['outside', 'waiting', 'work', 'stored', 'partly', 'empty', 'failed', 'lost', 'cut', 'same'];
/** From the best state to the worst: where one byte stands for several cells, it has the worst state. */
const ORDER = [0, 9, 3, 4, 5, 8, 2, 1, 6, 7];
const RANK = ORDER.reduce((ranks, state, rank) => { ranks[state] = rank; return ranks; }, []);
const HEAD = 13;
const BAND = 16;

/**
 * Decodes `application/vnd.packhorse.coverage`; numbers are little-endian.
 * `x` and `y` of a band are the column and row of its first byte at zoom `cellZoom - shift`.
 * Throws a RangeError for damaged bytes.
 */
export function decodeCoverage(buffer) {
  const view = new DataView(buffer);
  if (view.byteLength < HEAD || view.getUint32(0) !== 0x50484331) throw new RangeError('not a PHC1 document');
  const bands = [];
  let place = HEAD;
  for (let count = view.getUint8(4); count > 0; count -= 1) {
    if (view.byteLength - place < BAND) throw new RangeError('the head of a band ends early');
    const band = {
      zoomMin: view.getUint8(place), zoomMax: view.getUint8(place + 1), cellZoom: view.getUint8(place + 2),
      shift: view.getUint8(place + 3), x: view.getUint32(place + 4, true), y: view.getUint32(place + 8, true),
      width: view.getUint16(place + 12, true), height: view.getUint16(place + 14, true),
    };
    place += BAND;
    const length = band.width * band.height;
    if (band.cellZoom > 22 || band.shift > band.cellZoom) throw new RangeError('a band has no such zoom');
    if (length > view.byteLength - place) throw new RangeError('the cells of a band end early');
    band.cells = new Uint8Array(buffer, place, length);
    if (band.cells.some((state) => state >= STATES.length)) throw new RangeError('a cell has an unknown state');
    place += length;
    bands.push(band);
  }
  return { change: view.getBigUint64(5, true), bands };
}

/** How many cells of a band have each state. */
export function countStates(band) {
  const counts = new Array(STATES.length).fill(0);
  for (const state of band.cells) counts[state] += 1;
  return counts;
}

/** Follows the batches of one job in the event log, for gateways that have no coverage document. */
export class LogCoverage {
  constructor() {
    this.batches = [];
    this.change = 0;
  }

  /** Whether the log still has the plan of the job. */
  get isKnown() { return this.batches.length > 0; }

  /** Takes the events of the job, in their order; returns whether any cell changed. */
  add(events) {
    const before = this.change;
    for (const event of events) {
      if (event.seq <= this.change || !event.data) continue;
      const bytes = Uint8Array.from(atob(event.data), (letter) => letter.charCodeAt(0));
      for (const [number, value] of new Fields(bytes)) this.#apply(number, value);
      this.change = event.seq;
    }
    return this.change !== before;
  }

  #apply(number, value) {
    if (number === 4) return this.#row(value);
    if (number !== 1 && number !== 8 && number !== 9) return undefined;
    let first = 0;
    let plan = null;
    const rows = [];
    for (const [field, part] of new Fields(value)) {
      if (field === 1 && number !== 1) first = part;
      else if (field === 2) plan = part;
      else if (field === 3 && number !== 1) rows.push(part);
    }
    if (plan !== null) {
      // A new plan replaces all batches; batches that were added follow the earlier ones.
      if (number !== 8) this.batches = [];
      this.#plan(plan, number === 8 ? first : 0);
    }
    rows.forEach((row) => this.#row(row));
    return undefined;
  }

  #plan(bytes, first) {
    const lists = [[], [], [], [], []];
    for (const [field, value] of new Fields(bytes)) {
      if (field >= 1 && field <= 4) lists[field] = lists[field].concat(numbers(value));
    }
    lists[1].forEach((id, i) => {
      const cell = tileOfHilbert(id);
      if (cell === null) throw new RangeError('a cell that does not exist');
      this.batches[first + i] = { cell, zoomMin: lists[2][i], zoomMax: lists[3][i], tiles: lists[4][i], state: 1 };
    });
  }

  #row(bytes) {
    let names = [];
    let values = [];
    for (const [field, value] of new Fields(bytes)) {
      if (field === 1) names = names.concat(numbers(value));
      else if (field === 2) values = values.concat(numbers(value));
    }
    const of = (name) => { const at = names.indexOf(name); return at < 0 ? 0 : values[at]; };
    const batch = this.batches[of(1)];
    if (batch) batch.state = LogCoverage.#state(of);
  }

  static #state(of) {
    const [state, stored, empty, failed, same] = [of(2), of(8), of(9), of(10), of(17)];
    if (state === 1) return 2;
    if (state === 4) return 7;
    if (state === 5) return 8;
    if (state !== 3) return 1;
    if (failed > 0) return 6;
    if (stored === 0 && empty > 0) return 5;
    if (stored > 0 && same >= stored) return 9;
    return empty > 0 ? 4 : 3;
  }

  /** The bands of the job, the deepest zooms first, with sides of at most `size` bytes. */
  bands(size = 512) {
    const groups = new Map();
    for (const batch of this.batches) {
      if (!batch) continue;
      const key = `${batch.zoomMin}-${batch.zoomMax}`;
      if (!groups.has(key)) groups.set(key, []);
      groups.get(key).push(batch);
    }
    return [...groups.values()].map((group) => raster(group, size)).sort((a, b) => b.zoomMax - a.zoomMax);
  }
}

/** Batches of the same zooms as one band. */
export function raster(batches, size) {
  const cellZoom = Math.max(...batches.map((batch) => batch.cell.zoom));
  const squares = batches.map(({ cell, state }) => {
    const scale = 2 ** (cellZoom - cell.zoom);
    return { west: cell.x * scale, north: cell.y * scale, east: (cell.x + 1) * scale, south: (cell.y + 1) * scale, state };
  });
  let shift = 0;
  const edge = (name, choose) => squares.reduce((value, one) => choose(value, one[name]), squares[0][name]);
  const [west, north] = [edge('west', Math.min), edge('north', Math.min)];
  const [east, south] = [edge('east', Math.max), edge('south', Math.max)];
  const down = (value) => Math.floor(value / 2 ** shift);
  const up = (value) => Math.ceil(value / 2 ** shift);
  while (up(east) - down(west) > size || up(south) - down(north) > size) shift += 1;
  const band = {
    zoomMin: batches[0].zoomMin, zoomMax: batches[0].zoomMax, cellZoom, shift,
    x: down(west), y: down(north), width: up(east) - down(west), height: up(south) - down(north),
  };
  band.cells = new Uint8Array(band.width * band.height);
  for (const one of squares) {
    for (let y = down(one.north); y < up(one.south); y += 1) {
      for (let x = down(one.west); x < up(one.east); x += 1) {
        const at = (y - band.y) * band.width + x - band.x;
        // A batch that was cut is replaced by its parts.
        if (RANK[one.state] > RANK[band.cells[at]] || band.cells[at] === 8) band.cells[at] = one.state;
      }
    }
  }
  return band;
}
