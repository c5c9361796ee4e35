/** Headers of the archive: what is written is read again, and what is foreign is refused in words. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { StoreError } from "../errors.ts";
import { FORMAT, parseManifest } from "./manifest.ts";
import { BLOCK_BYTES, encodeTarHeader, parseTarHeader, staysInside, type TarEntry } from "./tar.ts";

const RUNS = { numRuns: 200 };
const word = fc.stringMatching(/^[A-Za-z0-9_][A-Za-z0-9._%-]{0,30}$/);
const path = fc.array(word, { minLength: 1, maxLength: 5 }).map((words) => words.join("/"));
const entry: fc.Arbitrary<TarEntry> = fc.oneof(
  fc.record({
    name: path,
    kind: fc.constant("file" as const),
    size: fc.maxSafeNat(),
    target: fc.constant(""),
  }),
  fc.record({ name: path, kind: fc.constant("folder" as const), size: fc.constant(0), target: fc.constant("") }),
);

function refusalOf(act: () => unknown): unknown {
  try {
    act();
    return undefined;
  } catch (error) {
    return error;
  }
}

describe("a tar header", () => {
  it("is read as it was written", () => {
    fc.assert(
      fc.property(entry, (written) => {
        expect(parseTarHeader(encodeTarHeader(written))).toEqual(written);
      }),
      RUNS,
    );
  });

  it("is refused when a byte of it was changed", () => {
    fc.assert(
      fc.property(entry, fc.nat(BLOCK_BYTES - 1), fc.integer({ min: 1, max: 255 }), (written, at, by) => {
        const block = encodeTarHeader(written);
        block[at] = ((block[at] ?? 0) + by) & 0xff;
        // The sum's own field may be written in another way with the same meaning.
        const found = refusalOf(() => expect(parseTarHeader(block)).toEqual(written));
        if (found !== undefined) expect(found).toBeInstanceOf(StoreError);
      }),
      RUNS,
    );
  });

  it("of foreign bytes is one of our entries or a refusal", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 600 }), (bytes) => {
        const fault = refusalOf(() => parseTarHeader(bytes));
        if (fault !== undefined) expect(fault).toBeInstanceOf(StoreError);
      }),
      RUNS,
    );
  });

  it("names nothing outside", () => {
    for (const name of ["/etc/passwd", "../a", "a/../b", "a//b", ".", "a/", "a b", "a\\b"])
      expect(
        refusalOf(() => parseTarHeader(encodeTarHeader({ name, kind: "file", size: 1, target: "" }))),
      ).toBeDefined();
    expect(staysInside("a/b/c", "../x")).toBe(true);
    expect(staysInside("a/b/c", "../../x")).toBe(false);
    expect(staysInside("a/b", "/etc/passwd")).toBe(false);
    expect(staysInside("a/b", "c/../../../x")).toBe(false);
  });
});

const FILE = { name: "a", kind: "file", size: 1, sha256: "0".repeat(64), target: "" };
const FOLDER = { ...FILE, kind: "folder", sha256: "" };
const MANIFEST = {
  format: FORMAT,
  version: "0.1.0",
  madeAt: "2026-11-26T00:00:00.000Z",
  host: "h",
  schema: ["0001"],
  sealingKeyId: "0011aabb",
  tables: { monitors: 1 },
  results: {},
  files: [
    { ...FILE, name: "a", kind: "folder", sha256: "" },
    { ...FILE, name: "a/b" },
  ],
};

describe("a manifest", () => {
  it("is read as it was written", () => {
    expect(parseManifest(JSON.stringify(MANIFEST))).toEqual(MANIFEST);
  });

  it.each([
    ["a newer format", { format: FORMAT + 1 }, /newer version/],
    [
      "a file behind a link",
      { files: [FOLDER, { ...FILE, name: "a/l", kind: "link", size: 0, target: "b" }, { ...FILE, name: "a/l/b" }] },
      /place/,
    ],
    ["a file twice", { files: [FILE, FILE] }, /place/],
    ["a path that leads up", { files: [{ ...FILE, name: "../a" }] }, /plain/],
    ["no list", { files: 7 }, /list/],
  ])("is refused with %s", (_what, change, words) => {
    expect(String(refusalOf(() => parseManifest(JSON.stringify({ ...MANIFEST, ...change }))))).toMatch(words);
  });

  it("of any JSON is one of ours or a refusal", () => {
    const almost = fc.record({ ...Object.fromEntries(Object.keys(MANIFEST).map((name) => [name, fc.jsonValue()])) });
    fc.assert(
      fc.property(fc.oneof(fc.jsonValue(), almost, fc.string()), (value) => {
        const fault = refusalOf(() => parseManifest(typeof value === "string" ? value : JSON.stringify(value)));
        if (fault !== undefined) expect(fault).toBeInstanceOf(StoreError);
      }),
      RUNS,
    );
  });
});
