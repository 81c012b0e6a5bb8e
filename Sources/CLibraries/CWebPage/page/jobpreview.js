// The published packages of a job below its cells: those of before while it runs, then its own.
import { maskSquares } from './geo.js';
import { tilesOfMap } from './versions.js';

export class JobPreview {
  constructor(view) {
    this.view = view;
    this.turn = '';
    this.shown = '';
  }

  /** Shows what is published of the packages of a job; asks for the catalog only when another of them was published. */
  async update(get, job, language) {
    const turn = job.packages.map((one) => `${one.id} ${one.state === 'published' ? one.version : ''}`).join();
    if (turn === this.turn) return;
    const data = await get('catalog.json');
    const ids = new Set(job.packages.map((one) => one.id));
    const all = data.packages.filter((one) => ids.has(one.id) && one.versions[0].tileset === job.tileset);
    const found = all.filter((one) => one.edition === all[0].edition);
    const shown = found.map((one) => `${one.edition}${one.id}@${one.versions[0].version}`).join();
    if (shown !== this.shown && found.length > 0) await this.#draw(get, data, job, found, language);
    // What failed is tried again.
    [this.turn, this.shown] = [turn, shown];
  }

  async #draw(get, data, job, found, language) {
    const squares = found.flatMap((one) => maskSquares(one.versions[0].tile_mask));
    const { source, styles } = await tilesOfMap(get, data, { name: `~${job.tileset}`, path: 'tiles', edition: found[0].edition, tileset: job.tileset, squares }, language);
    this.view.setSource(source);
    this.view.setStyle(styles[0].style, found[0].versions[0].attribution ?? '', styles.at(-1).style);
    this.view.set({ isSheer: true });
  }
}
