// Tests of the page's pure modules. Run by ops/check-page.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { areaOfLink, deepestWithin, fileName, hasLines, isCut, linkOfArea, nameOfArea, placesOf, sumTiles } from '../../Sources/CLibraries/CWebPage/page/area.js';
import { fitted, holds, limited, placeAt, scaleOf, viewOf, zoomed } from '../../Sources/CLibraries/CWebPage/page/camera.js';
import { LogCoverage, countStates, decodeCoverage, raster } from '../../Sources/CLibraries/CWebPage/page/coverage.js';
import { hasNoTiles } from '../../Sources/CLibraries/CWebPage/page/cost.js';
import { forecast, forecastOfPackages } from '../../Sources/CLibraries/CWebPage/page/forecast.js';
import * as geo from '../../Sources/CLibraries/CWebPage/page/geo.js';
import { glyphFile, signedField } from '../../Sources/CLibraries/CWebPage/page/glyphs.js';
import { holdsBox } from '../../Sources/CLibraries/CWebPage/page/holders.js';
import { nameOfFeature, placeLabels } from '../../Sources/CLibraries/CWebPage/page/labels.js';
import { moveOf } from '../../Sources/CLibraries/CWebPage/page/mapslider.js';
import { readTile } from '../../Sources/CLibraries/CWebPage/page/mvt.js';
import { qrCode } from '../../Sources/CLibraries/CWebPage/page/qr.js';
import { isLocal } from '../../Sources/CLibraries/CWebPage/page/share.js';
import { tokenOf } from '../../Sources/CLibraries/CWebPage/page/signin.js';
import { Fields, numbers, zigzag } from '../../Sources/CLibraries/CWebPage/page/proto.js';
import { buildTree, fold, search, totals, updates } from '../../Sources/CLibraries/CWebPage/page/tree.js';

const near = (a, b) => assert.ok(Math.abs(a - b) < 1e-9, `${a} is not ${b}`);

test('project and unproject are inverse', () => {
  for (const [longitude, latitude] of [[0, 0], [24.5, 59.3], [-180, -85], [179.9, 85]]) {
    const { x, y } = geo.project(longitude, latitude);
    const back = geo.unproject(x, y);
    near(back.longitude, longitude);
    near(back.latitude, latitude);
  }
  assert.deepEqual(geo.project(180, 90), { x: 1, y: 0 });
});

test('the bounds around a place hold it, also at the antimeridian and near a pole', () => {
  const [west, south, east, north] = geo.boundsAround({ longitude: 26.7, latitude: 60 });
  near(north - south, 0.36);
  near(east - west, 0.72);
  near((east + west) / 2, 26.7);
  assert.ok(geo.boundsAround({ longitude: 179.9, latitude: 0 })[2] < -179);
  assert.ok(geo.boundsAround({ longitude: -179.9, latitude: 0 })[0] > 179);
  assert.equal(geo.boundsAround({ longitude: 0, latitude: 89.9 })[3], 90);
});

test('Hilbert ids are those of PMTiles', () => {
  // The values of the specification of PMTiles 3, section 4.1.
  const known = [[0, 0, 0, 0], [1, 1, 0, 0], [2, 1, 0, 1], [3, 1, 1, 1], [4, 1, 1, 0], [5, 2, 0, 0], [19078479, 12, 3423, 1763]];
  for (const [id, zoom, x, y] of known) assert.deepEqual(geo.tileOfHilbert(id), { zoom, x, y });
  const seen = new Set();
  for (let id = 21; id < 85; id += 1) {
    const tile = geo.tileOfHilbert(id);
    assert.equal(tile.zoom, 3);
    seen.add(`${tile.x}/${tile.y}`);
  }
  assert.equal(seen.size, 64);
  assert.equal(geo.tileOfHilbert(-1), null);
  assert.equal(geo.tileOfHilbert(2 ** 50), null);
});

test('a tile that touches the box at its edge counts', () => {
  const world = { west: -180, south: -90, east: 180, north: 90 };
  assert.equal(geo.countTiles(world, 0, 3), 85);
  // The point in the middle of the world touches four tiles of each zoom.
  assert.equal(geo.countTiles({ west: 0, south: 0, east: 0, north: 0 }, 0, 2), 9);
  assert.equal(geo.countTiles({ west: 1, south: 1, east: 1, north: 1 }, 0, 2), 3);
});

