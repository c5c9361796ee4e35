import * as zlib from "node:zlib";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { codingsOf, decodeContent } from "./content-coding.ts";

const TEXT = Buffer.from("hello, hello, hello ".repeat(500));

async function decode(
  contentEncoding: string,
  bytes: Uint8Array,
  pieceBytes: number,
  limitBytes = 1_000_000,
  cut = false,
) {
  const pieces: Buffer[] = [];
  const codings = codingsOf(contentEncoding);
  if (codings === undefined) throw new Error("unknown coding");
  const decoder = decodeContent(codings, limitBytes, (piece) => pieces.push(Buffer.from(piece)));
  for (let at = 0; at < bytes.length; at += pieceBytes) {
    const lent = Buffer.from(bytes.subarray(at, at + pieceBytes));
    if (!decoder.push(lent)) break;
    lent.fill(0);
  }
  try {
    await decoder.end(cut);
  } finally {
    decoder.close();
  }
  return Buffer.concat(pieces);
}

const FORMS: readonly [string, Buffer][] = [
  ["gzip", zlib.gzipSync(TEXT)],
  ["X-GZip", zlib.gzipSync(TEXT)],
  ["deflate", zlib.deflateSync(TEXT)],
  ["deflate", zlib.deflateRawSync(TEXT)],
  ["br", zlib.brotliCompressSync(TEXT)],
  ["gzip, br", zlib.brotliCompressSync(zlib.gzipSync(TEXT))],
  ["identity, gzip", zlib.gzipSync(TEXT)],
];

describe("decodeContent", () => {
  it.each(FORMS)("%s, in pieces of every size", async (coding, bytes) => {
    for (const pieceBytes of [1, 7, 100_000]) expect((await decode(coding, bytes, pieceBytes)).equals(TEXT)).toBe(true);
  });

  it.each(FORMS)("%s stops at its bound, to the byte", async (coding, bytes) => {
    expect((await decode(coding, bytes, 100_000, 4_321)).equals(TEXT.subarray(0, 4_321))).toBe(true);
  });

  it("does not unpack a bomb", async () => {
    const bomb = zlib.gzipSync(Buffer.alloc(200 * 1024 * 1024));
    const before = process.memoryUsage().arrayBuffers;
    expect((await decode("gzip", bomb, 16_384, 1024 * 1024)).length).toBe(1024 * 1024);
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(32 * 1024 * 1024);
  });

  it("does not unpack what gives nothing in the end", async () => {
    // Stored blocks of no bytes (RFC 1951 section 3.2.4), without an end.
    const nothing = Buffer.alloc(16 * 1024 * 1024, Buffer.from([0, 0, 0, 0xff, 0xff]));
    const bomb = zlib.gzipSync(Buffer.concat([Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3]), nothing]));
    await expect(decode("gzip, gzip", bomb, 16_384, 1024 * 1024, true)).rejects.toThrow("too much for the next");
  });

  it.each(FORMS.filter(([coding]) => !coding.includes(",")))(
    "%s cut short is a fault, unless the cut was ours",
    async (coding, bytes) => {
      const half = bytes.subarray(0, bytes.length - 5);
      await expect(decode(coding, half, 100_000)).rejects.toThrow();
      await expect(decode(coding, half, 100_000, 1_000_000, true)).resolves.toBeDefined();
    },
  );

  it.each(["gzip", "br"])("%s that is none is a fault, also when we cut it", async (coding) => {
    const noise = Buffer.from("<html>this is not compressed</html>".repeat(10));
    await expect(decode(coding, noise, 100_000)).rejects.toThrow();
    await expect(decode(coding, noise, 100_000, 1_000_000, true)).rejects.toThrow();
  });

  it("takes an empty body for what it is", async () => {
    expect((await decode("gzip", Buffer.alloc(0), 1)).length).toBe(0);
  });
});

describe("codingsOf", () => {
  it("knows what it cannot undo", () => {
    expect(codingsOf(null)).toEqual([]);
    expect(codingsOf("")).toEqual([]);
    expect(codingsOf("identity")).toEqual([]);
    expect(codingsOf("gzip, br")).toEqual(["br", "gzip"]);
    expect(codingsOf("UTF-8")).toEqual([]);
    expect(codingsOf("none, gzip")).toEqual(["gzip"]);
    expect(codingsOf("compress")).toBeUndefined();
    expect(codingsOf("gzip, gzip, gzip, gzip")).toBeUndefined();
  });
});

describe("whatever a target sends", () => {
  const compress: Readonly<Record<string, (bytes: Uint8Array) => Buffer>> = {
    gzip: (bytes) => zlib.gzipSync(bytes),
    deflate: (bytes) => zlib.deflateSync(bytes),
    br: (bytes) => zlib.brotliCompressSync(bytes, { params: { [zlib.constants.BROTLI_PARAM_QUALITY]: 1 } }),
  };
  const coding = fc.constantFrom("gzip", "deflate", "br");
  const codings = fc.array(coding, { minLength: 1, maxLength: 3 });
  const text = fc.uint8Array({ maxLength: 400 });
  const pieceBytes = fc.integer({ min: 1, max: 500 });
  /** As many as fit: every input starts native streams. */
  const BOUNDS = { numRuns: 100_000, interruptAfterTimeLimit: 12_000, markInterruptAsFailure: false };
  const coded = (list: readonly string[], bytes: Uint8Array): Buffer =>
    list.reduce<Buffer>((so, name) => compress[name]?.(so) ?? so, Buffer.from(bytes));

  it("gives back what was coded, up to the bound", { timeout: 60_000 }, async () => {
    await fc.assert(
      fc.asyncProperty(codings, text, pieceBytes, fc.nat(500), async (list, bytes, size, limit) => {
        const given = await decode(list.join(", "), coded(list, bytes), size, limit + 1);
        expect(given.equals(Buffer.from(bytes.subarray(0, limit + 1)))).toBe(true);
      }),
      BOUNDS,
    );
  });

  it("ends with bytes within the bound or with an error, never with neither", { timeout: 60_000 }, async () => {
    const change = fc.array(fc.tuple(fc.nat(600), fc.nat(255)), { maxLength: 6 });
    const sent = fc.oneof(
      fc.tuple(codings, text, change).map(([list, bytes, changes]) => {
        const broken = coded(list, bytes);
        for (const [at, value] of changes) if (at < broken.length) broken[at] = value;
        return { list, bytes: broken as Uint8Array };
      }),
      fc.record({ list: codings, bytes: text }),
    );
    await fc.assert(
      fc.asyncProperty(sent, pieceBytes, fc.nat(1_000), fc.boolean(), async ({ list, bytes }, size, limit, cut) => {
        const ended = await decode(list.join(", "), bytes, size, limit + 1, cut).catch((error: unknown) => error);
        if (Buffer.isBuffer(ended)) expect(ended.length).toBeLessThanOrEqual(limit + 1);
        else expect(ended).toBeInstanceOf(Error);
      }),
      BOUNDS,
    );
  });
});
