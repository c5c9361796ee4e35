/** A checker that is frozen (SIGSTOP) or starved calls no healthy target down, and finds the dead ones all the same. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer, type Server, type Socket } from "node:net";
import { afterEach, expect, test } from "vitest";
import { type CheckerReport, startChecker, sum } from "./checker.ts";

const HEALTHY = 1_000;
const DEAD = 10;
const TIMEOUT_MS = 2_000;
const FROZEN_MS = 5_000;
const EVERY_MS = 1_000;

const open: (() => void)[] = [];
afterEach(() => {
  for (const close of open.splice(0)) close();
});

/** @returns its port */
async function listen(onSocket: (socket: Socket) => void): Promise<number> {
  const sockets = new Set<Socket>();
  const server: Server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => {}).on("close", () => sockets.delete(socket));
    onSocket(socket);
  });
  server.listen({ port: 0, host: "127.0.0.1", backlog: 2_048 });
  await once(server, "listening");
  open.push(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  const address = server.address();
  return typeof address === "object" && address !== null ? address.port : 0;
}

const healthy = Array.from({ length: HEALTHY }, (_, index) => index + 1);
const dead = Array.from({ length: DEAD }, (_, index) => HEALTHY + index + 1);

/** A checker with its targets in this process, which stays awake. */
async function start() {
  // Answers after 0.1 to 0.9 s, so that a freeze meets checks in flight whose answers arrive while nobody reads.
  let asked = 0;
  const healthyPort = await listen((socket) => {
    socket.once("data", () =>
      setTimeout(
        () => socket.end("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok"),
        100 + (asked++ % 9) * 100,
      ),
    );
  });
  const deadPort = await listen(() => {});
  const spec = (key: number, port: number) => ({
    key,
    kind: "http" as const,
    settings: { url: `http://127.0.0.1:${port}/` },
    timeoutMs: TIMEOUT_MS,
  });
  const checker = startChecker({
    specs: [...dead.map((key) => spec(key, deadPort)), ...healthy.map((key) => spec(key, healthyPort))],
    everyMs: EVERY_MS,
    allowNets: ["127.0.0.0/8"],
  });
  open.push(checker.close);
  await checker.until(
    (report) => (sum(report, healthy).ok ?? 0) >= 2 * HEALTHY && (sum(report, dead).timeout ?? 0) >= DEAD,
  );
  return checker;
}

function calledDown(report: CheckerReport): string[] {
  return Object.keys(sum(report, healthy)).filter((verdict) => verdict !== "ok" && verdict !== "unfit");
}

test("frozen for 5 s with 1,000 healthy and 10 dead targets", { timeout: 120_000 }, async () => {
  const { child, until } = await start();
  // In the middle of a round: the dead have begun, because they come first in it, and some of the healthy are waited for.
  await until(({ inFlight }) => !dead.some((key) => inFlight.includes(key)));
  const begun = await until(
    ({ inFlight }) => dead.every((key) => inFlight.includes(key)) && inFlight.length > 200 && inFlight.length < 900,
  );
  child.kill("SIGSTOP");
  await new Promise((resolve) => setTimeout(resolve, FROZEN_MS));
  child.kill("SIGCONT");

  const timeoutsBefore = sum(begun, dead).timeout ?? 0;
  const after = await until(
    (report) =>
      (sum(report, healthy).ok ?? 0) >= 5 * HEALTHY && (sum(report, dead).timeout ?? 0) >= timeoutsBefore + 2 * DEAD,
  );
  expect(calledDown(after)).toEqual([]);
  // The dead were in flight, too: their silence during the freeze was not held against them.
  expect(sum(after, dead).unfit ?? 0).toBeGreaterThan(0);
  expect(after.probers).toBe(1);
});

test("with two busy loops beside it", { timeout: 120_000 }, async () => {
  const { until } = await start();
  for (let each = 0; each < 2; each++) {
    const loop = spawn(process.execPath, ["-e", "for (;;);"], { stdio: "ignore" });
    open.push(() => loop.kill("SIGKILL"));
  }
  const after = await until(
    (report) => (sum(report, healthy).ok ?? 0) >= 6 * HEALTHY && (sum(report, dead).timeout ?? 0) >= 3 * DEAD,
  );
  expect(calledDown(after)).toEqual([]);
});
