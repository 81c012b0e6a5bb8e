// What is drawn over a base map: cells, tiles, a box, a polygon, the lines and places of a file.
import { boxParts, project, tileBounds } from './geo.js';
import { theme } from './mapstyle.js';

const CELLS = ['', '--c-waiting', '--c-work', '--c-stored', '--c-partly', '--c-empty', '--c-failed', '--c-lost', '', '--c-same'];

/** Draws pictures, see `MapView.set`, as a view (camera.js) shows them. */
export function drawPictures(context, pictures, view) {
  const rect = (bounds) => [(bounds.west - view.west) * view.scale, (bounds.north - view.north) * view.scale,
    (bounds.east - bounds.west) * view.scale, (bounds.south - bounds.north) * view.scale];
  for (const band of pictures.bands ?? []) drawBand(context, band, rect, pictures.isSheer ? 0.45 : 0.75);
  context.strokeStyle = theme('--accent');
  context.fillStyle = theme('--mask');
  drawSquares(context, pictures, view, rect);
  for (const { zoom, x, y } of pictures.marks ?? []) cross(context, rect(tileBounds(zoom, x, y)));
  if (pictures.box) drawBox(context, pictures.box, rect);
  if (pictures.polygon?.length > 0) drawPolygon(context, pictures.polygon, view);
  if (pictures.outline) drawOutline(context, pictures.outline, view);
}

/** One path for all squares: hundreds of thousands are drawn at once. */
function drawSquares(context, { squares = [], hasBorders }, view, rect) {
  context.beginPath();
  const bordered = [];
  for (const { zoom, x, y } of squares) {
    const at = rect(tileBounds(zoom, x, y));
    if (at[0] > view.width || at[1] > view.height || at[0] + at[2] < 0 || at[1] + at[3] < 0) continue;
    context.rect(...at);
    if (hasBorders && at[2] > 6) bordered.push(at);
  }
  context.fill();
  for (const at of bordered) context.strokeRect(...at);
}

function drawBox(context, box, rect) {
  context.lineWidth = 2;
  context.setLineDash([6, 3]);
  for (const part of boxParts(box)) {
    const [first, last] = [project(part.west, part.north), project(part.east, part.south)];
    const at = rect({ west: first.x, north: first.y, east: last.x, south: last.y });
    context.fillRect(...at);
    context.strokeRect(...at);
  }
  context.setLineDash([]);
}

function drawPolygon(context, polygon, view) {
  const places = polygon.map(([longitude, latitude]) => project(longitude, latitude)).map(({ x, y }) => [(x - view.west) * view.scale, (y - view.north) * view.scale]);
  context.lineWidth = 2;
  context.beginPath();
  places.forEach(([x, y], i) => context[i === 0 ? 'moveTo' : 'lineTo'](x, y));
  context.closePath();
  context.fill();
  context.stroke();
  context.fillStyle = theme('--accent');
  for (const [x, y] of places) context.fillRect(x - 4, y - 4, 8, 8);
}

/** Lines and places with an edge, which sets them off from every map; a line across the antimeridian goes on at the other side of the world. */
function drawOutline(context, { lines, points }, view) {
  const at = ({ x, y }, turn) => [(x + turn - view.west) * view.scale, (y - view.north) * view.scale];
  context.beginPath();
  for (const turn of [-1, 0, 1]) {
    for (const line of lines) if (turn === 0 || line.some(({ x }) => x + turn > 0 && x + turn < 1)) line.forEach((one, i) => context[i === 0 ? 'moveTo' : 'lineTo'](...at(one, turn)));
  }
  for (const one of points) {
    const [x, y] = at(one, 0);
    context.moveTo(x + 3, y);
    context.arc(x, y, 3, 0, 2 * Math.PI);
  }
  context.lineJoin = 'round';
  for (const [width, colour] of [[7, '--card'], [4, '--focus']]) {
    context.lineWidth = width;
    context.strokeStyle = theme(colour);
    context.stroke();
  }
}

/** One pixel for each byte, stretched without smoothing; failed cells also have a cross. `alpha`: less where a map is below. */
function drawBand(context, band, rect, alpha) {
  if (band.width === 0 || band.height === 0) return;
  const n = 2 ** (band.cellZoom - band.shift);
  const at = rect({ west: band.x / n, north: band.y / n, east: (band.x + band.width) / n, south: (band.y + band.height) / n });
  context.imageSmoothingEnabled = false;
  context.globalAlpha = alpha;
  context.drawImage(pictureOf(band), ...at);
  context.globalAlpha = 1;
  const side = at[2] / band.width;
  if (side < 6) return;
  context.strokeStyle = theme('--grid');
  context.lineWidth = 1;
  context.beginPath();
  const crossed = [];
  band.cells.forEach((state, i) => {
    if (state === 0) return;
    const place = [at[0] + (i % band.width) * side, at[1] + Math.floor(i / band.width) * side, side, side];
    context.rect(...place);
    if (state === 6 || state === 7) crossed.push(place);
  });
  context.stroke();
  for (const place of crossed) cross(context, place);
}

/** The pixels of bands, which stay while the map is moved; those of another theme are made again. */
const pictures = new WeakMap();

function pictureOf(band) {
  const colours = CELLS.map((name) => (name ? theme(name) : ''));
  const key = colours.join();
  const known = pictures.get(band);
  if (known?.key === key) return known.picture;
  const picture = document.createElement('canvas');
  [picture.width, picture.height] = [band.width, band.height];
  const pixels = picture.getContext('2d', { willReadFrequently: true });
  band.cells.forEach((state, i) => {
    if (!colours[state]) return;
    pixels.fillStyle = colours[state];
    pixels.fillRect(i % band.width, Math.floor(i / band.width), 1, 1);
  });
  pictures.set(band, { key, picture });
  return picture;
}

function cross(context, [left, top, width, height]) {
  const grow = Math.max(0, 6 - width) / 2;
  context.save();
  context.strokeStyle = theme('--cross');
  context.lineWidth = 2;
  context.beginPath();
  context.moveTo(left - grow, top - grow);
  context.lineTo(left + width + grow, top + height + grow);
  context.moveTo(left + width + grow, top - grow);
  context.lineTo(left - grow, top + height + grow);
  context.stroke();
  context.restore();
}
