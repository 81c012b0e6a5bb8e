// Published packages that hold a whole area: what need not be built again.
import { holdsSquares, maskSquares, tileRange, tilesOf, unproject } from './geo.js';

/** Whether the squares of a mask have every tile of one zoom that meets a box. */
export function holdsBox(squares, box, zoom) {
  const has = tilesOf(squares.filter((one) => one.zoom <= zoom));
  const { columns, rows } = tileRange(box, zoom);
  for (const [from, to] of columns) {
    for (let x = from; x <= to; x += 1) for (let y = rows[0]; y <= rows[1]; y += 1) if (!has(zoom, x, y)) return false;
  }
  return true;
}

/** A place of an area: longitude, latitude. */
function middle({ bounds: [west, south, east, north], squares }) {
  if (squares.length === 0) return [west <= east ? (west + east) / 2 : east, (south + north) / 2];
  const { zoom, x, y } = squares[0];
  const { longitude, latitude } = unproject((x + 0.5) / 2 ** zoom, (y + 0.5) / 2 ** zoom);
  return [longitude, latitude];
}

/** The packages of a tileset with all tiles of a measured area to a zoom, the smallest first: `{item, found}`. */
export async function holders(get, measured, tileset, zoom) {
  const { packages } = await get(`v1/packages?at=${middle(measured).join(',')}`);
  const data = await get('catalog.json');
  const [west, south, east, north] = measured.bounds;
  return packages.flatMap((found) => {
    const item = data.packages.find((other) => other.id === found.id && other.edition === found.edition);
    if (!item || found.max_zoom < zoom || found.tileset !== tileset) return [];
    const squares = maskSquares(item.versions[0].tile_mask);
    const isWhole = measured.squares.length > 0 ? holdsSquares(squares, measured.squares) : holdsBox(squares, { west, south, east, north }, zoom);
    return isWhole ? [{ item, found }] : [];
  });
}
