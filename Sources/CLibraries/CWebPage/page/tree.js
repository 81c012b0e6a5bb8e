// The catalog as a tree of places, and the search in it. Pure.

/** The languages of the names. */
export const LANGUAGES = ['en', 'de', 'fr', 'it', 'zh', 'es', 'ru', 'et'];

const LETTERS = { 'ß': 'ss', 'ø': 'o', 'ł': 'l', 'đ': 'd', 'ð': 'd', 'þ': 'th', 'æ': 'ae', 'œ': 'oe', 'ı': 'i' };

/** The text without accents and case, for comparing. */
export function fold(text) {
  return text.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase().replace(/[ßøłđðþæœı]/g, (letter) => LETTERS[letter])
    .replace(/[\s\-–_.,'’/()]+/g, ' ').trim();
}

/** The name in a language; English when there is none, else any, else the id. */
export function nameOf(item, language) {
  const names = item.names ?? {};
  return names[language] || names.en || Object.values(names)[0] || item.id;
}

/** The last part of a path of names. */
const last = (path) => path.split('/').filter(Boolean).at(-1) ?? path;

/** The names of a package without the places above it. */
export function packageName(item, language) {
  const name = nameOf(item, language);
  return name === item.id ? name : last(name);
}

/**
 * The tree of a catalog: nodes `{id, names, children, packages}` in one root; packages of areas without a place are
 * under the root. `accept` chooses the packages.
 */
export function buildTree(catalog, language, accept = () => true) {
  const root = { id: '', names: {}, kind: 'root', children: [], packages: [] };
  const nodes = new Map();
  for (const one of catalog.tree ?? []) {
    nodes.set(one.id, { id: one.id, names: one.names ?? {}, kind: one.kind, children: [], packages: [] });
  }
  for (const one of catalog.tree ?? []) {
    const parent = one.parent === one.id ? undefined : nodes.get(one.parent);
    (parent ?? root).children.push(nodes.get(one.id));
  }
  for (const item of catalog.packages ?? []) {
    if (accept(item)) (nodes.get(item.region) ?? root).packages.push(item);
  }
  const compare = new Intl.Collator(language).compare;
  const sort = (node) => {
    node.children.forEach(sort);
    node.children = node.children.filter((child) => child.children.length > 0 || child.packages.length > 0);
    node.children.sort((a, b) => compare(nameOf(a, language), nameOf(b, language)));
    node.packages.sort((a, b) => compare(packageName(a, language), packageName(b, language)));
  };
  sort(root);
  return root;
}

/** Whether a place or package has all words of a folded text in its id or in its name of any one language. */
export function matches(item, words) {
  const texts = [item.id, ...Object.values(item.names ?? {}).map(last)].map(fold);
  return texts.some((text) => words.every((word) => text.includes(word)));
}

/** The part of a tree that a text finds; a place that matches keeps all below it. An empty text keeps everything. */
export function search(node, text) {
  const words = fold(text).split(' ').filter(Boolean);
  if (words.length === 0) return node;
  const visit = (one) => {
    if (one.kind !== 'root' && matches(one, words)) return one;
    const children = one.children.map(visit).filter(Boolean);
    const packages = one.packages.filter((item) => matches(item, words));
    return children.length + packages.length > 0 || one.kind === 'root' ? { ...one, children, packages } : null;
  };
  return visit(node);
}

/** The number of packages in and below a node, and the bytes of their newest main files. */
export function totals(node) {
  const sum = { packages: 0, bytes: 0 };
  const visit = (one) => {
    for (const item of one.packages) {
      sum.packages += 1;
      sum.bytes += item.versions?.[0]?.files?.[0]?.size ?? 0;
    }
    one.children.forEach(visit);
  };
  visit(node);
  return sum;
}

/**
 * What devices with older versions fetch: `{from, bytes, isPatch}`, the newest first.
 * A patch of the main file is taken when it is smaller than seven tenths of the whole file.
 */
export function updates(item) {
  const [newest, ...older] = item.versions ?? [];
  if (!newest) return [];
  const whole = newest.files[0].size;
  return older.map(({ version }) => {
    const patch = (newest.patches ?? []).find((one) => one.from === version && !one.format);
    const isPatch = patch !== undefined && patch.size * 10 < whole * 7;
    return { from: version, bytes: isPatch ? patch.size : whole, isPatch };
  });
}
