/** A frozen checker (SIGSTOP) calls no healthy target down, and finds the dead ones again afterwards. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { createServer, type Server, type Socket } from "node:net";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { afterEach, expect, test } from "vitest";

const CHECKER = new URL("./fixtures/frozen-checker.mjs", import.meta.url);
const HEALTHY = 1_000;
const DEAD = 10;
const TIMEOUT_MS = 2_000;
const FROZEN_MS = 5_000;
const EVERY_MS = 1_000;

interface Report {
  readonly probers: number;
  /** Spec keys. */
  readonly inFlight: readonly number[];
  /** By spec key, then by verdict. */
  readonly counts: Readonly<Record<string, Readonly<Record<string, number>>>>;
}

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

function startChecker(specs: readonly object[]) {
  const child: ChildProcess = spawn(
    process.execPath,
    [fileURLToPath(CHECKER), JSON.stringify({ specs, everyMs: EVERY_MS })],
    { stdio: ["pipe", "pipe", "inherit"] },
  );
  open.push(() => child.kill("SIGKILL"));
  let latest: Report = { probers: 0, inFlight: [], counts: {} };
  let look = () => {};
  if (child.stdout === null) throw new Error("the checker has no stdout");
  createInterface(child.stdout).on("line", (line) => {
    latest = JSON.parse(line);
    look();
  });
  const until = (holds: (report: Report) => boolean) =>
    new Promise<Report>((resolve) => {
      look = () => {
        if (holds(latest)) resolve(latest);
      };
      look();
    });
  return { child, until };
}

function sum(report: Report, keys: readonly number[]): Record<string, number> {
  const total: Record<string, number> = {};
  for (const key of keys) {
    for (const [verdict, count] of Object.entries(report.counts[key] ?? {}))
      total[verdict] = (total[verdict] ?? 0) + count;
  }
  return total;
}

test("frozen for 5 s with 1,000 healthy and 10 dead targets", { timeout: 90_000 }, async () => {
  expect(existsSync(new URL("../dist/engine/pool.js", import.meta.url)), "run `npm run build` first").toBe(true);
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
  const healthy = Array.from({ length: HEALTHY }, (_, index) => index + 1);
  const dead = Array.from({ length: DEAD }, (_, index) => HEALTHY + index + 1);
  const spec = (key: number, port: number) => ({
    key,
    kind: "http",
    settings: { url: `http://127.0.0.1:${port}/` },
    timeoutMs: TIMEOUT_MS,
  });
  const { child, until } = startChecker([
    ...dead.map((key) => spec(key, deadPort)),
    ...healthy.map((key) => spec(key, healthyPort)),
  ]);
  const before = await until(
    (report) => (sum(report, healthy).ok ?? 0) >= 2 * HEALTHY && (sum(report, dead).timeout ?? 0) >= DEAD,
  );
  expect(Object.keys(sum(before, healthy))).toEqual(["ok"]);
  expect(Object.keys(sum(before, dead))).toEqual(["timeout"]);

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
  const verdicts = sum(after, healthy);
  expect(Object.keys(verdicts).filter((verdict) => verdict !== "ok" && verdict !== "unfit")).toEqual([]);
  // The dead were in flight, too: their silence during the freeze was not held against them.
  expect(sum(after, dead).unfit ?? 0).toBeGreaterThan(0);
  expect(after.probers).toBe(1);
});
