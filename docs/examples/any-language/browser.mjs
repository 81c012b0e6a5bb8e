// The same for a page in a browser, with fetch and WebCrypto (Ed25519), and nothing else: prove the list, download a package, read tiles.
//
//   import { catalog, download } from "./browser.mjs";
//   import { tile, onServer } from "./tile.mjs";
//   const { entry, file } = await catalog(url, publicKey, "EE", "pmtiles", localStorage);
//   const bytes = await tile(onServer(url + file.url), 9, 290, 150);     // directly from the catalog, by ranges
//   const whole = await download(url, file);                             // or all of it, proven: a Blob
//
// The page is served over https or from localhost: browsers have WebCrypto only there. The catalog's server allows the page (CORS) if it is another one.

const stop = text => { throw new Error(text); };
const hex = bytes => Array.from(new Uint8Array(bytes), byte => byte.toString(16).padStart(2, "0")).join("");
const raw = base64 => Uint8Array.from(atob(base64), character => character.charCodeAt(0));
const digest = async bytes => hex(await crypto.subtle.digest("SHA-256", bytes));

async function get(url, limit) {
  const answer = await fetch(url, { cache: "no-cache" });
  if (!answer.ok) stop(`${url}: ${answer.status}`);
  const pieces = [];
  let have = 0;
  for (const reader = answer.body.getReader(); ;) {
    const { done, value } = await reader.read();
    if (done) break;
    pieces.push(value);
    if ((have += value.length) > limit) await reader.cancel(), stop(`${url} is too large`);
  }
  return new Uint8Array(await new Blob(pieces).arrayBuffer());
}

/** The newest version of a package and its file, from a list that is signed with the key. `store` keeps the largest sequence, as localStorage does. */
export async function catalog(url, publicKey, id, format, store) {
  const body = await get(url + "catalog.json", 64 << 20), signed = await get(url + "catalog.json.sig", 1 << 20), own = await digest(body);
  const fitting = JSON.parse(new TextDecoder().decode(signed)).signatures.find(s => s.sha256 === own);
  if (!fitting) stop("no signature is of this list: load again");
  const text = publicKey.match(/ed25519-public:([A-Za-z0-9+/]{43}=)(?!\S)/) ?? stop("this is no public key");
  const key = await crypto.subtle.importKey("raw", raw(text[1]), "Ed25519", false, ["verify"]);
  if (!await crypto.subtle.verify("Ed25519", key, raw(fitting.signature), body)) stop("the signature is wrong");
  const listed = JSON.parse(new TextDecoder().decode(body)), sequence = listed.sequence ?? 0, name = `sequence of ${url}`;
  if (listed.format !== "packhorse-catalog" || listed.format_version !== 1) stop("this list has another format");
  if (sequence < Number(store.getItem(name) ?? 0)) stop("this list is older than one that was seen before");
  store.setItem(name, String(sequence));
  const entry = listed.packages.find(p => p.id === id && p.edition === ""), file = entry?.versions[0].files.find(f => f.format === format);
  if (!file) stop(`the catalog has no package ${id} in the format ${format}`);
  if (!/^[0-9a-f]{64}$/.test(file.sha256) || /^\/|:|\\|(^|\/)\.\.?(\/|$)|[?#%]/.test(file.url)) stop("the list has a wrong digest or address");
  return { entry, file };
}

/** A file of the catalog as a Blob, when its bytes are those that the list names. A connection that ends early is continued by a range. */
export async function download(url, file, attempts = 5) {
  let pieces = [], have = 0;
  for (let attempt = 0; have < file.size && attempt < attempts; attempt++) {
    try {
      const answer = await fetch(url + file.url, { headers: have ? { range: `bytes=${have}-` } : {} });
      if (!answer.ok) stop(`${file.url}: ${answer.status}`);
      if (answer.status !== 206) pieces = [], have = 0; // this server sends the whole file
      for (const reader = answer.body.getReader(); ;) {
        const { done, value } = await reader.read();
        if (done) break;
        pieces.push(value);
        if ((have += value.length) > file.size) await reader.cancel(), stop("the file is damaged");
      }
    } catch (problem) {
      if (attempt + 1 === attempts || have > file.size) throw problem;
    }
  }
  const blob = new Blob(pieces);
  if (have !== file.size || await digest(await blob.arrayBuffer()) !== file.sha256) stop("the file is damaged");
  return blob;
}
