// Installs or updates one package of a signed catalog. Node 20 or newer, no packages.
// usage: node install.mjs CATALOG-URL KEY-FILE ID FORMAT FOLDER      (FORMAT is mbtiles or pmtiles)
import { createHash, createPublicKey, verify } from "node:crypto";
import * as fs from "node:fs";
import path from "node:path";

const [address, keyFile, id, format, folder] = process.argv.slice(2), base = address?.replace(/\/*$/, "/");
const stop = text => { throw new Error(text); };

async function request(name, headers = {}) { // its pieces end with an error when the server is silent for 60 s
  const limit = new AbortController(), timer = setTimeout(() => limit.abort(new Error("the server is silent")), 60_000).unref();
  const { ok, status, body } = await fetch(base + name, { headers, cache: "no-store", signal: limit.signal });
  const pieces = async function* () { for await (const piece of body) timer.refresh(), yield piece; };
  return ok ? { status, pieces: pieces() } : stop(`${name}: ${status}`);
}

async function get(name, limit) {
  let have = 0, pieces = [];
  for await (const piece of (await request(name)).pieces) (have += pieces.at(pieces.push(piece) - 1).length) > limit && stop(`${name} is too large`);
  return Buffer.concat(pieces);
}

async function digest(file) {
  const hash = createHash("sha256");
  for await (const piece of fs.createReadStream(file)) hash.update(piece);
  return hash.digest("hex");
}

async function catalog() { // the list, when it is signed with the key and not older than the last one
  const body = await get("catalog.json", 64 << 20), signed = JSON.parse(await get("catalog.json.sig", 1 << 20));
  const text = fs.readFileSync(keyFile, "utf8").match(/ed25519-public:([A-Za-z0-9+/]{43}=)(?!\S)/) ?? stop("this is no public key");
  const key = createPublicKey({ format: "jwk", key: { kty: "OKP", crv: "Ed25519", x: Buffer.from(text[1], "base64").toString("base64url") } });
  const sha256 = createHash("sha256").update(body).digest("hex");
  const fitting = signed.signatures.find(s => s.sha256 === sha256) ?? stop("no signature is of this list: run again");
  if (!verify(null, body, key, Buffer.from(fitting.signature, "base64"))) stop("the signature is wrong");
  const listed = JSON.parse(body), seen = path.join(folder, "sequence"), sequence = listed.sequence ?? 0;
  if (listed.format !== "packhorse-catalog" || listed.format_version !== 1) stop("this list has another format");
  if (fs.existsSync(seen) && sequence < Number(fs.readFileSync(seen))) stop("this list is older than one that was seen before");
  fs.writeFileSync(seen + ".new", String(sequence), { flush: true });
  fs.renameSync(seen + ".new", seen); // a reader sees the old file or the new one
  return listed;
}

async function install(file, target) {
  if (!/^[0-9a-f]{64}$/.test(file.sha256) || /^\/|:|\\|(^|\/)\.\.?(\/|$)|[?#%]/.test(file.url)) stop("the list has a wrong digest or address");
  const begin = `${id}.${format}.`, part = path.join(folder, `${begin}${file.sha256.slice(0, 16)}.part`);
  const parts = fs.readdirSync(folder).filter(name => name.startsWith(begin) && name.endsWith(".part"));
  for (const old of parts) if (old !== path.basename(part)) fs.rmSync(path.join(folder, old)); // of an older version
  let have = fs.existsSync(part) ? fs.statSync(part).size : 0, why = "";
  if (have < file.size) {
    const answer = await request(file.url, have ? { range: `bytes=${have}-` } : {});
    const output = fs.openSync(part, answer.status === 206 ? "a" : "w");
    if (answer.status !== 206) have = 0; // this server sends the whole file
    try {
      for await (const piece of answer.pieces) {
        fs.appendFileSync(output, piece);
        if ((have += piece.length) > file.size) break;
      }
    } catch (problem) { why = ` (${problem.message})`; } // the connection ended early; what came stays
    fs.fsyncSync(output), fs.closeSync(output);
  }
  if (have < file.size) stop(`interrupted after ${have} of ${file.size} bytes${why}: run again, and it continues`);
  if (have !== file.size || await digest(part) !== file.sha256) fs.rmSync(part), stop("the file is damaged: it was removed");
  fs.renameSync(part, target);
}

try {
  if (process.argv.length !== 7) stop("usage: node install.mjs CATALOG-URL KEY-FILE ID FORMAT FOLDER");
  fs.mkdirSync(folder, { recursive: true });
  const entry = (await catalog()).packages.find(p => p.id === id && p.edition === "");
  const file = entry?.versions[0].files.find(f => f.format === format);
  if (!file) stop(`the catalog has no package ${id} in the format ${format}`);
  const target = path.join(folder, `${id}.${format}`), { version } = entry.versions[0];
  const there = fs.existsSync(target) && await digest(target) === file.sha256;
  if (!there) await install(file, target);
  console.log(there ? `version ${version} is installed` : `installed version ${version}`);
} catch (problem) {
  console.error(`${problem.message}${problem.cause ? `: ${problem.cause.message || problem.cause.code}` : ""}`);
  process.exitCode = 1;
}
