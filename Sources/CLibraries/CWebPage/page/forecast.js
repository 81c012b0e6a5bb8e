// How large a map will be and how long it takes, from what was built of the same tileset. Pure.
import { countByZoom, maskSquares } from './geo.js';

/** Bytes and seconds of some tiles, from finished jobs of the same tileset; `null` when there are none. */
export function forecast(jobs, tileset, tiles) {
  const same = jobs.filter((job) => job.tileset === tileset && job.stored > 0 && job.elapsed_seconds > 0);
  if (same.length === 0) return null;
  const sum = (pick) => same.reduce((total, job) => total + pick(job), 0);
  return { bytes: (tiles * sum((job) => job.bytes)) / sum((job) => job.tiles), seconds: Math.max(1, (tiles * sum((job) => job.elapsed_seconds)) / sum((job) => job.tiles)) };
}

/** Bytes of some tiles, from the smallest published packages of the same tileset; `null` when there are none. */
export function forecastOfPackages(catalog, tileset, tiles) {
  const same = (catalog.packages ?? []).map((one) => one.versions[0]).filter((one) => one?.tileset === tileset && one.tile_mask.length < 20_000)
    .sort((a, b) => a.files[0].size - b.files[0].size).slice(0, 5);
  let [bytes, count] = [0, 0];
  for (const one of same) {
    const [from, to] = [one.min_zoom ?? 0, one.max_zoom ?? 14];
    bytes += one.files[0].size;
    count += countByZoom(maskSquares(one.tile_mask), to).slice(from, to + 1).reduce((sum, n) => sum + n, 0);
  }
  return count === 0 ? null : { bytes: (tiles * bytes) / count, seconds: null };
}
