// Which names fit on a simple map without overlapping. Pure.

/**
 * Chooses labels that do not overlap. `labels`: `{text, x, y, weight, size}` with places in pixels; the heaviest come first.
 * `widthOf(label)`: pixels. Returns the chosen ones, at most `most`; one name has one place.
 */
export function placeLabels(labels, widthOf, most = 80) {
  const chosen = [];
  const boxes = [];
  const names = new Set();
  for (const one of [...labels].sort((a, b) => b.weight - a.weight)) {
    if (names.has(one.text)) continue;
    const half = widthOf(one) / 2 + 4;
    const box = [one.x - half, one.y - one.size * 0.8, one.x + half, one.y + one.size * 0.8];
    if (boxes.some((other) => box[0] < other[2] && box[2] > other[0] && box[1] < other[3] && box[3] > other[1])) continue;
    names.add(one.text);
    boxes.push(box);
    chosen.push(one);
    if (chosen.length === most) break;
  }
  return chosen;
}

/** The name of a feature in a language, by the keys that vector tiles of maps use; empty for none. */
export function nameOfFeature(properties, language) {
  return String(properties[`name:${language}`] ?? properties[`name_${language}`] ?? properties.name ?? '');
}
