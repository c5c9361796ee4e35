import { appendFileSync, mkdtempSync, readdirSync, readlinkSync, rmSync, statSync, truncateSync } from "node:fs";
import { open as openFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import fc from "fast-check";
import { pino } from "pino";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { temporaryFolder } from "../../testkit/temporary-folder.ts";
import { Spool, type SpoolOptions } from "./spool.ts";

const log = pino({ level: "silent" });
let dir = "";
let open: Spool[] = [];

beforeEach(() => {
  dir = temporaryFolder();
});
afterEach(async () => {
  for (const spool of open) await spool.close();
  open = [];
});

async function start(overrides: Partial<SpoolOptions> = {}): Promise<Spool> {
  const spool = await Spool.open({ dir, log, ...overrides });
  open.push(spool);
  return spool;
}

async function replayed(spool: Spool, afterSeq = 0) {
  const lines: string[] = [];
  let lastSeq = afterSeq;
  for await (const batch of spool.replay(afterSeq)) {
    lines.push(...batch.lines);
    lastSeq = batch.lastSeq;
  }
  return { lines, lastSeq };
}

async function drained(spool: Spool): Promise<string[]> {
  const found: string[] = [];
  await spool.seal();
  for (let segment = await spool.next(); segment !== undefined; segment = await spool.next()) {
    const text = Buffer.from(await segment.read()).toString("utf8");
    found.push(...text.split("\n").slice(0, -1));
    expect(text.split("\n").length - 1).toBe(segment.rows);
    await spool.release(segment);
  }
  return found;
}

const numbered = (from: number, to: number, changed = 0) =>
  Array.from({ length: to - from + 1 }, (_, i) => JSON.stringify({ seq: from + i, changed }));

describe("spool", () => {
  it("removes what a crash, or a full disk, left of a segment that was being thinned", async () => {
    await (await start()).append(numbered(1, 2));
    appendFileSync(join(dir, "0000000000000001-0000000000000002.seg.new"), "half");
    const again = await start();
    expect(readdirSync(dir).sort()).toEqual(["0000000000000001.seg", "name"]);
    expect((await replayed(again)).lines).toEqual(numbered(1, 2));
  });

  it("drops rows that must not be stored for good, and keeps the numbers of the others", async () => {
    const spool = await start({ segmentBytes: 100 });
    await spool.append(numbered(1, 4));
    await spool.append(numbered(5, 8, 1));
    await spool.append(numbered(9, 10));
    await spool.discard(new Set([2, 5, 6, 7, 8, 10]));
    await spool.discard(new Set([9]));
    const kept = async (from: Spool) => {
      const rows: [number, string][] = [];
      for await (const { seqs, lines } of from.replay(0)) {
        for (const [i, seq] of seqs.entries()) rows.push([seq, lines[i] ?? ""]);
      }
      return rows;
    };
    const three = [1, 3, 4].map((seq) => [seq, numbered(seq, seq)[0]]);
    expect(await kept(spool)).toEqual(three);
    await spool.close();
    const again = await start();
    expect(again.name).toBe(spool.name);
    expect(await kept(again)).toEqual(three);
    expect(await again.append(numbered(11, 11))).toBe(11);
    expect(await drained(again)).toEqual([...three.map(([, line]) => line), ...numbered(11, 11)]);
  });

  it("numbers lines consecutively, and gives them back in order", async () => {
    const spool = await start();
    expect(spool.lastSeq).toBe(0);
    expect(await spool.append(numbered(1, 3))).toBe(3);
    expect(await Promise.all([spool.append(numbered(4, 5)), spool.append(numbered(6, 6)), spool.append([])])).toEqual([
      5, 6, 6,
    ]);
    expect(spool.rows).toBe(6);
    expect(await replayed(spool)).toEqual({ lines: numbered(1, 6), lastSeq: 6 });
    expect(await replayed(spool, 4)).toEqual({ lines: numbered(5, 6), lastSeq: 6 });
    expect(await replayed(spool, 6)).toEqual({ lines: [], lastSeq: 6 });
  });

  it("hands out sealed segments only, oldest first, until each is released", async () => {
    const spool = await start();
    expect(spool.oldestAtMs).toBeNull();
    const fromMs = Date.now();
    await spool.append(numbered(1, 2));
    const oldestAtMs = spool.oldestAtMs ?? 0;
    expect(oldestAtMs).toBeGreaterThanOrEqual(fromMs);
    expect(oldestAtMs).toBeLessThanOrEqual(Date.now());
    expect(await spool.next()).toBeUndefined();
    await spool.seal();
    await spool.append(numbered(3, 3));
    await spool.seal();
    const first = await spool.next();
    expect(first).toMatchObject({ firstSeq: 1, lastSeq: 2, rows: 2 });
    expect((await spool.next())?.token).toBe(first?.token);
    expect(spool.oldestAtMs).toBe(oldestAtMs);
    if (first !== undefined) await spool.release(first);
    expect(await spool.next()).toMatchObject({ firstSeq: 3, lastSeq: 3 });
    expect(await drained(spool)).toEqual(numbered(3, 3));
    expect([spool.rows, spool.sizeBytes, spool.oldestAtMs]).toEqual([0, 0, null]);
  });

  it("lets no power cut bring back what was released: the folder is synced without it, the last file empty", async () => {
    const spool = await start();
    for (const seq of [1, 2]) {
      await spool.append(numbered(seq, seq));
      await spool.seal();
    }
    const handle = await openFile(dir, "r");
    const synced: (readonly string[])[] = [];
    const sync = vi.spyOn(Object.getPrototypeOf(handle), "sync").mockImplementation(async function (
      this: typeof handle,
    ) {
      const path = readlinkSync(`/proc/self/fd/${this.fd}`);
      synced.push(path === dir ? readdirSync(dir).sort() : [basename(path), `${statSync(path).size} bytes`]);
    });
    try {
      for (const _ of [1, 2]) {
        const segment = await spool.next();
        if (segment !== undefined) await spool.release(segment);
      }
    } finally {
      sync.mockRestore();
      await handle.close();
    }
    expect(synced).toEqual([
      ["0000000000000002.seg", "name"],
      ["0000000000000003.seg", "0 bytes"],
      ["0000000000000003.seg", "name"],
    ]);
  });

  it("goes on with the sequence after restarts, also when everything was released", async () => {
    let spool = await start();
    await spool.append(numbered(1, 5));
    await spool.close();
    spool = await start();
    expect(spool.lastSeq).toBe(5);
    expect(await drained(spool)).toHaveLength(5);
    await spool.close();
    spool = await start();
    expect(spool.lastSeq).toBe(5);
    expect(await spool.append(["{}"])).toBe(6);
    await spool.seal();
    await drained(spool);
    await spool.close();
    expect((await start()).lastSeq).toBe(6);
    expect(readdirSync(dir).filter((name) => name.endsWith(".seg"))).toHaveLength(1);
  });

  it("starts behind what the control plane has applied, should the folder be lost", async () => {
    const spool = await start({ afterSeq: async () => 41 });
    expect(await spool.append(["{}"])).toBe(42);
  });

  it("gives a segment the same token after a restart, and another spool never the same", async () => {
    let spool = await start();
    await spool.append(numbered(1, 2));
    await spool.seal();
    const token = (await spool.next())?.token;
    await spool.close();
    spool = await start();
    expect((await spool.next())?.token).toBe(token);
    const other = mkdtempSync(join(tmpdir(), "sonde-spool-"));
    const second = await Spool.open({ dir: other, log });
    await second.append(numbered(1, 2));
    await second.seal();
    expect((await second.next())?.token).not.toBe(token);
    await second.close();
    rmSync(other, { recursive: true });
  });

  it("seals a segment by itself when it is large", async () => {
    const spool = await start({ segmentBytes: 200 });
    for (let i = 1; i <= 40; i += 4) await spool.append(numbered(i, i + 3));
    expect(readdirSync(dir).filter((name) => name.endsWith(".seg")).length).toBeGreaterThan(2);
    expect(await drained(spool)).toEqual(numbered(1, 40));
  });

  it("refuses a line that would become two", async () => {
    const spool = await start();
    await expect(spool.append(["a\nb"])).rejects.toThrow(TypeError);
    expect(await spool.append(["{}"])).toBe(1);
  });

  it("after a torn write keeps every acknowledged line, yields no broken one, and goes on", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.integer({ min: 1, max: 5 }), { minLength: 1, maxLength: 5 }),
        fc.nat(),
        fc.uint8Array({ maxLength: 80 }),
        fc.boolean(),
        async (sizes, cut, garbage, sealsBetween) => {
          const folder = mkdtempSync(join(tmpdir(), "sonde-spool-"));
          const first = await Spool.open({ dir: folder, log });
          let acknowledged = 0;
          for (const size of sizes) {
            acknowledged = await first.append(numbered(acknowledged + 1, acknowledged + size));
            if (sealsBetween) await first.seal();
          }
          await first.close();
          // A batch that was being written when the process died: some of it, or something else, is at the end.
          const file = join(
            folder,
            readdirSync(folder)
              .filter((name) => name.endsWith(".seg"))
              .sort()
              .at(-1) ?? "",
          );
          const whole = statSync(file).size;
          const torn = await Spool.open({ dir: folder, log });
          await torn.append(numbered(acknowledged + 1, acknowledged + 3));
          await torn.close();
          const last = join(
            folder,
            readdirSync(folder)
              .filter((name) => name.endsWith(".seg"))
              .sort()
              .at(-1) ?? "",
          );
          truncateSync(last, last === file ? whole + (cut % (statSync(last).size - whole)) : cut % statSync(last).size);
          appendFileSync(last, garbage);

          const again = await Spool.open({ dir: folder, log });
          expect(again.lastSeq).toBe(acknowledged);
          expect((await replayed(again)).lines).toEqual(numbered(1, acknowledged));
          expect(await again.append(numbered(acknowledged + 1, acknowledged + 1))).toBe(acknowledged + 1);
          expect(await drained(again)).toEqual(numbered(1, acknowledged + 1));
          await again.close();
          rmSync(folder, { recursive: true });
        },
      ),
      { numRuns: 200 },
    );
  });

  it("when full drops rows without a change first, oldest first, and counts them", async () => {
    const spool = await start({ maxBytes: 6_000, segmentBytes: 1_000 });
    let seq = 0;
    while (spool.droppedRows === 0) {
      await spool.append([...numbered(seq + 1, seq + 9, 0), ...numbered(seq + 10, seq + 10, 1)]);
      seq += 10;
    }
    expect(spool.sizeBytes).toBeLessThanOrEqual(6_000);
    const { lines } = await replayed(spool);
    const rows = lines.map((line) => JSON.parse(line) as { seq: number; changed: number });
    expect(rows.filter(({ changed }) => changed === 1).map((row) => row.seq)).toEqual(
      Array.from({ length: seq / 10 }, (_, i) => i * 10 + 10),
    );
    const unchanged = rows.filter(({ changed }) => changed === 0).map((row) => row.seq);
    expect(seq - rows.length).toBe(spool.droppedRows);
    // What went is the oldest; the newest are all there.
    expect(unchanged.at(-1)).toBe(seq - 1);
    expect(unchanged[0]).toBeGreaterThan(9);
    const middle = unchanged[Math.floor(unchanged.length / 2)] ?? 0;
    expect((await replayed(spool, middle)).lines.map((line) => (JSON.parse(line) as { seq: number }).seq)).toEqual(
      rows.map((row) => row.seq).filter((number) => number > middle),
    );
  });

  it("when full of changes drops the oldest segments whole, and stays within its bound", async () => {
    const spool = await start({ maxBytes: 4_000, segmentBytes: 500 });
    for (let seq = 0; seq < 300; seq += 5) {
      await spool.append(numbered(seq + 1, seq + 5, 1));
      expect(spool.sizeBytes).toBeLessThanOrEqual(4_000);
    }
    expect(spool.rows + spool.droppedRows).toBe(300);
    const found = await drained(spool);
    expect(found).toEqual(numbered(301 - found.length, 300, 1));
  });

  it("a thinned segment keeps its token and its numbers over a restart", async () => {
    let spool = await start({ maxBytes: 3_000, segmentBytes: 900 });
    const tokens = new Map<number, string>();
    for (let seq = 0; spool.droppedRows === 0; seq += 10) {
      const segment = await spool.next();
      if (segment !== undefined) tokens.set(segment.firstSeq, segment.token);
      await spool.append([...numbered(seq + 1, seq + 9, 0), ...numbered(seq + 10, seq + 10, 1)]);
    }
    const lastSeq = spool.lastSeq;
    await spool.close();
    spool = await start({ maxBytes: 3_000 });
    const segment = await spool.next();
    expect(segment?.firstSeq).toBe(1);
    expect(segment?.rows).toBeLessThan((segment?.lastSeq ?? 0) - (segment?.firstSeq ?? 0) + 1);
    expect(segment?.token).toBe(tokens.get(1));
    expect(spool.lastSeq).toBe(lastSeq);
  });
});
