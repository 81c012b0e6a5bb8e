// Letters for MapLibre, made from the fonts of the browser: a map has labels in every script and requests no font.

/** Pixels of the font's height; the size that MapLibre expects. */
const SIZE = 24;
/** Pixels around a letter for which the distance to its edge is stored. */
const BORDER = 3;
/** Pixels over which the distance to the edge is encoded, and the share of them inside of the letter. */
const [RADIUS, INSIDE] = [8, 0.25];
const FAR = 1e9;

/** One row or column: the squared distance of each place to the nearest one, where `start` has the distance that is known already. */
function nearest(start) {
  const n = start.length;
  const result = new Float64Array(n);
  // The curves `start[p] + (x - p)²` that are the lowest somewhere, and where each begins to be.
  const curves = [0];
  const from = [-Infinity];
  for (let q = 1; q < n; q += 1) {
    let begin;
    for (;;) {
      const p = curves.at(-1);
      begin = (start[q] + q * q - start[p] - p * p) / (2 * (q - p));
      if (begin > from.at(-1)) break;
      curves.pop();
      from.pop();
    }
    curves.push(q);
    from.push(begin);
  }
  for (let x = 0, k = 0; x < n; x += 1) {
    while (k + 1 < curves.length && from[k + 1] < x) k += 1;
    result[x] = start[curves[k]] + (x - curves[k]) ** 2;
  }
  return result;
}

/** The squared distance of each pixel of a picture to the nearest one. */
function distances(start, width, height) {
  const result = Float64Array.from(start);
  for (let x = 0; x < width; x += 1) {
    const column = nearest(Float64Array.from({ length: height }, (_, y) => result[y * width + x]));
    for (let y = 0; y < height; y += 1) result[y * width + x] = column[y];
  }
  for (let y = 0; y < height; y += 1) result.set(nearest(result.slice(y * width, (y + 1) * width)), y * width);
  return result;
}

/** The field of a picture of how much each pixel is covered, 0...1: 255 deep inside, 191 at the edge, 0 far outside. */
export function signedField(cover, width, height) {
  const outside = distances(cover.map((a) => (a >= 1 ? 0 : a <= 0 ? FAR : Math.max(0, 0.5 - a) ** 2)), width, height);
  const inside = distances(cover.map((a) => (a <= 0 ? 0 : a >= 1 ? FAR : Math.max(0, a - 0.5) ** 2)), width, height);
  return Uint8Array.from(outside, (far, i) => Math.max(0, Math.min(255, Math.round(255 * (1 - INSIDE - (Math.sqrt(far) - Math.sqrt(inside[i])) / RADIUS)))));
}

const zigzag = (value) => (value < 0 ? -2 * value - 1 : 2 * value);
function varint(value) {
  const bytes = [];
  for (let rest = value; ; rest = Math.floor(rest / 128)) {
    if (rest < 128) return [...bytes, rest];
    bytes.push((rest % 128) + 128);
  }
}
const numberField = (field, value) => [...varint(field * 8), ...varint(value)];
const bytesField = (field, bytes) => [...varint(field * 8 + 2), ...varint(bytes.length), ...bytes];
const textField = (field, text) => bytesField(field, new TextEncoder().encode(text));

/** A file of glyphs in Protocol Buffers: `{id, width, height, left, top, advance, field}` each. */
export function glyphFile(stack, range, glyphs) {
  const packed = glyphs.map((one) => bytesField(3, [...numberField(1, one.id), ...(one.field.length > 0 ? bytesField(2, one.field) : []),
    ...numberField(3, one.width), ...numberField(4, one.height), ...numberField(5, zigzag(one.left)), ...numberField(6, zigzag(one.top)), ...numberField(7, one.advance)]));
  return Uint8Array.from(bytesField(1, [...textField(1, stack), ...textField(2, range), ...packed.flat()])).buffer;
}

let context;
function draw(code, stack) {
  const letter = String.fromCodePoint(code);
  context ??= document.createElement('canvas').getContext('2d', { willReadFrequently: true });
  const font = `${/bold/i.test(stack) ? 'bold ' : ''}${SIZE}px system-ui, "Liberation Sans", sans-serif`;
  context.font = font;
  const box = context.measureText(letter);
  const [left, ascent] = [Math.floor(-box.actualBoundingBoxLeft), Math.ceil(box.actualBoundingBoxAscent)];
  const width = Math.max(0, Math.min(2 * SIZE, Math.ceil(box.actualBoundingBoxRight) - left));
  const height = Math.max(0, Math.min(2 * SIZE, ascent + Math.ceil(box.actualBoundingBoxDescent)));
  const glyph = { id: code, width, height, left, top: ascent - 26, advance: Math.round(box.width), field: [] };
  if (width === 0 || height === 0) return { ...glyph, width: 0, height: 0 };
  const [across, down] = [width + 2 * BORDER, height + 2 * BORDER];
  Object.assign(context.canvas, { width: across, height: down });
  context.font = font;
  context.fillText(letter, BORDER - left, BORDER + ascent);
  const { data } = context.getImageData(0, 0, across, down);
  const cover = Float64Array.from({ length: across * down }, (_, i) => data[4 * i + 3] / 255);
  return { ...glyph, field: signedField(cover, across, down) };
}

/** Letters that are drawn at a time: a file has up to 256, and the page must answer between them. */
const AT_ONCE = 16;
/** The next turn of the page; a timer would wait 4 ms each time. */
const turn = () => new Promise((resolve) => {
  const { port1, port2 } = new MessageChannel();
  port1.onmessage = () => { port1.close(); resolve(); };
  port2.postMessage(null);
});

async function makeFile(stack, range) {
  const [first, last] = range.split('-').map(Number);
  const glyphs = [];
  for (let code = first; code <= last; code += 1) {
    // Controls and halves of pairs have no picture.
    if (code >= 0x20 && (code < 0x7f || code > 0x9f) && (code < 0xd800 || code > 0xdfff)) glyphs.push(draw(code, stack));
    if (code % AT_ONCE === 0) await turn();
  }
  return glyphFile(stack, range, glyphs);
}

/** The files that were made, as promises: every map of the page has the same letters. */
const files = new Map();

/** Answers `glyphs://STACK/FIRST-LAST` for MapLibre. */
export async function loadGlyphs({ url }) {
  if (!files.has(url)) files.set(url, makeFile(...url.slice('glyphs://'.length).split('/').map(decodeURIComponent)));
  return { data: await files.get(url) };
}