test('the tiles of a mask are its squares, what is above them and what is below them', () => {
  const has = geo.tilesOf([{ zoom: 3, x: 5, y: 6 }, { zoom: 1, x: 0, y: 0 }]);
  const inside = [[0, 0, 0], [1, 1, 1], [2, 2, 3], [3, 5, 6], [5, 20, 24], [1, 0, 0], [4, 7, 7]];
  const outside = [[1, 0, 1], [2, 3, 3], [3, 5, 7], [3, 4, 6], [5, 19, 24]];
  for (const tile of inside) assert.ok(has(...tile), `${tile}`);
  for (const tile of outside) assert.ok(!has(...tile), `${tile}`);
  assert.ok(!geo.tilesOf([])(0, 0, 0));
});

test('squares of a mask are counted with their parents, and hold others', () => {
  // One tile of zoom 3 and one of zoom 1; the tiles of zoom 2 are the parent of the first and four of the second.
  const squares = [{ zoom: 3, x: 7, y: 6 }, { zoom: 1, x: 0, y: 0 }];
  assert.deepEqual(geo.countByZoom(squares, 4), [1, 2, 5, 17, 68]);
  assert.deepEqual(geo.countByZoom(squares, 1), [1, 2]);
  assert.deepEqual(geo.countByZoom([], 1), [0, 0]);
  assert.deepEqual(geo.countByZoom([{ zoom: 0, x: 0, y: 0 }], 2), [1, 4, 16]);
  assert.equal(geo.countByZoom([{ zoom: 22, x: 2 ** 22 - 1, y: 2 ** 22 - 2 }]).reduce((a, b) => a + b), 23);
  assert.ok(geo.holdsSquares(squares, [{ zoom: 3, x: 3, y: 3 }, { zoom: 4, x: 15, y: 12 }]));
  assert.ok(!geo.holdsSquares(squares, [{ zoom: 3, x: 4, y: 3 }]));
  assert.ok(!geo.holdsSquares(squares, [{ zoom: 0, x: 0, y: 0 }]));
});

test('a box across the antimeridian has both ends, and no tile twice', () => {
  const box = { west: 179, south: 1, east: -179, north: 2 };
  assert.deepEqual(geo.tileRange(box, 3).columns, [[7, 7], [0, 0]]);
  assert.equal(geo.countTiles(box, 0, 0), 1);
  assert.equal(geo.countTiles({ ...box, west: 1, east: -1 }, 1, 1), 2);
});

test('boxes are checked', () => {
  const box = { west: 1, south: 1, east: 2, north: 2 };
  assert.equal(geo.boxProblem(box), null);
  assert.equal(geo.boxProblem(null), 'missing');
  assert.equal(geo.boxProblem({ ...box, west: NaN }), 'number');
  assert.equal(geo.boxProblem({ ...box, east: 181 }), 'longitude');
  assert.equal(geo.boxProblem({ ...box, north: 91 }), 'latitude');
  assert.equal(geo.boxProblem({ ...box, south: 3 }), 'order');
});

test('masks become squares', () => {
  // One node that is inside and has no children: the world.
  assert.deepEqual(geo.maskSquares('QAAA:0'), [{ zoom: 0, x: 0, y: 0 }]);
  // The world with its north-western quarter alone: rows are counted from the south. Bits 11 00 00 01 00 00.
  assert.deepEqual(geo.maskSquares('wQ:1'), [{ zoom: 1, x: 0, y: 0 }]);
  for (const bad of ['', '?', 'w', 'wwwwwwwwwwwwwwww:1', 'QAAA:x']) assert.throws(() => geo.maskSquares(bad), RangeError);
});

const varint = (value) => { const bytes = []; for (let rest = value; ; rest = Math.floor(rest / 128)) { if (rest < 128) { bytes.push(rest); return bytes; } bytes.push((rest % 128) + 128); } };
const field = (number, value) => (typeof value === 'number' ? [...varint(number * 8), ...varint(value)] : [...varint(number * 8 + 2), ...varint(value.length), ...value]);
const letters = (text) => [...new TextEncoder().encode(text)];

