import { once } from "node:events";
import { closeSync, writeSync } from "node:fs";
import { Worker } from "node:worker_threads";
import { afterEach, describe, expect, it } from "vitest";
import { EPOLLIN, loadLibc, SOCK_CLOEXEC, SOCK_NONBLOCK } from "../libc.ts";
import { ring, WaitingLoop } from "./waiting-loop.ts";

/** The loop is left by what happens, never by this, ms. */
const LONG_MS = 60_000;
const ONE = Buffer.from([1, 0, 0, 0, 0, 0, 0, 0]);

const libc = loadLibc();

describe.runIf(libc !== null)("a loop that waits in the kernel", () => {
  const opened: number[] = [];
  const loops: WaitingLoop[] = [];
  afterEach(() => {
    for (const loop of loops.splice(0)) loop.close();
    for (const fd of opened.splice(0)) closeSync(fd);
  });
  function counter(value = 0): number {
    const fd = libc?.eventfd(value, SOCK_CLOEXEC | SOCK_NONBLOCK) ?? -1;
    opened.push(fd);
    return fd;
  }
  function openLoop(bell = counter()): WaitingLoop {
    if (libc === null) throw new Error("no native code");
    const loop = new WaitingLoop(libc, bell);
    loops.push(loop);
    return loop;
  }

  it("calls back for what is ready, and for nothing that is no longer watched", () => {
    const loop = openLoop();
    const [first, second] = [counter(1), counter(1)];
    const told: string[] = [];
    loop.watch(first, EPOLLIN, () => {
      told.push("first");
      loop.unwatch(first);
      loop.unwatch(second);
    });
    loop.watch(second, EPOLLIN, () => {
      told.push("second");
      loop.unwatch(first);
      loop.unwatch(second);
    });
    // Both were ready at once, and the one that was told took the other out.
    loop.wait(0, 10);
    expect(told).toHaveLength(1);
  });

  it("does not take a descriptor that was opened anew for the one before it", () => {
    const loop = openLoop();
    const ready = [counter(1), counter(1)];
    const told: number[] = [];
    for (const fd of ready) {
      loop.watch(fd, EPOLLIN, () => {
        told.push(fd);
        const other = ready.find((one) => one !== fd) ?? -1;
        loop.unwatch(other);
        loop.watch(other, EPOLLIN, () => told.push(-1));
        loop.unwatch(fd);
      });
    }
    loop.wait(0, 1);
    expect(told).toHaveLength(1);
  });

  it("gives the thread back after so many wake-ups", () => {
    const loop = openLoop();
    let told = 0;
    loop.watch(counter(1), EPOLLIN, () => {
      told += 1;
    });
    loop.wait(LONG_MS, 3);
    expect(told).toBe(3);
  });

  it("ends its wait when another thread rings the bell, also before it waits", async () => {
    const bell = counter();
    const loop = openLoop(bell);
    ring(bell);
    loop.wait(LONG_MS, 100);
    const script = `require("node:fs").writeSync(${bell}, Buffer.from(${JSON.stringify([...ONE])}));`;
    const other = new Worker(script, { eval: true });
    const ended = once(other, "exit");
    await once(other, "online");
    loop.wait(LONG_MS, 100);
    await ended;
    // The bell is quiet again: this wait ends by what it watches.
    const fd = counter();
    writeSync(fd, ONE);
    let told = 0;
    loop.watch(fd, EPOLLIN, () => {
      told += 1;
    });
    loop.wait(LONG_MS, 1);
    expect(told).toBe(1);
  });
});
