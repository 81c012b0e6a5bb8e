// A link to give to others: copied, or as a QR code for the camera of a phone.
import { button, el, note } from './dom.js';
import { qrCode } from './qr.js';
import { words } from './words.js';

/** Pixels of a square, and squares of the white edge that readers need. */
const [SQUARE, EDGE] = [4, 4];

function picture(rows, url) {
  const side = (rows.length + 2 * EDGE) * SQUARE;
  const canvas = el('canvas', { width: side, height: side, role: 'img', 'aria-label': words.share.code(url) });
  const context = canvas.getContext('2d');
  // Dark on light in both themes: not every reader takes the reverse.
  context.fillStyle = '#ffffff';
  context.fillRect(0, 0, side, side);
  context.fillStyle = '#000000';
  rows.forEach((row, y) => row.forEach((isDark, x) => { if (isDark) context.fillRect((x + EDGE) * SQUARE, (y + EDGE) * SQUARE, SQUARE, SQUARE); }));
  return canvas;
}

/** The address without the id of a map that was built: another area is another map. Pure. */
export function withoutID(hash) {
  const [path, text] = hash.split('?');
  const query = new URLSearchParams(text);
  query.delete('id');
  return `${path}?${query}`;
}

/** Whether only this computer can open an address. Pure. */
export const isLocal = (url) => /^(localhost|127(\.\d+){3}|\[::1\])$/.test(new URL(url).hostname);

/** Shows a link with its code. `address`: relative to this page; `base`: the public address of the page, where the gateway has one. */
export function shareLink(address, base) {
  const w = words.share;
  const url = new URL(address, base ? base.replace(/\/?$/, '/') : location.href).href;
  const rows = qrCode(url);
  const close = () => { removeEventListener('hashchange', close); dialog.close(); dialog.remove(); };
  const copy = () => navigator.clipboard?.writeText(url).then(() => note(words.pack.copied));
  const dialog = el('dialog', { 'aria-label': w.title, on: { cancel: close } }, el('h2', {}, w.title), el('p', { class: 'mono' }, url),
    isLocal(url) ? el('p', { class: 'soft' }, w.local) : rows === null ? el('p', { class: 'soft' }, w.tooLong) : [picture(rows, url), el('p', { class: 'soft' }, w.scan)],
    el('p', { class: 'buttons' }, button(w.copy, 'copy', copy, { class: 'main' }), button(w.close, 'close', close)));
  addEventListener('hashchange', close);
  document.body.append(dialog);
  dialog.showModal();
}
