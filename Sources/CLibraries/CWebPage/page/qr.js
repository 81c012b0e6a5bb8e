// A text as a QR code (ISO/IEC 18004): bytes, error correction L, versions 1 to 20. Pure.

/** Of each version: bytes of error correction in a block, and blocks (table 9 of the standard, level L). */
const CORRECTION = [7, 10, 15, 20, 26, 18, 20, 24, 30, 18, 20, 24, 26, 30, 22, 24, 28, 30, 28, 28];
const BLOCKS = [1, 1, 1, 1, 1, 2, 2, 2, 2, 4, 4, 4, 4, 4, 6, 6, 6, 6, 7, 8];

/** Rows and columns of the middles of alignment patterns. */
function alignments(version) {
  if (version === 1) return [];
  const [count, last] = [Math.floor(version / 7) + 2, 4 * version + 10];
  const step = 2 * Math.ceil((last - 6) / (2 * count - 2));
  return [6, ...Array.from({ length: count - 1 }, (_, i) => last - i * step).reverse()];
}

/** Bytes of data and correction together: the squares that no pattern takes, by eight. */
function capacity(version) {
  const count = alignments(version).length;
  const side = 4 * version + 17;
  // Three corners with format, two lines, alignment patterns outside of the lines and on them, and the version twice.
  const aligned = count === 0 ? 0 : 25 * (count * count - 3) - 10 * (count - 2);
  return Math.floor((side * side - 3 * 64 - 31 - 2 * (side - 16) - aligned - (version >= 7 ? 36 : 0)) / 8);
}

function multiply(a, b) {
  let result = 0;
  for (let bit = 7; bit >= 0; bit -= 1) result = (result << 1) ^ ((result >> 7) * 0x11d) ^ (((b >> bit) & 1) * a);
  return result;
}

/** The remainder of data by the generator of Reed and Solomon. */
function correction(data, length) {
  let generator = [1];
  for (let i = 0, root = 1; i < length; i += 1, root = multiply(root, 2)) {
    const next = [...generator, 0];
    generator.forEach((factor, at) => { next[at + 1] ^= multiply(factor, root); });
    generator = next;
  }
  const rest = [...data, ...new Array(length).fill(0)];
  data.forEach((_, at) => { const factor = rest[at]; generator.forEach((one, i) => { rest[at + i] ^= multiply(one, factor); }); });
  return rest.slice(data.length);
}

/** The bytes of a code: data in blocks and their correction, interleaved; `null` for a text that is too long. */
function codewords(bytes) {
  for (let version = 1; version <= 20; version += 1) {
    const [total, blocks, extra] = [capacity(version), BLOCKS[version - 1], CORRECTION[version - 1]];
    const room = total - blocks * extra;
    const bits = [[4, 4], [bytes.length, version < 10 ? 8 : 16], ...[...bytes].map((byte) => [byte, 8]), [0, 4]].flatMap(([value, width]) => Array.from({ length: width }, (_, i) => (value >> (width - 1 - i)) & 1));
    if (bits.length - 4 > room * 8) continue;
    const data = Array.from({ length: Math.min(room, Math.ceil(bits.length / 8)) }, (_, i) => Array.from({ length: 8 }, (_, bit) => bits[8 * i + bit] ?? 0).reduce((sum, bit) => 2 * sum + bit, 0));
    for (let pad = 0xec; data.length < room; pad ^= 0xec ^ 0x11) data.push(pad);
    const short = Math.floor(room / blocks);
    const parts = [];
    for (let i = 0, from = 0; i < blocks; i += 1) {
      const length = short + (i >= blocks - (room % blocks) ? 1 : 0);
      parts.push(data.slice(from, from + length));
      from += length;
    }
    const checks = parts.map((part) => correction(part, extra));
    const mixed = (lists, length) => Array.from({ length }, (_, i) => lists.map((list) => list[i]).filter((byte) => byte !== undefined)).flat();
    return { version, bytes: [...mixed(parts, short + 1), ...mixed(checks, extra)] };
  }
  return null;
}

/** A remainder with its value before it: `width` bits of correction. */
function checked(value, width, generator) {
  let rest = value;
  for (let i = 0; i < width; i += 1) rest = (rest << 1) ^ ((rest >> (width - 1)) * generator);
  return (value << width) | rest;
}

