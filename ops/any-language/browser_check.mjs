// Runs browser.mjs and tile.mjs in Node, which has fetch, WebCrypto, Blob and DecompressionStream as browsers have them.
// usage: node browser_check.mjs URL KEY-FILE FORMAT OUTPUT Z X Y      writes OUTPUT and OUTPUT.tile (read by ranges from the server)
import { readFileSync, writeFileSync } from "node:fs";
import { catalog, download } from "../../docs/examples/any-language/browser.mjs";
import { onServer, tile } from "../../docs/examples/any-language/tile.mjs";

const [url, keyFile, format, output, ...zxy] = process.argv.slice(2);
const memory = new Map(JSON.parse(process.env.SEEN ?? "[]"));
const store = { getItem: name => memory.get(name) ?? null, setItem: (name, value) => memory.set(name, value) };
try {
  const { entry, file } = await catalog(url, readFileSync(keyFile, "utf8"), "EE", format, store);
  const bytes = format === "pmtiles" ? await tile(onServer(url + file.url), ...zxy.map(Number)) : null;
  if (bytes) writeFileSync(output + ".tile", bytes);
  writeFileSync(output, Buffer.from(await (await download(url, file)).arrayBuffer()));
  console.log(JSON.stringify({ version: entry.versions[0].version, seen: [...memory] }));
} catch (problem) {
  console.error(problem.message);
  process.exitCode = 1;
}
