import { once } from "node:events";
import { Worker } from "node:worker_threads";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { property } from "../../testkit/property.ts";
import { OwnBoard } from "./own-board.ts";

describe("the board of what is ours", () => {
  it("is the same in every thread that has its memory", () => {
    const [writer, reader] = [new OwnBoard()].flatMap((board) => [board, new OwnBoard(board.memory)]);
    expect(reader?.read()).toEqual({ version: 0, entries: [] });
    writer?.write(["10.0.0.7:5432", "[::1]:1"]);
    expect(reader?.read()).toEqual({ version: 2, entries: ["10.0.0.7:5432", "[::1]:1"] });
    writer?.openPort(65_535);
    expect([reader?.hasPort(65_535), reader?.hasPort(65_534)]).toEqual([true, false]);
  });

  it("keeps what it has when more comes than fits", () => {
    const board = new OwnBoard();
    board.write(["10.0.0.7:5432"]);
    expect(board.write(Array(10_000).fill("10.0.0.7:5432"))).toBe(false);
    expect(board.read()?.entries).toEqual(["10.0.0.7:5432"]);
  });

  it("is never read half written", { timeout: 60_000 }, async () => {
    const board = new OwnBoard();
    // Writes as OwnBoard.write() does, as fast as it can, until it is told to stop: lists of one letter each, of very different lengths.
    const source = `
      const { workerData: { memory, stop } } = require("node:worker_threads");
      const words = new Int32Array(memory, 0, 2);
      const text = new Uint8Array(memory, (2 + 2048) * 4);
      const elsewhere = new Uint8Array(3_100);
      for (let round = 0; Atomics.load(stop, 0) === 0; round++) {
        Atomics.add(words, 0, 1);
        const length = (round % 7) * 500 + 1;
        text.fill(97 + (round % 26), 0, length);
        Atomics.store(words, 1, length);
        Atomics.add(words, 0, 1);
        // As long between two writes as within one: a reader on the same core mostly stops it in either.
        elsewhere.fill(97, 0, length);
      }`;
    const stop = new Int32Array(new SharedArrayBuffer(4));
    const worker = new Worker(source, { eval: true, workerData: { memory: board.memory, stop } });
    const ended = once(worker, "exit");
    // The writer ends by this thread's word alone, so however the two are scheduled the reads meet its writes.
    const versions = new Set<number>();
    try {
      while (versions.size < 40) {
        const { version = 0, entries: [entry = ""] = [] } = board.read() ?? {};
        expect(entry).toMatch(/^(.?)\1*$/);
        if (entry !== "") versions.add(version);
        if (versions.size % 10 === 0) await new Promise((resolve) => setImmediate(resolve));
      }
    } finally {
      Atomics.store(stop, 0, 1);
      await ended;
    }
    expect((board.read()?.version ?? 1) % 2).toBe(0);
  });

  property([fc.array(fc.integer({ min: 1, max: 65_535 }), { maxLength: 5 }), fc.nat(65_535), fc.nat(65_535)])(
    "finds the first open port of a range",
    (ports, one, other) => {
      const board = new OwnBoard();
      for (const port of ports) board.openPort(port);
      const [from, to] = [Math.min(one, other), Math.max(one, other)];
      const expected = [...ports].sort((a, b) => a - b).find((port) => port >= from && port <= to) ?? -1;
      expect(board.firstPort(from, to)).toBe(expected);
      for (const port of ports) board.closePort(port);
      if (new Set(ports).size === ports.length) expect(board.firstPort(0, 65_535)).toBe(-1);
    },
  );
});
