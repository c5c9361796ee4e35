// What of the native packages the running Node needs on this machine. `npm start` and the image's build take out the rest by this one list: binaries of
// other systems, sources that were compiled. `node scripts/prune.mjs node_modules` does it by hand.
import { existsSync, readdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";

/** Which of the two lines of better-sqlite3 this Node loads: store/sqlite-library.ts. */
export const SQLITE = Number(process.versions.napi) >= 10 ? "better-sqlite3-napi" : "better-sqlite3";
const SOURCES = /^(deps|src|binding\.gyp)$/;

/** Folder, and what of it may stay. Each is there after an install, but for those that only some versions of Node get. */
const KEPT = {
  "better-sqlite3": (name) => !SOURCES.test(name) && (name !== "build" || SQLITE === "better-sqlite3"),
  "better-sqlite3/build": (name) => name === "Release",
  "better-sqlite3/build/Release": (name) => name === "better_sqlite3.node",
  "better-sqlite3-napi": (name) => !SOURCES.test(name),
  "better-sqlite3-napi/prebuilds": (name) =>
    name.startsWith(process.platform) && name.endsWith(`-${process.arch}.node`),
  koffi: (name) => !/^(vendor|doc|CHANGELOG\.md)$/.test(name),
  "swagger-ui-dist": (name) => /^(package\.json|LICENSE|NOTICE|swagger-ui\.css|swagger-ui-bundle\.js)$/.test(name),
};
const IN_SOME = /^better-sqlite3(\/|-napi)/;

/** @returns what that freed, in bytes, and which packages of the list are not there */
export function prune(nodeModules) {
  let freedBytes = 0;
  const missing = [];
  for (const [folder, keeps] of Object.entries(KEPT)) {
    const place = join(nodeModules, folder);
    if (!existsSync(place)) {
      if (!IN_SOME.test(folder)) missing.push(folder);
      continue;
    }
    for (const name of readdirSync(place)) {
      if (keeps(name)) continue;
      freedBytes += sizeOf(join(place, name));
      rmSync(join(place, name), { recursive: true });
    }
  }
  return { freedBytes, missing };
}

/** Packages whose part for another Node is needed now: npm brings a package again only where its folder is gone. */
export function takeOutStale(nodeModules, sqliteLoads) {
  const sqlite = join(nodeModules, SQLITE);
  if (existsSync(sqlite) && !existsSync(join(sqlite, "binding.gyp")) && !sqliteLoads())
    rmSync(sqlite, { recursive: true });
}

function sizeOf(path) {
  const state = statSync(path);
  if (!state.isDirectory()) return state.size;
  return readdirSync(path).reduce((sum, name) => sum + sizeOf(join(path, name)), 0);
}

function main(nodeModules) {
  if (nodeModules === undefined || !existsSync(nodeModules))
    return "say which node_modules: node scripts/prune.mjs node_modules";
  const { freedBytes, missing } = prune(nodeModules);
  if (missing.length > 0) return `${missing.join(", ")} is not there: the list in scripts/prune.mjs is out of date`;
  process.stdout.write(
    `pruned ${Math.round(freedBytes / 1024 / 1024)} MiB for ${process.platform} ${process.arch} and Node ${process.versions.node}\n`,
  );
  return undefined;
}

if (/\bprune\.mjs$/.test(process.argv[1] ?? "")) {
  const fault = main(process.argv[2]);
  if (fault !== undefined) process.stderr.write(`prune: ${fault}\n`);
  process.exitCode = fault === undefined ? 0 : 1;
}