test('numbers of protocol buffers', () => {
  assert.deepEqual([...new Fields(Uint8Array.from(field(3, 300)))], [[3, 300]]);
  assert.deepEqual(numbers(Uint8Array.from([1, 0x80, 1])), [1, 128]);
  assert.deepEqual([0, 1, 2, 3].map(zigzag), [0, -1, 1, -2]);
  for (const bad of [[0x80], [0x0a, 5, 1], [0x0b], Array(11).fill(0x80)]) assert.throws(() => [...new Fields(Uint8Array.from(bad))], RangeError);
});

test('vector tiles: layers, properties, geometry', () => {
  const square = [9, 0, 0, 26, 20, 0, 0, 20, 19, 0, 15];
  const feature = [...field(2, [0, 0]), ...field(3, 3), ...field(4, square)];
  const layer = [...field(1, letters('water')), ...field(2, feature), ...field(3, letters('name')), ...field(4, field(1, letters('Läänemeri'))), ...field(5, 4096), ...field(15, 2)];
  const bytes = Uint8Array.from(field(3, layer));
  const water = readTile(bytes).get('water');
  assert.equal(water.extent, 4096);
  assert.deepEqual(water.features, [{ type: 3, properties: { name: 'Läänemeri' }, parts: [[0, 0, 10, 0, 10, 10, 0, 10, 0, 0]] }]);
  assert.equal(readTile(new Uint8Array()).size, 0);
  // Every cut of a tile is refused, or is a tile.
  for (let length = 1; length < bytes.length; length += 1) {
    try { readTile(bytes.subarray(0, length)); } catch (error) { assert.ok(error instanceof RangeError, String(error)); }
  }
  const far = [...field(3, 2), ...field(4, [10, 0, 0, ...varint(1e9 * 8 + 2)])];
  assert.throws(() => readTile(Uint8Array.from(field(3, [...field(1, letters('x')), ...field(2, far)]))), RangeError);
});

function coverageDocument(cells = [0, 1, 2, 3, 6, 7]) {
  const bytes = new Uint8Array(13 + 16 + cells.length);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, 0x50484331);
  view.setUint8(4, 1);
  view.setBigUint64(5, 77n, true);
  [11, 14, 8, 0].forEach((value, i) => view.setUint8(13 + i, value));
  view.setUint32(17, 140, true);
  view.setUint32(21, 70, true);
  view.setUint16(25, 3, true);
  view.setUint16(27, 2, true);
  bytes.set(cells, 29);
  return bytes.buffer;
}

test('coverage documents', () => {
  const { change, bands: [band] } = decodeCoverage(coverageDocument());
  assert.equal(change, 77n);
  assert.deepEqual({ ...band, cells: [...band.cells] }, { zoomMin: 11, zoomMax: 14, cellZoom: 8, shift: 0, x: 140, y: 70, width: 3, height: 2, cells: [0, 1, 2, 3, 6, 7] });
  assert.deepEqual(countStates(band), [1, 1, 1, 1, 0, 0, 1, 1, 0, 0]);
  for (let length = 0; length < 35; length += 1) assert.throws(() => decodeCoverage(coverageDocument().slice(0, length)), RangeError);
  assert.throws(() => decodeCoverage(coverageDocument([10, 0, 0, 0, 0, 0])), RangeError);
});

test('coverage from the event log', () => {
  const packed = (list) => list.flatMap(varint);
  const event = (seq, change) => ({ seq, data: btoa(String.fromCharCode(...change)) });
  // Cells 2/0/0 and 2/1/0 (Hilbert 5 and 6), zooms 6 to 10.
  const plan = [...field(1, packed([5, 6])), ...field(2, packed([6, 6])), ...field(3, packed([10, 10])), ...field(4, packed([100, 50]))];
  const row = (...pairs) => [...field(1, packed(pairs.map(([name]) => name))), ...field(2, packed(pairs.map(([, value]) => value)))];
  const log = new LogCoverage();
  assert.ok(log.add([event(1, field(1, field(2, plan)))]));
  const cells = () => { const [band] = log.bands(); return [[band.x, band.y, band.width, band.height], [...band.cells]]; };
  assert.deepEqual(cells(), [[0, 0, 2, 1], [1, 1]]);
  log.add([event(2, field(4, row([1, 1], [2, 1])))]);
  assert.deepEqual(cells()[1], [1, 2]);
  // The first batch has the index 0, which is not written.
  log.add([event(3, field(4, row([2, 3], [8, 90], [9, 10]))), event(4, field(4, row([1, 1], [2, 3], [8, 49], [10, 1])))]);
  assert.deepEqual(cells()[1], [4, 6]);
  assert.equal(log.add([event(4, field(4, row([1, 1], [2, 1])))]), false);
  log.add([event(5, field(9, field(3, row([1, 1]))))]);
  assert.deepEqual(cells()[1], [4, 1]);
  log.add([event(6, field(4, row([1, 1], [2, 4])))]);
  assert.deepEqual(cells()[1], [4, 7]);
});

