/** A cut of our own network, in namespaces of the test's own: no healthy target is called down, the dead are found again afterwards. */
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startChecker, sum } from "./checker.ts";
import { describeWith } from "./prerequisites.ts";

const TARGETS = new URL("./fixtures/many-targets.mjs", import.meta.url);
const HEALTHY = 1_000;
const DEAD = 10;
/** Addresses that the healthy targets share: what the checker takes for hosts of their own. */
const ADDRESSES = 100;
const TIMEOUT_MS = 2_000;
const EVERY_MS = 1_000;

/** Namespaces outlive a killed test: their names carry its process. */
const OURS = `sonde-c${process.pid}`;
const THEIRS = `sonde-t${process.pid}`;

function ip(...args: string[]): void {
  execFileSync("ip", args, { stdio: ["ignore", "ignore", "pipe"] });
}

/** 10.77.0.1 is the checker; targets are 10.77.1.x, the dead 10.77.2.x, which nobody has. */
function buildNetwork(): void {
  for (const name of [OURS, THEIRS]) ip("netns", "add", name);
  ip("-n", OURS, "link", "add", "way", "type", "veth", "peer", "name", "way", "netns", THEIRS);
  for (const name of [OURS, THEIRS]) {
    ip("-n", name, "link", "set", "lo", "up");
    ip("-n", name, "link", "set", "way", "up");
  }
  ip("-n", OURS, "address", "add", "10.77.0.1/16", "dev", "way");
  for (let each = 1; each <= ADDRESSES; each++) ip("-n", THEIRS, "address", "add", `10.77.1.${each}/16`, "dev", "way");
}

describeWith(["network namespaces"], "a cut network with 1,000 healthy and 10 dead targets", () => {
  const close: (() => void)[] = [];
  beforeAll(buildNetwork);
  afterAll(() => {
    for (const each of close) each();
    for (const name of [OURS, THEIRS]) ip("netns", "del", name);
  });

  test.each([
    ["the other end goes: packets get lost", THEIRS],
    ["our own link goes: connecting fails at once", OURS],
  ])("%s", { timeout: 120_000 }, async (_name, end) => {
    const targets = spawn("ip", ["netns", "exec", THEIRS, process.execPath, fileURLToPath(TARGETS)], {
      stdio: ["pipe", "pipe", "inherit"],
    });
    close.push(() => targets.kill("SIGKILL"));
    const [port] = await once(targets.stdout, "data");
    const healthy = Array.from({ length: HEALTHY }, (_, index) => index + 1);
    const dead = Array.from({ length: DEAD }, (_, index) => HEALTHY + index + 1);
    const spec = (key: number, address: string) => ({
      key,
      kind: "http" as const,
      settings: { url: `http://${address}:${String(port).trim()}/${key}` },
      timeoutMs: TIMEOUT_MS,
    });
    const { until, close: stopChecker } = startChecker(
      {
        specs: [
          ...dead.map((key) => spec(key, `10.77.2.${key - HEALTHY}`)),
          ...healthy.map((key) => spec(key, `10.77.1.${(key % ADDRESSES) + 1}`)),
        ],
        everyMs: EVERY_MS,
        allowNets: ["10.77.0.0/16"],
      },
      ["ip", "netns", "exec", OURS],
    );
    close.push(stopChecker);
    const before = await until(
      (report) =>
        healthy.every((key) => (report.counts[key]?.ok ?? 0) > 1) && Object.keys(sum(report, dead)).length > 0,
    );
    expect(Object.keys(sum(before, healthy))).toEqual(["ok"]);

    ip("-n", end, "link", "set", "way", "down");
    const during = await until((report) => healthy.every((key) => (report.counts[key]?.unfit ?? 0) > 1));
    expect(during.isCut).toBe(true);
    ip("-n", end, "link", "set", "way", "up");

    const after = await until(
      (report) =>
        !report.isCut &&
        healthy.every((key) => (report.counts[key]?.ok ?? 0) > (during.counts[key]?.ok ?? 0) + 1) &&
        dead.every((key) => downs(report.counts[key]) > downs(during.counts[key]) + 1),
    );
    expect(Object.keys(sum(after, healthy)).toSorted()).toEqual(["ok", "unfit"]);
    stopChecker();
    targets.kill("SIGKILL");
  });
});

function downs(verdicts: Readonly<Record<string, number>> = {}): number {
  return (verdicts.timeout ?? 0) + (verdicts.unreachable ?? 0);
}
