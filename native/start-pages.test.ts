import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { readOnlyFiles, unchangedFilePages } from "./start-pages.ts";

const entry = (range: string, rights: string, anonymousKb: number, path: string) =>
  `${range} ${rights} 00001000 08:10 163866                     ${path}\nSize:                 64 kB\nRss:                  12 kB\nAnonymous:      ${anonymousKb} kB\nVmFlags: rd ex mr mw me\n`;

describe("unchangedFilePages", () => {
  test("takes what is read-only, of a file and as in the file, and nothing else", () => {
    const smaps = [
      entry("00400000-00800000", "r-xp", 0, "/usr/bin/node"),
      entry("00800000-00900000", "r--p", 0, "/usr/lib/a file (deleted)"),
      // Relocated by the loader.
      entry("00900000-00a00000", "r--p", 4, "/usr/bin/node"),
      entry("00a00000-00b00000", "rw-p", 0, "/usr/bin/node"),
      entry("00b00000-00c00000", "r-xp", 0, ""),
      entry("00c00000-00d00000", "r-xp", 0, "[vdso]"),
      entry("00d00000-00e00000", "r--s", 0, "/usr/share/shared"),
      entry("7fffffff0000-7fffffff1000", "r-xp", 0, "/usr/lib/b.so"),
    ].join("");
    expect(unchangedFilePages(smaps)).toEqual([
      { start: 0x40_0000n, bytes: 0x40_0000n },
      { start: 0x80_0000n, bytes: 0x10_0000n },
      { start: 0x7fff_ffff_0000n, bytes: 0x1000n },
    ]);
  });

  test("finds this program's code in the kernel's own text", () => {
    const code = unchangedFilePages(readFileSync("/proc/self/smaps", "latin1"));
    expect(code.length).toBeGreaterThan(3);
    expect(code.every(({ start, bytes }) => start > 0n && bytes > 0n && bytes % 4096n === 0n)).toBe(true);
  });

  test("names the same files from maps as from smaps, and others once another is mapped", () => {
    const [maps, smaps] = ["maps", "smaps"].map((name) => readFileSync(`/proc/self/${name}`, "latin1"));
    expect(readOnlyFiles(maps ?? "")).toBe(readOnlyFiles(smaps ?? ""));
    expect(readOnlyFiles(`${maps}7fffffff0000-7fffffff1000 r-xp 00001000 08:10 163866    /usr/lib/b.so\n`)).not.toBe(
      readOnlyFiles(maps ?? ""),
    );
  });

  test("takes nothing from text that is none of the kernel's", () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        expect(unchangedFilePages(text)).toEqual([]);
      }),
      { numRuns: 200 },
    );
  });
});
