// Files that are dropped anywhere on the page: without this the browser opens them, and the form is gone.
import { el } from './dom.js';

/** Takes dropped files until the function that it returns is called; `text` is over the page while files are dragged. */
export function takeFiles(text, take) {
  const sign = el('p', { class: 'drop' }, text);
  const ends = new AbortController();
  const listen = (name, run) => document.addEventListener(name, (event) => { if (event.dataTransfer?.types.includes('Files')) run(event); }, { signal: ends.signal });
  listen('dragover', (event) => {
    event.preventDefault();
    if (!sign.isConnected) document.body.append(sign);
  });
  // Without an element that is entered the files have left the window.
  listen('dragleave', (event) => { if (event.relatedTarget === null) sign.remove(); });
  listen('drop', (event) => {
    event.preventDefault();
    sign.remove();
    take(event.dataTransfer.files);
  });
  return () => {
    ends.abort();
    sign.remove();
  };
}
