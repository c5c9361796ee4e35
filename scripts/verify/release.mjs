// What a release is: its number, its notes, and its locks. Locks name what every platform installs: npm writes only what it has itself installed where
// node_modules are there already, and `npm ci` of another platform, or of another npm, then refuses the lock.
import { files, text } from "./sources.mjs";

export function incompleteLocks() {
  return files()
    .filter((path) => /(^|\/)package-lock\.json$/.test(path))
    .flatMap((path) => lockFaults(path, JSON.parse(text(path)), JSON.parse(text(path.replace("-lock", "")))));
}

/** @param wanted package.json beside it */
export function lockFaults(path, lock, wanted) {
  const { packages } = lock;
  const faults = lock.version === wanted.version ? [] : [`${path}: its version is not that of package.json`];
  for (const kind of ["dependencies", "devDependencies", "optionalDependencies"]) {
    if (JSON.stringify(packages[""][kind] ?? {}) !== JSON.stringify(wanted[kind] ?? {}))
      faults.push(`${path}: ${kind} are not those of package.json: npm install --package-lock-only`);
  }
  for (const [place, entry] of Object.entries(packages)) {
    for (const name of needed(entry))
      if (!isLocked(packages, place, name))
        faults.push(`${path}: ${name}, which ${place || "this package"} needs, is missing`);
    if (place === "" || entry.integrity !== undefined || entry.link === true) continue;
    // What cannot be had where the lock was written has no hash; it must at least be of another platform.
    if (entry.optional !== true || entry.os === undefined) faults.push(`${path}: ${place} has no hash`);
  }
  return faults;
}

/** Also what only other platforms install. */
function needed({ dependencies, optionalDependencies, peerDependencies, peerDependenciesMeta }) {
  const peers = Object.keys(peerDependencies ?? {}).filter((name) => peerDependenciesMeta?.[name]?.optional !== true);
  return [...Object.keys(dependencies ?? {}), ...Object.keys(optionalDependencies ?? {}), ...peers];
}

/** As Node looks for it: in the package's own folder, then in each above. */
function isLocked(packages, place, name) {
  for (let at = place; ; at = at.slice(0, Math.max(0, at.lastIndexOf("/node_modules/")))) {
    if (packages[`${at === "" ? "" : `${at}/`}node_modules/${name}`] !== undefined) return true;
    if (at === "") return false;
  }
}

/** The notes of what is released last bear the number that the release says of itself. */
export function releaseFaults() {
  return notesFaults(text("CHANGELOG.md"), JSON.parse(text("package.json")).version);
}

export function notesFaults(notes, version) {
  const headings = [...notes.matchAll(/^## (.*)$/gm)].map(([, heading]) => heading);
  const released = headings.filter((heading, index) => index > 0 || heading !== "Unreleased");
  const faults = released
    .filter((heading) => !/^\d+\.\d+\.\d+ \(\d{4}-\d\d-\d\d\)$/.test(heading))
    .map((heading) => `CHANGELOG.md: "${heading}" is neither "Unreleased" above all others nor "0.2.0 (2026-11-24)"`);
  const [last] = released;
  if (last !== undefined && !last.startsWith(`${version} `))
    faults.push(`CHANGELOG.md: the last release is ${last}, and package.json says ${version}`);
  return faults;
}
