import { once, setMaxListeners } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { setImmediate as turn } from "node:timers/promises";
import { Worker } from "node:worker_threads";
import { afterEach, beforeEach, expect, it } from "vitest";
import { describeWith } from "../test/prerequisites.ts";
import { openSystemPing, type SystemPing, type SystemPingService, startSystemPingService } from "./system-ping.ts";

const REQUEST = { ip: "127.0.0.1", family: 4, count: 1, spacingMs: 200, replyTimeoutMs: 1_000 } as const;
const NEVER = new AbortController().signal;

/** Children of this process that are `ping`, by /proc (proc(5)). */
function runningPings(): string[] {
  return readdirSync("/proc").filter((pid) => {
    if (!/^\d+$/.test(pid)) return false;
    try {
      const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
      const [, command, parent] = /^\d+ \((.*)\) \S (\d+) /.exec(stat) ?? [];
      return Number(parent) === process.pid && (command === "ping" || command === "setpriv");
    } catch {
      return false;
    }
  });
}

describeWith(["system ping"], "the system's ping", () => {
  let service: SystemPingService;
  let system: SystemPing;
  beforeEach(() => {
    service = startSystemPingService();
    system = openSystemPing();
  });
  afterEach(async () => {
    system.close();
    service.close();
    await expect.poll(runningPings).toEqual([]);
  });

  it("is there when the service runs, and not when it does not", async () => {
    expect(await system.isThere()).toBe(true);
    service.close();
    expect(await system.isThere()).toBe(false);
  });

  it("answers those who ask, each its own", async () => {
    const other = openSystemPing();
    const answers = await Promise.all([
      system.run(REQUEST, NEVER),
      other.run({ ...REQUEST, count: 2 }, NEVER),
      system.run({ ...REQUEST, ip: "::1", family: 6 }, NEVER),
    ]);
    expect(answers.map((answer) => answer.type === "ran" && answer.output.roundTripsMs.length)).toEqual([1, 2, 1]);
    other.close();
  });

  it("can be asked by another thread", async () => {
    const worker = new Worker(
      `const channel = new BroadcastChannel("sonde:system-ping");
       channel.onmessage = ({ data }) => { if (data.asker === "worker") { channel.close(); require("node:worker_threads").parentPort.postMessage(data); } };
       channel.postMessage({ to: "service", type: "ping", asker: "worker", id: 7, request: ${JSON.stringify(REQUEST)} });`,
      { eval: true },
    );
    const [answer] = await once(worker, "message");
    expect(answer).toMatchObject({ id: 7, answer: { type: "ran", output: { transmitted: 1 } } });
  });

  it("takes nothing but addresses", async () => {
    for (const ip of ["-f", "localhost", "127.0.0.1 -f", "::1", "127.0.0.1%lo", ""]) {
      expect(await system.run({ ...REQUEST, ip }, NEVER)).toEqual({ type: "failed", reason: "not an address" });
    }
    expect(await system.run({ ...REQUEST, ip: "255.255.255.255" }, NEVER)).toMatchObject({ type: "failed" });
    expect(await system.run({ ...REQUEST, count: 1e6 }, NEVER)).toMatchObject({ type: "failed" });
  });

  it("is killed when the check that asked ends", async () => {
    const controller = new AbortController();
    const running = system.run({ ...REQUEST, count: 100 }, controller.signal);
    await expect.poll(() => runningPings().length).toBe(1);
    controller.abort(new Error("over"));
    await expect(running).rejects.toThrow("over");
    await expect.poll(runningPings).toEqual([]);
  });

  it("runs a bounded number at once, and says that it is busy beyond a bounded queue", async () => {
    const controller = new AbortController();
    setMaxListeners(0, controller.signal);
    const busy: number[] = [];
    const asked = Array.from({ length: 600 }, (_, index) =>
      system.run({ ...REQUEST, count: 100 }, controller.signal).then(
        (answer) => answer.type === "busy" && busy.push(index),
        () => {},
      ),
    );
    await expect.poll(() => busy.length).toBe(600 - 32 - 512);
    expect(runningPings().length).toBeLessThanOrEqual(32);
    controller.abort();
    await Promise.all(asked);
    await turn();
  });
});