test('one byte for several cells has the worst state', () => {
  const batch = (x, state) => ({ cell: { zoom: 10, x, y: 0 }, zoomMin: 11, zoomMax: 14, state });
  const band = raster([batch(0, 3), batch(1, 6), batch(2, 3), batch(5, 1)], 3);
  assert.deepEqual([band.shift, band.width, [...band.cells]], [1, 3, [6, 3, 1]]);
});

const names = (en, ru) => ({ en, ru });
const catalog = {
  tree: [{ id: '150', kind: 'continent', names: names('Europe', 'Европа') }, { id: 'EE', kind: 'country', parent: '150', names: names('Estonia', 'Эстония') },
    { id: 'CI', kind: 'country', names: { en: "Côte d'Ivoire" } }],
  packages: [
    { id: 'EE', region: 'EE', edition: '', names: names('Europe/Estonia', 'Европа/Эстония'), versions: [
      { version: 4, files: [{ size: 1000 }], patches: [{ from: 3, size: 100 }, { from: 2, size: 700 }] }, { version: 3, files: [] }, { version: 2, files: [] }] },
    { id: 'CI', region: 'CI', edition: '', names: { en: "Côte d'Ivoire" }, versions: [{ version: 1, files: [{ size: 10 }] }] },
    { id: 'trip', edition: '', names: {}, versions: [{ version: 1, files: [{ size: 5 }] }] }],
};

test('the search ignores accents and case, in every language', () => {
  assert.equal(fold('Côte d’Ivoire'), 'cote d ivoire');
  assert.equal(fold('Straße'), 'strasse');
  const tree = buildTree(catalog, 'en');
  const ids = (text) => { const found = []; const visit = (node) => { found.push(...node.packages.map((one) => one.id)); node.children.forEach(visit); }; visit(search(tree, text)); return found.sort(); };
  assert.deepEqual(ids(''), ['CI', 'EE', 'trip']);
  assert.deepEqual(ids('cote'), ['CI']);
  assert.deepEqual(ids('ЭСТОН'), ['EE']);
  assert.deepEqual(ids('europa'), []);
  assert.deepEqual(ids('europe'), ['EE']);
  assert.deepEqual(ids('trip'), ['trip']);
  assert.deepEqual(totals(tree), { packages: 3, bytes: 1015 });
});

test('a patch counts when it is smaller than seven tenths of the file', () => {
  assert.deepEqual(updates(catalog.packages[0]), [{ from: 3, bytes: 100, isPatch: true }, { from: 2, bytes: 1000, isPatch: false }]);
});

test('the field of a letter is 191 at its edge, more inside, less outside', () => {
  // A square of six pixels in a picture of sixteen.
  const cover = Float64Array.from({ length: 256 }, (_, i) => Number(i % 16 >= 5 && i % 16 < 11 && i >= 80 && i < 176));
  const field = signedField(cover, 16, 16);
  const at = (x, y) => field[y * 16 + x];
  assert.ok(at(7, 7) > at(5, 7) && at(5, 7) > 191 && at(4, 7) < 191 && at(4, 7) > at(2, 7));
  // One pixel of distance is an eighth of the range; corners are as far as their diagonal says.
  assert.ok(Math.abs(at(4, 7) - at(3, 7) - 32) <= 1);
  assert.equal(at(2, 7), at(7, 2));
  assert.ok(at(2, 2) < at(2, 7));
  assert.equal(Math.max(...signedField(new Float64Array(256), 16, 16)), 0);
});

