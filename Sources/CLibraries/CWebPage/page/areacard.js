// The part of the view that chooses an area: the search for places, the chosen area, its edges, a file.
import { EDGES, placesOf } from './area.js';
import { button, el } from './dom.js';
import { words } from './words.js';

/** The places that a text finds; `null` without a text. */
export async function placeResults(get, text, language) {
  if (text === '') return null;
  return placesOf(await get(`v1/regions?${new URLSearchParams({ q: text.slice(0, 60), lang: language })}`), text);
}

export function placeSearch(text, search) {
  const w = words.extract;
  const submit = (event) => { event.preventDefault(); search(document.getElementById('place').value.trim()); };
  return el('form', { key: 'places', role: 'search', on: { submit } },
    el('label', { for: 'place', class: 'grow' }, w.place, el('input', { id: 'place', key: 'place', type: 'search', value: text, placeholder: w.placeExample, autocomplete: 'off' })), el('button', { key: 'find', type: 'submit' }, w.find));
}

function results(places, choose) {
  if (places.length === 0) return el('p', { class: 'soft', key: 'results' }, words.extract.noPlace);
  return el('ul', { class: 'results', key: 'results', 'aria-label': words.extract.place }, places.map((one) => el('li', { key: `${one.kind} ${one.id}` },
    button(one.kind === 'town' ? `${one.name}, ${one.path}` : one.name, `place ${one.id}`, () => choose(one.kind === 'town' ? { ...one, name: `${one.name}, ${one.path}` } : one)), el('small', {}, one.kind === 'town' ? words.extract.town : one.path))));
}

/** Writes the name of a file into the field of files. */
function showFile(input, file) {
  const data = new DataTransfer();
  data.items.add(file);
  input.files = data.files;
}

function chosen(wish, measured, { choose, typed, change, isTouch }) {
  const w = words.extract;
  const { area } = wish;
  const box = area?.kind === 'box' ? area.box : null;
  const input = (name) => el('label', { for: name }, w[name], el('input', { id: name, key: name, inputmode: 'decimal', type: 'text', value: box && Number.isFinite(box[name]) ? box[name] : '', 'aria-describedby': 'count', on: { input: typed } }));
  const said = measured.said ?? (area === null ? isTouch ? w.introTouch : w.intro : area.kind === 'file' ? (area.format ? w.read(area.file.name) : measured.isComing ? w.reading(area.file.name) : area.file.name) : area.kind === 'box' ? w.isBox : area.kind === 'polygon' ? w.isPolygon(area.points.length) : w.isPlace(area.name));
  return el('section', { class: 'card', key: 'area' }, el('h2', {}, w.where), el('p', { id: 'read' }, said),
    area === null ? null : el('p', { class: 'buttons' }, button(area.kind === 'file' ? w.noFile : w.noMore, 'no-file', () => choose(null)),
      area.kind === 'file' ? el('label', { class: 'line', key: 'waypoints' }, el('input', { type: 'checkbox', key: 'waypoints', checked: wish.hasWaypoints, on: { change: (event) => change({ hasWaypoints: event.target.checked }) } }), w.waypoints) : null),
    // With a key the field stays when something is put before it: it has the name of the file.
    el('label', { for: 'file', key: 'of-file' }, w.file, el('input', { id: 'file', key: 'file', type: 'file', on: {
      // The same file may be chosen again after it was changed.
      click: (event) => { event.target.value = ''; },
      cancel: (event) => { if (area?.kind === 'file') showFile(event.target, area.file); },
      change: (event) => { if (event.target.files[0]) choose({ kind: 'file', file: event.target.files[0] }); },
    } })),
    el('details', { key: 'edges', open: box !== null }, el('summary', {}, w.edges), el('div', { class: 'edges' }, EDGES.map(input))));
}

export const areaCard = { results, chosen };
