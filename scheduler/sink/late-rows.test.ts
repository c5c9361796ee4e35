import { join } from "node:path";
import { pino } from "pino";
import { beforeEach, expect, it } from "vitest";
import { StoreError } from "../../store/errors.ts";
import { Spool } from "../../store/results/spool.ts";
import { FrameLines } from "../../store/results/spool-frame.ts";
import { temporaryFolder } from "../../testkit/temporary-folder.ts";
import { isApplied, markApplied } from "./applied-line.ts";
import { LateRows } from "./late-rows.ts";
import { Trouble } from "./trouble.ts";

const log = pino({ level: "silent" });
let dir = "";
beforeEach(() => {
  dir = temporaryFolder();
});

const linesOf = (from: number, to: number): string[] =>
  Array.from({ length: to - from + 1 }, (_, index) => JSON.stringify({ n: from + index }));

/** A real spool on a disk that may be full. */
async function scene(most?: number) {
  const spool = await Spool.open({ dir: join(dir, "spool"), log });
  let isFull = false;
  const late = new LateRows(
    {
      name: spool.name,
      append: (lines) => (isFull ? Promise.reject(new StoreError("the disk is full")) : spool.append(lines)),
      pass: (rows) => spool.pass(rows),
      discard: (seqs) => spool.discard(seqs),
    },
    new Trouble(log, "results", () => 0),
    most,
  );
  const onDisk = async () => {
    const found: (readonly [seq: number, line: string])[] = [];
    for await (const { seqs, lines } of spool.replay(0)) {
      found.push(...lines.map((line, index) => [seqs[index] ?? 0, line] as const));
    }
    return found;
  };
  return {
    spool,
    late,
    append: (lines: readonly string[]) => late.append(FrameLines.of(lines)),
    onDisk,
    setFull: (full: boolean) => {
      isFull = full;
    },
  };
}

it("numbers rows that no disk takes, and writes them under new numbers before the next", async () => {
  const at = await scene();
  expect(await at.append(linesOf(1, 2))).toBe(2);
  at.setFull(true);
  expect(await at.append(linesOf(3, 4))).toBe(4);
  expect(await at.append(linesOf(5, 5))).toBe(5);
  at.setFull(false);
  expect(await at.append(linesOf(6, 6))).toBe(9);
  expect(at.late.waiting).toBe(0);
  const marked = linesOf(3, 5).map(markApplied);
  const [one = "", two = "", six = ""] = [...linesOf(1, 2), ...linesOf(6, 6)];
  expect(await at.onDisk()).toEqual([[1, one], [2, two], ...marked.map((line, index) => [6 + index, line]), [9, six]]);
  expect(marked.every(isApplied)).toBe(true);
  expect(isApplied(six)).toBe(false);
  await at.spool.close();
  // The numbers go on behind the last also after a start that finds none of the late ones.
  expect((await Spool.open({ dir: join(dir, "spool"), log })).lastSeq).toBe(9);
});

it("drops a row that must not be stored wherever it waits", async () => {
  const at = await scene();
  await at.append(linesOf(1, 2));
  at.setFull(true);
  await at.append(linesOf(3, 4));
  await at.late.discard(new Set([2, 3]));
  at.setFull(false);
  await at.late.flush();
  expect((await at.onDisk()).map(([, line]) => (JSON.parse(line) as { n: number }).n)).toEqual([1, 4]);
  await at.spool.close();
});

it("keeps so many and counts those that it drops, the oldest first", async () => {
  const at = await scene(3);
  at.setFull(true);
  await at.append(linesOf(1, 2));
  await at.append(linesOf(3, 5));
  expect([at.late.waiting, at.late.lost]).toEqual([3, 2]);
  at.setFull(false);
  await at.late.flush();
  expect((await at.onDisk()).map(([, line]) => (JSON.parse(line) as { n: number }).n)).toEqual([3, 4, 5]);
  await at.spool.close();
});