test('a file of glyphs is what MapLibre reads', () => {
  const glyph = { id: 300, width: 1, height: 2, left: -1, top: -9, advance: 5, field: [7, 8] };
  const [[number, stack]] = new Fields(new Uint8Array(glyphFile('A', '256-511', [glyph])));
  assert.equal(number, 1);
  const members = [...new Fields(stack)];
  assert.deepEqual(members.map(([field]) => field), [1, 2, 3]);
  assert.equal(new TextDecoder().decode(members[1][1]), '256-511');
  const fields = Object.fromEntries([...new Fields(members[2][1])]);
  assert.deepEqual([...fields[2]], [7, 8]);
  assert.deepEqual([fields[1], fields[3], fields[4], zigzag(fields[5]), zigzag(fields[6]), fields[7]], [300, 1, 2, -1, -9, 5]);
});

test('labels that overlap give way to heavier ones, and one name has one place', () => {
  const label = (text, x, weight) => ({ text, x, y: 0, weight, size: 10 });
  const chosen = placeLabels([label('small', 5, 1), label('large', 0, 9), label('far', 300, 2), label('far', 600, 1)], () => 40);
  assert.deepEqual(chosen.map((one) => [one.text, one.x]), [['large', 0], ['far', 300]]);
  assert.equal(placeLabels(Array.from({ length: 9 }, (_, i) => label(`${i}`, i * 100, i)), () => 10, 3).length, 3);
  assert.equal(nameOfFeature({ name: 'a', name_de: 'b' }, 'de'), 'b');
  assert.equal(nameOfFeature({ name: 'a', 'name:de': 'c' }, 'de'), 'c');
  assert.equal(nameOfFeature({ class: 'a' }, 'de'), '');
});

test('an area is the same after its link', () => {
  const areas = [
    { kind: 'box', box: { west: 170, south: -10, east: -170.5, north: 10 } }, { kind: 'region', id: 'EE', name: 'Eesti & co' },
    { kind: 'town', name: 'Tartu, EE', longitude: 26.72509, latitude: 58.38062 }, { kind: 'polygon', points: [[1, 2], [3.5, 4], [5, -6]] },
  ];
  for (const area of areas) assert.deepEqual(areaOfLink(new URLSearchParams(new URLSearchParams(linkOfArea(area)).toString())), area);
  assert.deepEqual(linkOfArea({ kind: 'file', file: {} }), {});
  assert.deepEqual(linkOfArea(null), {});
  const wrong = ['', 'bbox=1,2,3', 'bbox=1,2,3,x', 'bbox=1,9,3,2', 'polygon=1,2;3,4', 'polygon=1,2;3,4;5', 'polygon=1,2;3,4;500,6', 'town=1', 'town=1,95', 'town=x,y', 'polygon=1,2,3;3,4;5,6'];
  for (const text of wrong) assert.equal(areaOfLink(new URLSearchParams(text)), null, text);
});

test('an area has a name, and a file the name of its map', () => {
  const words = { box: 'box', polygon: 'polygon' };
  assert.equal(nameOfArea({ kind: 'box', box: { west: 24.123456, south: 59 } }, words), 'box 24.1235 59');
  assert.equal(nameOfArea({ kind: 'file', file: { name: 'my.trip.gpx' } }, words), 'my.trip');
  assert.equal(nameOfArea({ kind: 'region', name: 'Eesti' }, words), 'Eesti');
  assert.equal(nameOfArea(null, words), '');
  assert.equal(fileName('Eesti 2026 / test', 'mbtiles'), 'Eesti-2026-test.mbtiles');
  assert.equal(fileName('../../etc/passwd', 'pmtiles'), 'etc-passwd.pmtiles');
  assert.equal(fileName('東京', 'mbtiles'), '東京.mbtiles');
  assert.equal(fileName('///', 'mbtiles'), 'map.mbtiles');
});

test('a file has lines when they do not end where they begin, and always when it is GPX', () => {
  const [open, closed] = [[{ x: 0, y: 0 }, { x: 1, y: 1 }], [{ x: 0, y: 0 }, { x: 1, y: 1 }, { x: 0, y: 0 }]];
  assert.equal(hasLines({ format: 'geojson', outline: { lines: [closed, open], points: [] } }), true);
  assert.equal(hasLines({ format: 'gpx', outline: { lines: [closed], points: [] } }), true);
  assert.equal(hasLines({ format: 'kml', outline: { lines: [closed], points: [] } }), false);
  assert.equal(hasLines({ format: 'gpx', outline: { lines: [], points: [{ x: 0, y: 0 }] } }), false);
  assert.equal(hasLines({ format: 'gpx' }), false);
});

