/**
 * The whole service in a network namespace of the test's own, its targets on the other side of one cable: cut, no
 * healthy target is called down; the dead are found again afterwards.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { connect, createServer, type Server } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, it } from "vitest";
import { freePort } from "../../testkit/free-port.ts";
import { temporaryFolder } from "../../testkit/temporary-folder.ts";
import { clientOf, type TestClient } from "../client.ts";
import { ip, removeNamespace, sweepNamespaces } from "../namespaces.ts";
import { describeWith } from "../prerequisites.ts";
import { type Product, startProduct } from "../product.ts";
import { cleanUp, eventually } from "../service.ts";
import {
  createMany,
  everDown,
  everInIncident,
  INTERVAL_S,
  TIMEOUT_S,
  untilDown,
  verdictsOf,
  type Watch,
  watchResults,
} from "./many-monitors.ts";

const TARGETS = fileURLToPath(new URL("../fixtures/many-targets.mjs", import.meta.url));
const RELAY = fileURLToPath(new URL("../fixtures/relay.mjs", import.meta.url));
const HEALTHY = 1_000;
const DEAD = 10;
/** Addresses that the healthy targets share: to the service, hosts that have nothing to do with each other. */
const ADDRESSES = 100;
/** Two intervals, a silent target's timeout, and what a batch, a row and a busy machine add. */
const FOUND_WITHIN_MS = (2 * INTERVAL_S + TIMEOUT_S) * 1_000 + 15_000;

/** Namespaces outlive a killed test: their names carry its process, and the next test removes them. */
const PREFIX = "sonde-cut-";
const OURS = `${PREFIX}ours-${process.pid}`;
const THEIRS = `${PREFIX}theirs-${process.pid}`;

/** 10.78.0.1 is the service; targets are 10.78.1.x; no machine has 10.78.2.x. */
function buildNetwork(): void {
  sweepNamespaces(PREFIX);
  for (const name of [OURS, THEIRS]) ip("netns", "add", name);
  ip("-n", OURS, "link", "add", "way", "type", "veth", "peer", "name", "way", "netns", THEIRS);
  for (const name of [OURS, THEIRS]) {
    ip("-n", name, "link", "set", "lo", "up");
    ip("-n", name, "link", "set", "way", "up");
  }
  ip("-n", OURS, "address", "add", "10.78.0.1/16", "dev", "way");
  for (let each = 1; each <= ADDRESSES; each++) ip("-n", THEIRS, "address", "add", `10.78.1.${each}/16`, "dev", "way");
}

describeWith(
  ["network namespaces"],
  `the service with its network cut, ${HEALTHY} healthy and ${DEAD} dead targets`,
  () => {
    const children: ChildProcess[] = [];
    let outside: Server | undefined;
    let product: Product;
    let api: TestClient;
    let watch: Watch | undefined;
    let healthy: readonly string[];
    let dead: readonly string[];

    /** Resolves with the first thing it says. */
    async function within(namespace: string, ...words: string[]): Promise<string> {
      const args = ["netns", "exec", namespace, process.execPath, ...words];
      const child = spawn("ip", args, { stdio: ["pipe", "pipe", "inherit"] });
      children.push(child);
      const [said] = await once(child.stdout, "data");
      return String(said).trim();
    }

    /** The API as seen from here: loopback of the namespace is not ours. @returns its address */
    async function reach(port: number): Promise<string> {
      const path = join(temporaryFolder(), "api.sock");
      await within(OURS, RELAY, path, String(port));
      outside = createServer((socket) => {
        const inner = connect(path);
        inner.on("error", () => socket.destroy());
        socket.on("error", () => inner.destroy());
        socket.pipe(inner).pipe(socket);
      });
      const outsidePort = await freePort();
      outside.listen(outsidePort, "127.0.0.1");
      await once(outside, "listening");
      return `http://127.0.0.1:${outsidePort}`;
    }

    beforeAll(async () => {
      buildNetwork();
      const port = await within(THEIRS, TARGETS);
      product = await startProduct({
        command: ["ip", "netns", "exec", OURS, process.execPath],
        env: { SONDE_ALLOW_NETS: "10.78.0.0/16" },
      });
      api = clientOf(await reach(product.port), product.key);
      const url = (address: string, i: number) => `http://${address}:${port}/${i}`;
      dead = await createMany(
        api,
        Array.from({ length: DEAD }, (_, i) => url(`10.78.2.${i + 1}`, i)),
      );
      healthy = await createMany(
        api,
        Array.from({ length: HEALTHY }, (_, i) => url(`10.78.1.${(i % ADDRESSES) + 1}`, i)),
      );
      watch = watchResults(api);
      await untilDown(api, dead, HEALTHY + DEAD, 60_000);
    });
    afterAll(async () => {
      await watch?.stop();
      outside?.close();
      await cleanUp();
      for (const child of children) child.kill("SIGKILL");
      for (const name of [OURS, THEIRS]) removeNamespace(name);
    });

    it.each([
      ["at the other end for 20 s: packets get lost", THEIRS, 20_000],
      ["at our own link for 10 s: connecting fails at once", OURS, 10_000],
    ])("%s", { timeout: 150_000 }, async (name, end, cutMs) => {
      const unfitBefore = watch?.verdicts(healthy).unfit ?? 0;
      ip("-n", end, "link", "set", "way", "down");
      // The length of the cut is the case itself.
      await sleep(cutMs);
      ip("-n", end, "link", "set", "way", "up");
      await untilDown(api, dead, HEALTHY + DEAD, FOUND_WITHIN_MS);
      const blamed = new Set([...(await everDown(api)), ...(await everInIncident(api))]);
      expect([...blamed].filter((id) => !dead.includes(id))).toEqual([]);
      expect(watch?.count(healthy, "down")).toBe(0);
      await eventually(async () => ((watch?.verdicts(healthy).unfit ?? 0) > unfitBefore ? true : undefined));
      console.info(`cut ${name}: no result of ${HEALTHY} healthy targets down, verdicts`, {
        healthy: watch?.verdicts(healthy),
        dead: await verdictsOf(api, dead),
      });
    });
  },
);
