// Comments and documents point to what is in the repository, and say things in words that need no second reading.
import { posix } from "node:path";
import { FORBIDDEN_WORDS } from "./debts.mjs";
import { files, text } from "./sources.mjs";

/** Documents that are not here. */
const OUTSIDE =
  /\bopen-points\b|\b[Dd]esign,? (?:section )?\d|\b[Rr]eference \d|\b(?:peers|style-anchors|one-process|rebuild|review|web)\.md\b|\b[Ii]ssue #?\d|\bContract, [A-Z]|\d, contract\)|\(contract\)/;
/** A document by its path from the repository's root, and perhaps a heading of it. */
const BY_PATH = /(?<![\w/])docs\/[\w/-]+\.md(?:#[\w-]+(?:, #[\w-]+)*)?/g;
/** A link of a Markdown file. */
const LINK = /\]\(([^)\s]+)\)/g;
/** A file or folder of the repository, named in code of a Markdown file: by its whole path or by the end of it. */
const NAMED = /`((?:[\w.@-]+\/)*(?:[\w.@-]+\.(?:ts|mjs|cjs|md|yaml|service|lua|py)|[\w@-]+\/))`/g;
/** Places of one folder in a message. */
const MOST_SHOWN = 10;
/** Persons where a process, a caller or a machine is meant. */
const PERSONS = /\b(?:nobody|somebody|whoever|anybody|strangers?)\b/gi;
const READ = /\.(?:ts|mjs|cjs|md|lua|sh|yaml|yml|sql)$/;

/** The rule's own cases. */
const EXEMPT = /^scripts\/verify\/|^test\/guard-rails\.test\.ts$/;

const paths = () => files().filter((path) => READ.test(path) && !EXEMPT.test(path));

export function unresolved() {
  const all = files();
  // A folder has no text, and no headings.
  const read = (path) =>
    text(path) ?? (all.some((file) => file.startsWith(`${path.replace(/\/$/, "")}/`)) ? "" : undefined);
  const texts = new Map(paths().map((path) => [path, text(path)]));
  return [...unresolvedIn(texts, read), ...unnamedIn(texts, all)];
}

/**
 * @param texts documents by path; others are passed over
 * @param all paths of the repository
 */
export function unnamedIn(texts, all) {
  const known = all.map((path) => `/${path}`);
  const isThere = (name) =>
    known.some((path) => (name.endsWith("/") ? path.includes(`/${name}`) : path.endsWith(`/${name}`)));
  return [...texts]
    .filter(([path]) => path.endsWith(".md") && path !== "CHANGELOG.md")
    .flatMap(([path, source]) =>
      source
        .split("\n")
        .flatMap((line, index) =>
          [...line.matchAll(NAMED)]
            .filter(([, name]) => !isThere(name.replace(/^\.\//, "")))
            .map(([, name]) => `${path}:${index + 1} names ${name}, which is not there`),
        ),
    );
}

/**
 * @param texts documents and sources by path
 * @param read the text of another file; undefined when there is none
 */
export function unresolvedIn(texts, read) {
  return [...texts].flatMap(([path, source]) =>
    source.split("\n").flatMap((line, index) => {
      const found = [
        ...(OUTSIDE.test(line) ? ["points to a document that is not in the repository"] : []),
        ...[...line.matchAll(BY_PATH)].flatMap(([reference]) => missing(reference, "", read)),
        ...(path.endsWith(".md") ? [...line.matchAll(LINK)].flatMap(([, target]) => missing(target, path, read)) : []),
      ];
      return found.map((what) => `${path}:${index + 1} ${what}`);
    }),
  );
}

/** @param from of a relative link, the file that it stands in; "" from the root */
function missing(reference, from, read) {
  if (/^[a-z]+:/.test(reference)) return [];
  const [target, ...anchors] = reference.split(/(?:, )?#/);
  const path = target === "" ? from : posix.normalize(posix.join(from === "" ? "." : posix.dirname(from), target));
  const content = read(path);
  if (content === undefined) return [`points to ${path}, which is not there`];
  const slugs = new Set((content.match(/^#+ .+$/gm) ?? []).map(slugOf));
  return anchors
    .filter((anchor) => !slugs.has(anchor))
    .map((anchor) => `points to ${path}#${anchor}, which has no such heading`);
}

/** As GitHub makes them. */
function slugOf(heading) {
  return heading
    .replace(/^#+ /, "")
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, "")
    .replaceAll(" ", "-");
}

export function forbiddenWords() {
  return wordsIn(new Map(paths().map((path) => [path, text(path)])), FORBIDDEN_WORDS);
}

/** @param allowed how many a folder may still have */
export function wordsIn(texts, allowed) {
  const places = new Map();
  for (const [path, source] of texts) {
    const room = path.includes("/") ? path.split("/")[0] : ".";
    if (!places.has(room)) places.set(room, []);
    for (const { index } of source.matchAll(PERSONS)) places.get(room).push(`${path}:${lineAt(source, index)}`);
  }
  return [...new Set([...places.keys(), ...Object.keys(allowed)])].flatMap((room) => {
    const found = places.get(room) ?? [];
    const [count, most] = [found.length, allowed[room] ?? 0];
    if (count > most) {
      const where = found.slice(0, MOST_SHOWN).join(", ");
      return [
        `${room} has ${count} of the words ${PERSONS.source}, more than ${most} (${where}): name the process or the caller`,
      ];
    }
    return count < most ? [`scripts/verify/debts.mjs: ${room} has only ${count} of the forbidden words now`] : [];
  });
}

function lineAt(source, index) {
  return source.slice(0, index).split("\n").length;
}