test('the deepest zoom within a limit', () => {
  const counts = [1, 1, 2, 6, 20];
  assert.equal(sumTiles(counts, 1, 3), 9);
  assert.equal(deepestWithin(counts, 0, 10), 3);
  assert.equal(deepestWithin(counts, 0, 30), 4);
  assert.equal(deepestWithin(counts, 2, 1), null);
});

test('a search for a region leaves out those that are only alike', () => {
  const region = (id, name) => ({ id, name, path: name, bounds: [0, 0, 1, 1], names: { en: name } });
  const town = { id: 't1', name: 'Estonia', region: 'US-WA', longitude: 1, latitude: 2 };
  const found = placesOf({ regions: [region('EE', 'Estonia'), region('LV', 'Latvia')], towns: [town] }, ' estonia');
  assert.deepEqual(found.map((one) => [one.kind, one.id]), [['region', 'EE'], ['town', 't1']]);
  assert.equal(placesOf({ regions: [region('EE', 'Estonia'), region('LV', 'Latvia')], towns: [] }, 'eston').length, 2);
});

test('sizes come from jobs, else from packages of the same tileset', () => {
  const job = { tileset: 'a', stored: 5, tiles: 10, bytes: 1000, elapsed_seconds: 20 };
  assert.deepEqual(forecast([job, { ...job, tileset: 'b', bytes: 1 }], 'a', 30), { bytes: 3000, seconds: 60 });
  assert.equal(forecast([job], 'c', 30), null);
  // 'A' is no mask; this one is a tile of zoom 0 with everything below it.
  const mask = 'QA:0';
  const one = { versions: [{ tileset: 'a', tile_mask: mask, min_zoom: 0, max_zoom: 1, files: [{ size: 500 }] }] };
  assert.deepEqual(forecastOfPackages({ packages: [one] }, 'a', 10), { bytes: 1000, seconds: null });
  assert.equal(forecastOfPackages({ packages: [one] }, 'b', 10), null);
});

test('a package holds a box when it has every tile of the zoom', () => {
  const box = { west: 1, south: 1, east: 2, north: 2 };
  assert.ok(holdsBox([{ zoom: 1, x: 1, y: 0 }], box, 5));
  assert.ok(!holdsBox([{ zoom: 1, x: 0, y: 0 }], box, 5));
  // A mask that goes deeper than the zoom has more than this zoom needs.
  assert.ok(!holdsBox([{ zoom: 6, x: 32, y: 31 }], box, 5));
});

test('a QR code is what OpenCV has read', () => {
  // The codes of these texts were decoded by OpenCV 4 when they were recorded.
  const digest = (text) => createHash('sha256').update(qrCode(text).map((row) => row.map(Number).join('')).join('\n')).digest('hex').slice(0, 16);
  assert.equal(digest('A'), 'f195dbbdf146dae0');
  assert.equal(digest('http://127.0.0.1:7480/#/extract?region=EE'), '0ef4f554376585e8');
  assert.equal(digest('x'.repeat(400)), 'c689e5090c3a99c0');
  assert.equal(digest('z'.repeat(858)), '64077a42afed630b');
  assert.equal(qrCode('z'.repeat(859)), null);
  assert.equal(qrCode('ä'.repeat(430)), null);
});

test('a box that is fitted is in view, and a zoom keeps the place under the pointer', () => {
  const size = { width: 800, height: 400 };
  const box = { west: 0.5, east: 0.6, north: 0.2, south: 0.3 };
  const chosen = limited(fitted(box, size), size);
  const view = viewOf(chosen, size);
  for (const [x, y] of [[box.west, box.north], [box.east, box.south]]) {
    const [px, py] = [(x - view.west) * view.scale, (y - view.north) * view.scale];
    assert.ok(px >= 0 && px <= 800 && py >= 0 && py <= 400, `${px} ${py}`);
  }
  assert.ok(holds(view, box));
  assert.ok(!holds(view, { ...box, south: 0.4 }) && !holds(view, { ...box, west: 0.2 }));
  const before = placeAt(view, 700, 100);
  const after = placeAt(viewOf(zoomed(view, 2, 700, 100), size), 700, 100);
  near(before.x, after.x);
  near(before.y, after.y);
  // The world does not leave the map, and is not smaller than half of it.
  assert.deepEqual(limited({ x: -3, y: 9, zoom: 40 }, size), { x: 0, y: 1, zoom: 18 });
  near(scaleOf(limited({ x: 0, y: 0, zoom: -9 }, size).zoom), 400);
});

