/**
 * Gives back what only the start needed, or something that is rare. A start touches most of the engine's library and of Node: the kernel
 * maps sixteen pages around each that is touched, and all of them count as ours from then on, although few are used again. What was freed since
 * stays in the C library's heaps.
 */
import { readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";

/** asm-generic/mman-common.h: forget what is mapped here; the next use maps the file's page again. */
const MADV_DONTNEED = 4;
/** How long after a start its last parts have been loaded, ms. */
const SETTLED_AFTER_MS = 20_000;
/** Rare work (the first of many monitors, a long read, a merge) touches other pages, which go then, ms. */
const AGAIN_EVERY_MS = 60_000;

interface Pages {
  readonly start: bigint;
  readonly bytes: bigint;
}

/** First line of an entry of /proc/PID/smaps, and a line of /proc/PID/maps (proc_pid_smaps(5)). */
const MAPPING = /^([0-9a-f]+)-([0-9a-f]+) (\S{4}) \S+ \S+ \d+\s+(\/.*)?$/;

/** @returns of read-only pages of a file; null: the line is none, or of other pages */
function readOnlyFile(line: string): Pages | null {
  const [, start, end, rights, path] = MAPPING.exec(line) ?? [];
  if (start === undefined || end === undefined || path === undefined) return null;
  if (rights !== "r--p" && rights !== "r-xp") return null;
  const from = BigInt(`0x${start}`);
  return { start: from, bytes: BigInt(`0x${end}`) - from };
}

/** @param maps the text of /proc/self/maps or of smaps. @returns what it says of read-only pages of files */
export function readOnlyFiles(maps: string): string {
  return maps
    .split("\n")
    .filter((line) => readOnlyFile(line) !== null)
    .join("\n");
}

/**
 * Pages of files that none can write through us and that we have not changed: forgetting them loses nothing. What the loader has relocated is
 * read-only too, but is ours alone (`Anonymous`), and stays.
 * @param smaps the text of /proc/self/smaps
 */
export function unchangedFilePages(smaps: string): readonly Pages[] {
  const found: Pages[] = [];
  let mapping: Pages | null = null;
  for (const line of smaps.split("\n")) {
    if (MAPPING.test(line)) mapping = readOnlyFile(line);
    else if (mapping !== null && /^Anonymous:\s+0 kB$/.test(line)) {
      found.push(mapping);
      mapping = null;
    }
  }
  return found;
}

/**
 * The kernel walks over every page of the process to write smaps, which takes 25 ms, and maps is written in less than one. So smaps is read
 * again only when other files are mapped.
 */
class UnchangedPages {
  #files = "";
  #pages: readonly Pages[] = [];

  async read(): Promise<readonly Pages[]> {
    if (readOnlyFiles(readFileSync("/proc/self/maps", "latin1")) === this.#files) return this.#pages;
    const smaps = await readFile("/proc/self/smaps", "latin1");
    this.#files = readOnlyFiles(smaps);
    this.#pages = unchangedFilePages(smaps);
    return this.#pages;
  }
}

/** Does it when what a start loads is there, and again from time to time. Does nothing where the C library cannot be called. */
export function giveBackStartPages(): void {
  setTimeout(() => {
    const giveBack = giver();
    if (giveBack === null) return;
    giveBack();
    setInterval(giveBack, AGAIN_EVERY_MS).unref();
  }, SETTLED_AFTER_MS).unref();
}

function giver(): (() => void) | null {
  try {
    const koffi = createRequire(import.meta.url)("koffi") as typeof import("koffi");
    const library = koffi.load(null);
    const advise = library.func("int madvise(uintptr_t, size_t, int)");
    // malloc_trim(3): glibc alone has it.
    const trim = library.func("int malloc_trim(size_t)");
    const unchanged = new UnchangedPages();
    const giveBack = async (): Promise<void> => {
      for (const { start, bytes } of await unchanged.read()) advise(start, bytes, MADV_DONTNEED);
      trim(0);
    };
    // What is not given back stays ours, which costs memory and nothing else.
    return () => void giveBack().catch(() => undefined);
  } catch {
    return null;
  }
}
