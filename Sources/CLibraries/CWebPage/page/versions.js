// What can be laid beside a package on its map: its other versions, kept here or in another catalog.
import { ask } from './api.js';
import { maskSquares, tilesOf } from './geo.js';
import { catalogStyle, packageSource, packageStyle } from './mapstyle.js';
import { words } from './words.js';

/** The other versions of a package, the newest first: `{key, name, version, path}`; `path` is the folder of its tiles. */
export function keptVersions(item) {
  return item.versions.slice(1).map((version) => ({ key: String(version.version), name: words.pack.version(version.version, version.data_date), version, path: 'tiles' }));
}

/** The same package in the other catalogs that the gateway reads, without those of the same bytes. */
export async function versionsElsewhere(get, item) {
  const { catalogs } = await get('v1/catalogs');
  const found = [];
  for (const name of catalogs) {
    // One that cannot be read now is left out.
    const { packages } = await get(`v1/catalogs/${encodeURIComponent(name)}/catalog.json`).catch(() => ({ packages: [] }));
    const other = packages.find((one) => one.id === item.id && one.edition === item.edition)?.versions[0];
    if (!other || other.files[0].sha256 === item.versions[0].files[0].sha256) continue;
    found.push({ key: name, name: words.pack.elsewhere(name, other.version), version: other, path: `v1/catalogs/${encodeURIComponent(name)}/tiles` });
  }
  return found;
}

/** The tiles of a version of a package, see `tilesOfMap`. */
export function tilesOfVersion(get, data, item, { version, path }, language) {
  return tilesOfMap(get, data, { name: `${item.id}@${version.version}`, path, edition: item.edition, tileset: version.tileset, squares: maskSquares(version.tile_mask) }, language);
}

/** What `/tiles` serves under a name, and the styles for it: `{tileJSON, source, styles}`, each style as `{id, name, style}`; the last one is made from the layers. */
export async function tilesOfMap(get, data, { name, path, edition, tileset, squares }, language) {
  const tileJSON = await get(`${path}/${encodeURIComponent(name)}.json${edition ? `?edition=${encodeURIComponent(edition)}` : ''}`);
  const source = packageSource(tileJSON, tilesOf(squares), language);
  const styles = [];
  for (const { id, name: title } of (data.styles ?? []).slice(0, 10)) {
    try {
      const style = catalogStyle(await (await ask(`style/${encodeURIComponent(id)}/style.json`)).json(), tileset, tileJSON, source);
      if (style) styles.push({ id, name: title ?? id, style });
    } catch (error) { console.warn(`style ${id}: ${error.message}`); }
  }
  return { tileJSON, source, styles: [...styles, { id: '', name: words.pack.plainStyle, style: packageStyle(tileJSON, source, language) }] };
}
