// Takes out of node_modules what the running Node on this machine cannot use: other systems' binaries, sources that were compiled.
// node docker/prune.mjs node_modules
import { existsSync, readdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";

const [folder] = process.argv.slice(2);
if (folder === undefined || !existsSync(folder)) {
  process.stderr.write("prune: say which node_modules: node docker/prune.mjs node_modules\n");
  process.exit(1);
}

/** The one of uWebSockets.js's fifty binaries that loads here. */
const UWS_BINARY = `uws_${process.platform}_${process.arch}_${process.versions.modules}.node`;
/** Package, and what of it may stay; a path in it ends at its first `/`. */
const KEPT = {
  "uWebSockets.js": (name) => name === UWS_BINARY || /^(package\.json|LICENSE|uws\.js|ESM_wrapper\.mjs)$/.test(name),
  "better-sqlite3": (name) => !/^(deps|src|binding\.gyp)$/.test(name),
  "better-sqlite3/build": (name) => name === "Release",
  "better-sqlite3/build/Release": (name) => name === "better_sqlite3.node",
  koffi: (name) => !/^(vendor|doc|CHANGELOG\.md)$/.test(name),
  "swagger-ui-dist": (name) => /^(package\.json|LICENSE|NOTICE|swagger-ui\.css|swagger-ui-bundle\.js)$/.test(name),
};

let freedBytes = 0;
for (const [packageFolder, keeps] of Object.entries(KEPT)) {
  const place = join(folder, packageFolder);
  if (!existsSync(place)) {
    process.stderr.write(`prune: ${place} is not there: the list in docker/prune.mjs is out of date\n`);
    process.exit(1);
  }
  for (const name of readdirSync(place)) {
    if (keeps(name)) continue;
    freedBytes += sizeOf(join(place, name));
    rmSync(join(place, name), { recursive: true });
  }
}
process.stdout.write(`pruned ${Math.round(freedBytes / 1024 / 1024)} MiB for ${UWS_BINARY}\n`);

function sizeOf(path) {
  const state = statSync(path);
  if (!state.isDirectory()) return state.size;
  return readdirSync(path).reduce((sum, name) => sum + sizeOf(join(path, name)), 0);
}
