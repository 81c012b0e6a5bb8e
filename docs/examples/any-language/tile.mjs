// Reads one tile of a PMTiles file, on disk or on a web server that answers ranges, and writes its bytes, as they are stored.
// usage: node tile.mjs FILE-OR-URL Z X Y > tile      (Node 20 or newer, no packages; in a page: import { tile } from "./tile.mjs")

/** The bytes of a tile, or null. `read(offset, length)` gives a Uint8Array of a part of the file. */
export async function tile(read, z, x, y) {
  const head = await read(0, 127), view = new DataView(head.buffer, head.byteOffset, head.byteLength);
  const number = at => Number(view.getBigUint64(at, true));
  if (new TextDecoder().decode(head.subarray(0, 7)) !== "PMTiles" || head[7] !== 3) throw new Error("not a PMTiles 3 file");
  if (head[97] !== 1 && head[97] !== 2) throw new Error("its directories are not compressed with gzip");
  const wanted = place(z, x, y);
  let [at, length] = [number(8), number(16)];
  for (let depth = 0; depth < 4; depth++) { // the root, and leaves below it
    const found = find(await unpack(await read(at, length), head[97] === 2), wanted);
    if (!found) return null;
    at = number(found.run ? 56 : 40) + found.at;
    length = found.length;
    if (found.run) return read(at, length); // else it is another directory
  }
  throw new Error("its directories do not end");
}

async function unpack(bytes, isPacked) {
  if (!isPacked) return bytes;
  return new Uint8Array(await new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).arrayBuffer());
}

/** A tile's place on the Hilbert curve, behind all lower zooms. No bit operators: they have 32 bits. */
function place(z, x, y) {
  let sum = (4 ** z - 1) / 3;
  for (let s = 2 ** z / 2; s >= 1; s /= 2) {
    const right = x >= s, up = y >= s;
    sum += s * s * (right ? (up ? 2 : 3) : (up ? 1 : 0));
    [x, y] = [x % s, y % s];
    if (!up && right) [x, y] = [s - 1 - x, s - 1 - y];
    if (!up) [x, y] = [y, x];
  }
  return sum;
}

/** The last entry of a directory that begins at or before the tile, when it has the tile or is a directory. */
function find(bytes, wanted) {
  let next = 0;
  const varint = () => {
    for (let value = 0, factor = 1; ; factor *= 128) {
      if (next >= bytes.length) throw new Error("a directory ends too early");
      const byte = bytes[next++];
      value += (byte & 127) * factor;
      if (byte < 128) return value;
    }
  };
  const entries = [], count = varint();
  for (let i = 0, id = 0; i < count; i++) entries.push({ id: id += varint() });
  for (const entry of entries) entry.run = varint();
  for (const entry of entries) entry.length = varint();
  entries.forEach((entry, i) => {
    const value = varint(); // 0: it follows the entry before
    entry.at = value ? value - 1 : entries[i - 1].at + entries[i - 1].length;
  });
  const found = entries.findLast(entry => entry.id <= wanted);
  return found && (found.run === 0 || wanted < found.id + found.run) ? found : null;
}

/** `read` for a file on a web server. */
export const onServer = url => async (offset, length) => {
  const answer = await fetch(url, { headers: { range: `bytes=${offset}-${offset + length - 1}` } });
  if (answer.status !== 206) throw new Error(`${url}: ${answer.status}, a server that does not answer ranges`);
  return new Uint8Array(await answer.arrayBuffer());
};

if (globalThis.process?.argv[1]?.endsWith("tile.mjs")) try {
  if (process.argv.length !== 6) throw new Error("usage: node tile.mjs FILE-OR-URL Z X Y > tile");
  const [file, ...zxy] = process.argv.slice(2), { openSync, readSync } = await import("node:fs");
  const open = name => { const at = openSync(name); return async (offset, length) => { const b = new Uint8Array(length); return b.subarray(0, readSync(at, b, 0, length, offset)); }; };
  const bytes = await tile(/^https?:/.test(file) ? onServer(file) : open(file), ...zxy.map(Number));
  if (bytes) process.stdout.write(bytes); else { console.error("no such tile"); process.exitCode = 1; }
} catch (problem) {
  console.error(`${problem.message}${problem.cause ? `: ${problem.cause.message || problem.cause.code}` : ""}`);
  process.exitCode = 1;
}
