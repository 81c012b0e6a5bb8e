// Reads Mapbox vector tiles 2.1. Pure; throws a RangeError for a damaged tile.
import { Fields, numbers, text, zigzag } from './proto.js';

/** The layers of a tile by name: `{extent, features: [{type, properties, parts}]}`; type 1 points, 2 lines, 3 areas. */
export function readTile(bytes) {
  const layers = new Map();
  for (const [number, value] of new Fields(bytes)) {
    if (number !== 3 || typeof value === 'number') continue;
    const layer = readLayer(value);
    layers.set(layer.name, layer);
  }
  return layers;
}

function readLayer(bytes) {
  const layer = { name: '', extent: 4096, features: [] };
  const keys = [];
  const values = [];
  const raw = [];
  for (const [number, value] of new Fields(bytes)) {
    if (number === 1) layer.name = text(value);
    else if (number === 2) raw.push(value);
    else if (number === 3) keys.push(text(value));
    else if (number === 4) values.push(readValue(value));
    else if (number === 5) layer.extent = value;
  }
  if (!(layer.extent > 0)) throw new RangeError('a layer without extent');
  layer.features = raw.map((one) => readFeature(one, keys, values));
  return layer;
}

function readValue(bytes) {
  for (const [number, value] of new Fields(bytes)) {
    if (number === 1) return text(value);
    if (number === 2 || number === 3) {
      const view = new DataView(value.buffer, value.byteOffset, value.length);
      return number === 2 ? view.getFloat32(0, true) : view.getFloat64(0, true);
    }
    if (number === 4 || number === 5) return value;
    if (number === 6) return zigzag(value);
    if (number === 7) return value !== 0;
  }
  return null;
}

function readFeature(bytes, keys, values) {
  const feature = { type: 0, properties: {}, parts: [] };
  let tags = [];
  let commands = [];
  for (const [number, value] of new Fields(bytes)) {
    if (number === 2) tags = tags.concat(numbers(value));
    else if (number === 3) feature.type = value;
    else if (number === 4) commands = commands.concat(numbers(value));
  }
  for (let i = 0; i + 1 < tags.length; i += 2) {
    if (keys[tags[i]] !== undefined) feature.properties[keys[tags[i]]] = values[tags[i + 1]];
  }
  feature.parts = readGeometry(commands);
  return feature;
}

/** Parts as flat lists of coordinates: x, y, x, y … */
function readGeometry(commands) {
  const parts = [];
  let [x, y] = [0, 0];
  for (let place = 0; place < commands.length;) {
    const command = commands[place] % 8;
    const count = Math.floor(commands[place] / 8);
    place += 1;
    if (command === 7) {
      const part = parts.at(-1);
      if (part) part.push(part[0], part[1]);
      continue;
    }
    if ((command !== 1 && command !== 2) || count > (commands.length - place) / 2) {
      throw new RangeError('a geometry ends early, or has another command');
    }
    for (let i = 0; i < count; i += 1, place += 2) {
      x += zigzag(commands[place]);
      y += zigzag(commands[place + 1]);
      if (command === 1) parts.push([x, y]);
      else if (parts.length === 0) throw new RangeError('a line without a beginning');
      else parts.at(-1).push(x, y);
    }
  }
  return parts;
}
