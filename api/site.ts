/** The page's files, read once: they change with a release only. */
import { readdir, readFile } from "node:fs/promises";
import { extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { tagOf } from "./etag.ts";

export interface SiteFile {
  readonly mediaType: string;
  /** Weak: one for the file, whether it is compressed or not (RFC 9110 section 8.8.1). */
  readonly tag: string;
  readonly plain: Uint8Array;
  /** Compressed when the page was built, in the order in which they are preferred. */
  readonly packed: readonly { readonly coding: "br" | "gzip"; readonly bytes: Uint8Array }[];
}

export interface Site {
  readonly index: SiteFile;
  /** By name. A name has a hash of what the file holds, so it may be kept for ever. */
  readonly assets: ReadonlyMap<string, SiteFile>;
}

const MEDIA_TYPES: Readonly<Record<string, string>> = {
  ".css": "text/css; charset=utf-8",
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".json": "application/json",
  ".png": "image/png",
  ".svg": "image/svg+xml",
  ".webmanifest": "application/manifest+json",
};
const TWINS = [
  ["br", ".br"],
  ["gzip", ".gz"],
] as const;

/** Where the build puts it, beside dist/api; of the sources, below dist. */
const BUILT_SITE: string = fileURLToPath(
  new URL(import.meta.url.endsWith(".ts") ? "../dist/web" : "../web", import.meta.url),
);

/** @returns null where the page was not built */
export async function readSite(folder: string = BUILT_SITE): Promise<Site | null> {
  const index = await readSiteFile(folder, "index.html");
  if (index === null) return null;
  const assets = join(folder, "assets");
  const names = await namesIn(assets);
  const files = await Promise.all(
    names.filter((name) => extname(name) in MEDIA_TYPES).map(async (name) => [name, await readSiteFile(assets, name)]),
  );
  return { index, assets: new Map(files.filter((pair): pair is [string, SiteFile] => pair[1] !== null)) };
}

async function readSiteFile(folder: string, name: string): Promise<SiteFile | null> {
  const plain = await readIfThere(join(folder, name));
  if (plain === null) return null;
  const packed = await Promise.all(
    TWINS.map(async ([coding, ending]) => ({ coding, bytes: await readIfThere(join(folder, name + ending)) })),
  );
  return {
    mediaType: MEDIA_TYPES[extname(name)] ?? "application/octet-stream",
    tag: tagOf(plain),
    plain,
    packed: packed.flatMap(({ coding, bytes }) => (bytes === null ? [] : [{ coding, bytes }])),
  };
}

async function namesIn(folder: string): Promise<readonly string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    if (isAbsent(error)) return [];
    throw error;
  }
}

async function readIfThere(path: string): Promise<Uint8Array | null> {
  try {
    return await readFile(path);
  } catch (error) {
    if (isAbsent(error)) return null;
    throw error;
  }
}

function isAbsent(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "ENOENT";
}