test('keys move the line between two versions within the map', () => {
  assert.equal(moveOf('ArrowLeft', 50), 48);
  assert.equal(moveOf('ArrowLeft', 1), 0);
  assert.equal(moveOf('PageUp', 95), 100);
  assert.equal(moveOf('Home', 30), 0);
  assert.equal(moveOf('End', 30), 100);
  assert.equal(moveOf('Tab', 30), null);
});

test('a code is for addresses that other computers can open', () => {
  for (const url of ['http://127.0.0.1:7480/#/x', 'http://localhost/', 'http://[::1]:80/']) assert.equal(isLocal(url), true, url);
  for (const url of ['http://192.168.1.20:7490/', 'https://localhost.example.com/', 'https://127.example.com/']) assert.equal(isLocal(url), false, url);
});

test('a sample whose tiles are all missing is not one that failed', () => {
  const none = { sampled: 8, bytes: 0, margin: 0, files: [{ format: 'mbtiles', bytes: 0, margin: 0 }], seconds: 0 };
  assert.equal(hasNoTiles(none), true);
  // Tiles of a file on this computer are not received, but they have a size.
  for (const answer of [undefined, { reason: 'no answer' }, { sampled: 0, files: [], reason: 'A job fetches tiles now.' }, { ...none, files: [{ format: 'mbtiles', bytes: 9 }] }, { ...none, bytes: 1 }]) {
    assert.equal(hasNoTiles(answer), false);
  }
});

test('a token is taken out of every address that has one', () => {
  for (const [hash, token, rest] of [
    ['#token=ph_a-b_C', 'ph_a-b_C', '#/'], ['#/token=a', 'a', '#/'], ['#/jobs#token=a', 'a', '#/jobs'], ['#/jobs?state=done#token=a', 'a', '#/jobs?state=done'],
    ['#/jobs?state=done&token=a', 'a', '#/jobs?state=done'], ['#/jobs?token=a&state=done', 'a', '#/jobs?state=done'], ['#/jobs?token=a', 'a', '#/jobs'],
    ['#/jobs&token=a', 'a', '#/jobs'], ['#token=a&/jobs?state=done', 'a', '#/jobs?state=done'], ['#token=a#/jobs', 'a', '#/jobs'], ['#token=', '', '#/'],
    ['#/catalog?q=token', undefined], ['', undefined],
  ]) {
    const found = tokenOf(hash);
    assert.equal(found?.token, token, hash);
    if (found) assert.equal(found.hash, rest, hash);
  }
});

test('a link that was cut anywhere is known', () => {
  const of = (text) => new URLSearchParams(text);
  const corners = [[24.5, 59.3], [25, 59.3], [24.7, -59.5]];
  for (const area of [{ kind: 'polygon', points: corners }, { kind: 'box', box: { west: -24.5, south: -59.3, east: 25, north: 1e-7 } }, { kind: 'region', id: 'EE', name: 'Eesti' }]) {
    const link = new URLSearchParams({ begin: 1, ...linkOfArea(area), tileset: 'a', zoom: 8, end: 1 }).toString();
    assert.equal(isCut(of(link)), false);
    assert.deepEqual(areaOfLink(of(link)), area);
    // A link without its begin is not ours: what is there counts.
    for (let length = 8; length < link.length; length += 1) assert.equal(isCut(of(link.slice(0, length))), true, link.slice(0, length));
  }
  for (const text of ['bbox=10,-20,12,', 'bbox=10,-20,12', 'bbox=10,-20,12,-', 'polygon=1,2;3,4;5,', 'polygon=1,2;3,4', 'town=26.7', 'region=']) assert.equal(isCut(of(text)), true, text);
  for (const text of ['', 'tileset=a', 'bbox=10,-20,12,-19.5', 'region=EE']) assert.equal(isCut(of(text)), false, text);
});
