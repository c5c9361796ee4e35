/**
 * Gives back what only the start needed, or something that is rare. A start touches most of the engine's library and of Node: the kernel
 * maps sixteen pages around each that is touched, and all of them count as ours from then on, although few are used again. What was freed since
 * stays in the C library's heaps.
 */
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";

/** asm-generic/mman-common.h: forget what is mapped here; the next use maps the file's page again. */
const MADV_DONTNEED = 4;
/** How long after a start its last parts have been loaded, ms. */
const SETTLED_AFTER_MS = 20_000;
/** Rare work (the first of many monitors, a long read, a merge) touches other pages, which go then, ms. Each time takes some 25 ms. */
const AGAIN_EVERY_MS = 60_000;

interface Pages {
  readonly start: bigint;
  readonly bytes: bigint;
}

/** First line of an entry of /proc/PID/smaps (proc_pid_smaps(5)). */
const MAPPING = /^([0-9a-f]+)-([0-9a-f]+) (\S{4}) \S+ \S+ \d+\s+(\/.*)?$/;

/**
 * Pages of files that none can write through us and that we have not changed: forgetting them loses nothing. What the loader has relocated is
 * read-only too, but is ours alone (`Anonymous`), and stays.
 * @param smaps the text of /proc/self/smaps
 */
export function unchangedFilePages(smaps: string): readonly Pages[] {
  const found: Pages[] = [];
  let mapping: Pages | undefined;
  for (const line of smaps.split("\n")) {
    const [, start, end, rights, path] = MAPPING.exec(line) ?? [];
    if (start !== undefined && end !== undefined) {
      const from = BigInt(`0x${start}`);
      const isReadOnly = rights === "r--p" || rights === "r-xp";
      mapping = isReadOnly && path !== undefined ? { start: from, bytes: BigInt(`0x${end}`) - from } : undefined;
    } else if (mapping !== undefined && /^Anonymous:\s+0 kB$/.test(line)) {
      found.push(mapping);
      mapping = undefined;
    }
  }
  return found;
}

/** Does it when what a start loads is there, and again from time to time. Does nothing where the C library cannot be called. */
export function giveBackStartPages(): void {
  setTimeout(() => {
    void giveBack();
    setInterval(() => void giveBack(), AGAIN_EVERY_MS).unref();
  }, SETTLED_AFTER_MS).unref();
}

async function giveBack(): Promise<void> {
  try {
    const koffi = createRequire(import.meta.url)("koffi") as typeof import("koffi");
    const library = koffi.load(null);
    const advise = library.func("int madvise(uintptr_t, size_t, int)");
    for (const { start, bytes } of unchangedFilePages(await readFile("/proc/self/smaps", "latin1")))
      advise(start, bytes, MADV_DONTNEED);
    // malloc_trim(3): glibc alone has it.
    library.func("int malloc_trim(size_t)")(0);
  } catch {
    // They stay ours, which costs memory and nothing else.
  }
}
