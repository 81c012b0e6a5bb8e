// Places, tiles and boxes on the Web Mercator world. Pure.

/** The width of the world in the units of the server's covers. */
export const WORLD = 2 ** 32;
/** The latitude at the northern edge of the square world, in degrees. */
export const MAX_LATITUDE = 85.0511287798066;

/** Degrees as fractions of the world, 0...1 from the west and from the north. */
export function project(longitude, latitude) {
  const limited = Math.max(-MAX_LATITUDE, Math.min(MAX_LATITUDE, latitude));
  const sine = Math.sin((limited * Math.PI) / 180);
  const y = limited >= MAX_LATITUDE ? 0 : limited <= -MAX_LATITUDE ? 1
    : 0.5 - Math.log((1 + sine) / (1 - sine)) / (4 * Math.PI);
  return { x: (longitude + 180) / 360, y };
}

/** Fractions of the world as degrees. */
export function unproject(x, y) {
  return {
    longitude: x * 360 - 180,
    latitude: (Math.atan(Math.sinh(Math.PI * (1 - 2 * y))) * 180) / Math.PI,
  };
}

/** The fractions of the world that a tile covers. */
export function tileBounds(zoom, x, y) {
  const n = 2 ** zoom;
  return { west: x / n, north: y / n, east: (x + 1) / n, south: (y + 1) / n };
}

/** The tile of the PMTiles id `id`; `null` for a number that no tile has. */
export function tileOfHilbert(id) {
  if (!Number.isSafeInteger(id) || id < 0) return null;
  let zoom = 0;
  let first = 0;
  while (id - first >= 4 ** zoom) {
    first += 4 ** zoom;
    zoom += 1;
    if (zoom > 22) return null;
  }
  let rest = id - first;
  let x = 0;
  let y = 0;
  for (let side = 1; side < 2 ** zoom; side *= 2) {
    const right = Math.floor(rest / 2) % 2;
    const down = (rest + right) % 2;
    if (down === 0) {
      if (right === 1) {
        x = side - 1 - x;
        y = side - 1 - y;
      }
      [x, y] = [y, x];
    }
    x += side * right;
    y += side * down;
    rest = Math.floor(rest / 4);
  }
  return { zoom, x, y };
}

/** The bounds to show around a place: about 20 km in each direction, west, south, east, north. */
export function boundsAround({ longitude, latitude }) {
  const high = 0.18;
  const wide = Math.min(60, high / Math.max(0.003, Math.cos((latitude * Math.PI) / 180)));
  const turn = (degrees) => (degrees < -180 ? degrees + 360 : degrees > 180 ? degrees - 360 : degrees);
  return [turn(longitude - wide), Math.max(-90, latitude - high), turn(longitude + wide), Math.min(90, latitude + high)];
}

/**
 * What is wrong with a box: `null`, or one of `missing`, `number`, `longitude`, `latitude`, `order`.
 * West above east crosses the antimeridian.
 */
export function boxProblem(box) {
  if (box === null) return 'missing';
  const { west, south, east, north } = box;
  if (![west, south, east, north].every(Number.isFinite)) return 'number';
  if (Math.abs(west) > 180 || Math.abs(east) > 180) return 'longitude';
  if (Math.abs(south) > 90 || Math.abs(north) > 90) return 'latitude';
  return south > north ? 'order' : null;
}

/** The box without crossing the antimeridian: one part, or two. */
export function boxParts(box) {
  return box.west <= box.east ? [box]
    : [{ ...box, east: 180 }, { ...box, west: -180 }];
}

function range(from, to, size, count) {
  // A tile belongs to the box when its closed square meets the closed box, as the server counts.
  const first = Math.max(0, Math.ceil(from / size) - 1);
  const last = Math.min(count - 1, Math.floor(to / size));
  return [first, last];
}

/** The columns and rows of one zoom that meet a box: `{columns: [[from, to], …], rows: [from, to]}`. */
export function tileRange(box, zoom) {
  const count = 2 ** zoom;
  const size = WORLD / count;
  const top = Math.round(project(0, box.north).y * WORLD);
  const bottom = Math.round(project(0, box.south).y * WORLD);
  const columns = boxParts(box).map((part) => range(
    Math.round(project(part.west, 0).x * WORLD), Math.round(project(part.east, 0).x * WORLD), size, count));
  if (columns.length === 2 && columns[1][1] >= columns[0][0]) columns.splice(0, 2, [0, count - 1]);
  return { columns, rows: range(top, bottom, size, count) };
}

/** The number of tiles of some zooms that meet a box: the number that the server counts for the same box. */
export function countTiles(box, minZoom, maxZoom) {
  let count = 0;
  for (let zoom = minZoom; zoom <= maxZoom; zoom += 1) {
    const { columns, rows } = tileRange(box, zoom);
    const width = columns.reduce((sum, [from, to]) => sum + to - from + 1, 0);
    count += width * (rows[1] - rows[0] + 1);
  }
  return count;
}