const MASKS = [(x, y) => (x + y) % 2, (x, y) => y % 2, (x) => x % 3, (x, y) => (x + y) % 3, (x, y) => (Math.floor(x / 3) + Math.floor(y / 2)) % 2,
  (x, y) => ((x * y) % 2) + ((x * y) % 3), (x, y) => (((x * y) % 2) + ((x * y) % 3)) % 2, (x, y) => (((x + y) % 2) + ((x * y) % 3)) % 2];

/** How hard a code is to read: long runs, squares of one colour, and too much of one. */
function penalty(rows) {
  let sum = 0;
  for (const lines of [rows, rows[0].map((_, x) => rows.map((row) => row[x]))]) {
    for (const line of lines) for (const run of line.map(Number).join('').match(/0{5,}|1{5,}/g) ?? []) sum += run.length - 2;
  }
  for (let y = 1; y < rows.length; y += 1) for (let x = 1; x < rows.length; x += 1) if (rows[y][x] === rows[y - 1][x] && rows[y][x] === rows[y][x - 1] && rows[y][x] === rows[y - 1][x - 1]) sum += 3;
  const dark = rows.flat().filter(Boolean).length / rows.length ** 2;
  return sum + 10 * Math.floor(Math.abs(dark - 0.5) * 20);
}

function draw({ version, bytes }, mask) {
  const side = 4 * version + 17;
  const rows = Array.from({ length: side }, () => new Array(side).fill(null));
  const set = (x, y, isDark) => { if (x >= 0 && y >= 0 && x < side && y < side) rows[y][x] = Boolean(isDark); };
  for (let i = 0; i < side; i += 1) { set(6, i, i % 2 === 0); set(i, 6, i % 2 === 0); }
  const ring = (x, y, reach, isDark) => { for (let dy = -reach; dy <= reach; dy += 1) for (let dx = -reach; dx <= reach; dx += 1) set(x + dx, y + dy, isDark(Math.max(Math.abs(dx), Math.abs(dy)))); };
  for (const [x, y] of [[3, 3], [side - 4, 3], [3, side - 4]]) ring(x, y, 4, (far) => far !== 2 && far !== 4);
  const middles = alignments(version);
  for (const y of middles) for (const x of middles) if (!((x === 6 && (y === 6 || y === side - 7)) || (y === 6 && x === side - 7))) ring(x, y, 2, (far) => far !== 1);
  const format = checked((1 << 3) | mask, 10, 0x537) ^ 0x5412;
  for (let i = 0; i < 15; i += 1) {
    const bit = (format >> i) & 1;
    if (i < 8) { set(8, i < 6 ? i : i + 1, bit); set(side - 1 - i, 8, bit); } else { set(i === 8 ? 7 : 14 - i, 8, bit); set(8, side - 15 + i, bit); }
  }
  set(8, side - 8, true);
  const number = checked(version, 12, 0x1f25);
  for (let i = 0; version >= 7 && i < 18; i += 1) {
    const [a, b] = [side - 11 + (i % 3), Math.floor(i / 3)];
    set(a, b, (number >> i) & 1);
    set(b, a, (number >> i) & 1);
  }
  let at = 0;
  for (let right = side - 1, isUp = true; right > 0; right -= 2, isUp = !isUp) {
    if (right === 6) right -= 1;
    for (let i = 0; i < side; i += 1) {
      for (const x of [right, right - 1]) {
        const y = isUp ? side - 1 - i : i;
        if (rows[y][x] !== null) continue;
        const bit = ((bytes[at >> 3] ?? 0) >> (7 - (at & 7))) & 1;
        at += 1;
        rows[y][x] = Boolean(bit) !== (MASKS[mask](x, y) === 0);
      }
    }
  }
  return rows;
}

/** The squares of a code as rows, `true` for dark; `null` for a text of more than 858 bytes. */
export function qrCode(text) {
  const found = codewords(new TextEncoder().encode(text));
  if (found === null) return null;
  return MASKS.map((_, mask) => draw(found, mask)).reduce((best, one) => (best === null || penalty(one) < penalty(best) ? one : best), null);
}
