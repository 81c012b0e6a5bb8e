// Pointer, wheel and keys of a map.
import { boxOfCorners, unproject } from './geo.js';

const STEPS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
/** Pixels that one press of an arrow moves the map. */
const STEP = 80;

/** Lets people move a map and draw on it. `view`: a `MapView`. */
export function listen(view) {
  const { over } = view;
  const pointers = new Map();
  let start = null;
  const at = (event) => { const r = over.getBoundingClientRect(); return [event.clientX - r.left, event.clientY - r.top]; };
  const degrees = ([px, py]) => { const p = view.place(px, py); return unproject(Math.max(0, Math.min(1, p.x)), Math.max(0, Math.min(1, p.y))); };
  over.addEventListener('pointerdown', (event) => {
    over.setPointerCapture(event.pointerId);
    pointers.set(event.pointerId, at(event));
    const isBox = view.onBox && (view.mode === 'box' || event.shiftKey);
    start = { at: at(event), corner: isBox ? degrees(at(event)) : null, camera: { ...view.camera }, hasMoved: false };
  });
  over.addEventListener('pointerleave', () => view.tip.show(null));
  over.addEventListener('pointermove', (event) => {
    if (pointers.size === 0) view.tip.show(at(event));
    if (!pointers.has(event.pointerId) || !start) return;
    const [px, py] = at(event);
    if (pointers.size === 2) {
      const before = spread(pointers);
      pointers.set(event.pointerId, [px, py]);
      const middle = [...pointers.values()].reduce((sum, one) => [sum[0] + one[0] / 2, sum[1] + one[1] / 2], [0, 0]);
      view.zoomBy(Math.log2(spread(pointers) / before) || 0, ...middle);
      start.hasMoved = true;
      return;
    }
    pointers.set(event.pointerId, [px, py]);
    start.hasMoved ||= Math.hypot(px - start.at[0], py - start.at[1]) > 4;
    if (start.corner) view.onBox(boxOfCorners(start.corner, degrees([px, py])), false);
    else if (start.hasMoved) view.move(start.camera.x - (px - start.at[0]) / view.scale, start.camera.y - (py - start.at[1]) / view.scale, view.camera.zoom);
  });
  const end = (event) => {
    if (!pointers.delete(event.pointerId) || !start || event.type === 'pointercancel') return;
    if (start.corner && start.hasMoved) view.onBox(boxOfCorners(start.corner, degrees(at(event))), true);
    else if (!start.hasMoved && view.mode === 'polygon') view.onPoint?.(degrees(at(event)));
    else if (!start.hasMoved) view.onClick?.(...at(event));
    if (pointers.size === 0) start = null;
  };
  over.addEventListener('pointerup', end);
  over.addEventListener('pointercancel', end);
  over.addEventListener('wheel', (event) => {
    event.preventDefault();
    view.zoomBy(Math.max(-1, Math.min(1, -event.deltaY / 300)), ...at(event));
  }, { passive: false });
  over.addEventListener('keydown', (event) => { if (key(view, event)) event.preventDefault(); });
}

/** Pixels between two pointers. */
function spread(pointers) {
  const [a, b] = [...pointers.values()];
  return Math.max(1, Math.hypot(a[0] - b[0], a[1] - b[1]));
}

/** Whether a key means something on the map. */
function key(view, event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return false;
  const step = STEPS[event.key];
  if (step) view.move(view.camera.x + (step[0] * STEP) / view.scale, view.camera.y + (step[1] * STEP) / view.scale, view.camera.zoom);
  else if (event.key === '+' || event.key === '=') view.zoomBy(0.5);
  else if (event.key === '-') view.zoomBy(-0.5);
  else if (event.key === '0' && view.home) view.fit(view.home);
  else if (event.key === 'Enter' && view.mode === 'polygon') view.onPoint?.(unproject(view.camera.x, view.camera.y));
  else if (event.key === 'Enter') view.onClick?.(view.frame.clientWidth / 2, view.frame.clientHeight / 2);
  else return false;
  return true;
}