/** The box of two corners in degrees, with four decimals (11 m at the equator). */
export function boxOfCorners(a, b) {
  const round = (value) => Math.round(value * 1e4) / 1e4;
  const limit = (value) => Math.max(-180, Math.min(180, value));
  return {
    west: round(limit(Math.min(a.longitude, b.longitude))), south: round(Math.min(a.latitude, b.latitude)),
    east: round(limit(Math.max(a.longitude, b.longitude))), north: round(Math.max(a.latitude, b.latitude)),
  };
}

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';

/**
 * The tiles of a mask in CARTO's text, with `:zoom` or without: squares `{zoom, x, y}` that do not overlap.
 * Throws a RangeError for a text that is no mask.
 */
export function maskSquares(text, most = 200_000) {
  const [body, zoomText] = text.split(':');
  const deepest = zoomText === undefined ? 22 : Number(zoomText);
  if (!Number.isInteger(deepest) || deepest < 0 || deepest > 22) throw new RangeError('the zoom of the mask');
  const squares = [];
  let place = 0;
  const bit = () => {
    const letter = body.charAt(Math.floor(place / 6)).replace('-', '+').replace('_', '/');
    const digit = ALPHABET.indexOf(letter || '?');
    if (digit < 0) throw new RangeError('the mask ends early, or has another letter');
    const value = (digit >> (5 - (place % 6))) & 1;
    place += 1;
    return value;
  };
  const node = (zoom, x, y) => {
    if (zoom > deepest || squares.length > most) throw new RangeError('the mask is too deep or too large');
    const hasChildren = bit() === 1;
    const inside = bit() === 1;
    if (hasChildren) {
      // Rows are counted from the south.
      for (let i = 0; i < 4; i += 1) node(zoom + 1, 2 * x + (i & 1), 2 * y + (i >> 1));
    } else if (inside) {
      squares.push({ zoom, x, y: 2 ** zoom - 1 - y });
    }
  };
  node(0, 0, 0);
  return squares;
}

/** How many tiles of each zoom squares of a mask stand for, with all parents: one number for each zoom to `deepest`. */
export function countByZoom(squares, deepest = 22) {
  const levels = Array.from({ length: 23 }, () => []);
  for (const { zoom, x, y } of squares) levels[zoom].push(x * 2 ** zoom + y);
  const counts = new Array(deepest + 1).fill(0);
  let tiles = new Set();
  for (let zoom = 22; zoom >= 0; zoom -= 1) {
    const side = 2 ** (zoom + 1);
    const parents = new Set();
    for (const key of tiles) parents.add(Math.floor(Math.floor(key / side) / 2) * 2 ** zoom + Math.floor((key % side) / 2));
    for (const key of levels[zoom]) parents.add(key);
    tiles = parents;
    if (zoom <= deepest) counts[zoom] += tiles.size;
    for (let below = zoom + 1; below <= deepest; below += 1) counts[below] += levels[zoom].length * 4 ** (below - zoom);
  }
  return counts;
}

/** Tells of tiles whether they are in a mask, or above a tile of it: `(zoom, x, y) => true`. */
export function tilesOf(squares) {
  const within = new Set(squares.map(({ zoom, x, y }) => `${zoom}/${x}/${y}`));
  const above = new Set();
  for (const { zoom, x, y } of squares) {
    for (let up = 1; up <= zoom; up += 1) {
      const key = `${zoom - up}/${Math.floor(x / 2 ** up)}/${Math.floor(y / 2 ** up)}`;
      if (above.has(key)) break;
      above.add(key);
    }
  }
  return (zoom, x, y) => {
    if (above.has(`${zoom}/${x}/${y}`)) return true;
    for (let up = 0; up <= zoom; up += 1) if (within.has(`${zoom - up}/${Math.floor(x / 2 ** up)}/${Math.floor(y / 2 ** up)}`)) return true;
    return false;
  };
}

/** Whether squares of a mask have all of other squares. */
export function holdsSquares(squares, wanted) {
  const known = new Set(squares.map(({ zoom, x, y }) => `${zoom}/${x}/${y}`));
  return wanted.every(({ zoom, x, y }) => {
    for (let up = 0; up <= zoom; up += 1) if (known.has(`${zoom - up}/${Math.floor(x / 2 ** up)}/${Math.floor(y / 2 ** up)}`)) return true;
    return false;
  });
}

/** The box of squares in fractions of the world; `null` for none. */
export function boundsOf(squares) {
  let found = null;
  for (const { zoom, x, y } of squares) {
    const one = tileBounds(zoom, x, y);
    found = found === null ? one : {
      west: Math.min(found.west, one.west), north: Math.min(found.north, one.north),
      east: Math.max(found.east, one.east), south: Math.max(found.south, one.south),
    };
  }
  return found;
}
