// Where a map looks: the place in its middle as fractions of the world, and its zoom. Pure.

const MOST_ZOOM = 18;
/** Pixels of a tile. */
const TILE = 512;
/** A map that is not laid out yet counts as this many pixels. */
const LEAST = 100;

/** Pixels of the width of the world. */
export const scaleOf = (zoom) => TILE * 2 ** zoom;

/** What a map of `width` and `height` pixels shows; `west` and `north` are its edges in fractions of the world. */
export function viewOf({ x, y, zoom }, { width, height }) {
  const scale = scaleOf(zoom);
  return { x, y, zoom, width, height, scale, west: x - width / 2 / scale, north: y - height / 2 / scale };
}

/** A camera within the world; the whole width fits into half of the map at the least zoom. */
export function limited({ x, y, zoom }, { width }) {
  const least = Math.log2(Math.max(width, LEAST) / TILE) - 1;
  return { x: Math.max(0, Math.min(1, x)), y: Math.max(0, Math.min(1, y)), zoom: Math.max(least, Math.min(MOST_ZOOM, zoom)) };
}

/** The camera that shows a box in fractions of the world, with an edge of a tenth. */
export function fitted(box, { width, height }) {
  const wide = Math.max(box.east - box.west, 1e-7);
  const high = Math.max(box.south - box.north, 1e-7);
  const zoom = Math.log2(Math.min(Math.max(width, LEAST) / wide, Math.max(height, LEAST) / high) * 0.9 / TILE);
  return { x: (box.west + box.east) / 2, y: (box.north + box.south) / 2, zoom };
}

/** The place of a pixel in fractions of the world. */
export function placeAt(view, px, py) {
  return { x: view.west + px / view.scale, y: view.north + py / view.scale };
}

/** Whether a box in fractions of the world is in view. Pure. */
export const holds = ({ west, north, width, height, scale }, box) => box.west >= west && box.north >= north && box.east <= west + width / scale && box.south <= north + height / scale;

/** Another zoom by `step`; the place at a pixel stays where it is. */
export function zoomed(view, step, px, py) {
  const at = placeAt(view, px, py);
  const zoom = Math.min(MOST_ZOOM, view.zoom + step);
  const scale = scaleOf(zoom);
  return { x: at.x - (px - view.width / 2) / scale, y: at.y - (py - view.height / 2) / scale, zoom };
}
