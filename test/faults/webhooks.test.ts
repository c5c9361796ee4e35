/** Webhooks and channels when things go wrong: the service killed at random, hundreds of receivers that hang. */
import { createServer } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, expect, it } from "vitest";
import { listen } from "../../demo/loopback.ts";
import { openReceiver, type Received } from "../../scheduler/webhooks/receivers.suite.ts";
import { SEALED_CELLS } from "../../store/sealed-cells.ts";
import { openCheckedSealing } from "../../store/sealing/sealing.ts";
import { openControlPlane } from "../../store/sql/control-plane/open.ts";
import type { ControlPlane } from "../../store/sql/control-plane/port.ts";
import { newWebhookSecret } from "../../store/webhook-secret.ts";
import { freePort } from "../../testkit/free-port.ts";
import { createMonitor, type Product, startProduct } from "../product.ts";
import { cleanUp, eventually } from "../service.ts";
import { startWebsite } from "../targets.ts";

afterAll(cleanUp);

const ROUNDS = 5;
const SHORTEST_MS = 300;
const LONGEST_MS = 2_000;
const WITHIN_MS = 240_000;
const HANGING = 200;
const SITES = 40;
/** Results of each site that are counted before and beside the hanging receivers. */
const RESULTS = 10;

/** The control plane beside the service, as `sonde admin` opens it, with what makes webhooks on it. */
async function beside({ dataDir }: Product): Promise<{ plane: ControlPlane; hook(url: string): Promise<number> }> {
  const plane = await openControlPlane({ file: join(dataDir, "control.sqlite") }, { role: "api" });
  const keyFile = join(dataDir, "sealing.key");
  const sealing = await openCheckedSealing(plane.meta, { keyFile, createIfMissing: false });
  return {
    plane,
    async hook(url) {
      const secretSealed = (id: number): string => sealing.seal(SEALED_CELLS.webhook(id), newWebhookSecret());
      const made = await plane.webhooks.create({ projectId: 1, url, events: null, secretSealed, nowMs: Date.now() });
      return made?.id ?? 0;
    },
  };
}

/** Ends with the client's error when the service dies. */
async function unlessGone(work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
  }
}

interface Body {
  readonly type: string;
  readonly data: { readonly monitor: { readonly tags: readonly string[] } };
}

/** Which answered change a message is about: each change gives the monitor a tag of its own. */
function changeOf({ body }: Received): string {
  const { type, data } = JSON.parse(body) as Body;
  return `${type} ${data.monitor.tags[0]}`;
}

it(`${ROUNDS} deaths of the service lose no event, and none changes its id`, { timeout: WITHIN_MS }, async () => {
  const seen = new Map<string, number>();
  // Every third event is refused at first, so that retries go over deaths.
  const receiver = await openReceiver(({ headers }, response) => {
    const id = headers["webhook-id"] ?? "";
    seen.set(id, (seen.get(id) ?? 0) + 1);
    response.writeHead(seen.size % 3 === 0 && seen.get(id) === 1 ? 500 : 200).end();
  });
  let product = await startProduct();
  const { dataDir, port } = product;
  const { plane, hook } = await beside(product);
  await hook(receiver.url);
  await plane.close();
  const monitor = await createMonitor(product.api, { type: "push", name: "Job", period: 60, tags: ["t0"] });
  const answered: string[] = [];
  let count = 0;
  for (let round = 0; round < ROUNDS; round += 1) {
    const { api } = product;
    const changing = unlessGone(async () => {
      for (let active = false; ; active = !active) {
        count += 1;
        const { status } = await api.put(`/servers/${monitor}`, { active, tags: [`t${count}`] });
        if (status === 200) answered.push(`monitor.${active ? "resumed" : "paused"} t${count}`);
        await sleep(10);
      }
    });
    await sleep(SHORTEST_MS + Math.random() * (LONGEST_MS - SHORTEST_MS));
    await product.kill();
    await changing;
    product = await startProduct({ dataDir, port });
    // Whether the last change was written is not known: from here on it is.
    await product.api.put(`/servers/${monitor}`, { active: true });
  }
  const missing = () => {
    const arrived = new Set(receiver.received.map(changeOf));
    return answered.filter((change) => !arrived.has(change));
  };
  await eventually(async () => (missing().length === 0 ? true : undefined), 60_000).catch(() => {});
  expect(missing()).toEqual([]);
  const idsOf = new Map<string, Set<string>>();
  const changesOf = new Map<string, Set<string>>();
  for (const message of receiver.received) {
    const [change, id] = [changeOf(message), message.headers["webhook-id"] ?? ""];
    idsOf.set(change, (idsOf.get(change) ?? new Set()).add(id));
    changesOf.set(id, (changesOf.get(id) ?? new Set()).add(message.body));
  }
  for (const ids of idsOf.values()) expect(ids.size).toBe(1);
  for (const bodies of changesOf.values()) expect(bodies.size).toBe(1);
  expect(await product.stop()).toBe(0);
  await receiver.close();
  console.info(
    `${ROUNDS} deaths of the service: ${answered.length} events, ${receiver.received.length} requests for ${idsOf.size} ids`,
  );
});

it(`${HANGING} hanging receivers delay no check and no other receiver`, { timeout: WITHIN_MS }, async () => {
  const site = await startWebsite();
  const black = createServer((socket) => socket.on("error", () => {}).resume());
  const blackPort = await listen(black);
  const receiver = await openReceiver();
  const product = await startProduct();
  const { plane, hook } = await beside(product);
  const ids: string[] = [];
  for (let index = 0; index < SITES; index += 1) {
    const body = { type: "http", name: `Site ${index}`, url: `${site.url}${index}`, interval: 1, timeout: 10 };
    ids.push(await createMonitor(product.api, body));
  }
  const alone = await countLate(product, site.requests, SITES * RESULTS);
  const hooks: number[] = [];
  for (let index = 0; index < HANGING; index += 1) hooks.push(await hook(`http://127.0.0.1:${blackPort}/${index}`));
  const good = await hook(receiver.url);
  const phone = await openReceiver((_received, response) => void response.end('{"id":"x"}'));
  const channel = async (name: string, server: string): Promise<number> => {
    const settings = { server, topic: "sonde", priority: 3, priority_down: 5 };
    const input = { projectId: 1, kind: "ntfy", name, settings, secretNames: [], sealed: null, active: true };
    const made = await plane.channels.create({ ...input, nowMs: Date.now() }, HANGING + 1);
    return typeof made === "object" ? made.id : 0;
  };
  const silent: number[] = [];
  for (let index = 0; index < HANGING; index += 1)
    silent.push(await channel(`Hangs ${index}`, `http://127.0.0.1:${blackPort}`));
  const last = await channel("Phone", new URL(phone.url).origin);
  for (const id of [...hooks, ...hooks, ...hooks]) await plane.webhooks.test(id, Date.now());
  const begun = site.requests();
  // All channels are told of it, and all but one say nothing.
  await createMonitor(product.api, {
    type: "port",
    name: "Gone",
    host: "127.0.0.1",
    port: await freePort(),
    interval: 1,
  });
  const burdened = await countLate(product, site.requests, SITES * RESULTS);
  for (let count = 0; count < 20; count += 1) await plane.webhooks.test(good, Date.now());
  await receiver.waitFor(20);
  await phone.waitFor(1);
  expect(phone.received[0]?.body).toContain("Gone is down");
  // It waited for none of the others: each of them has its message, and no attempt of it has ended in the time that one takes.
  const told = await Promise.all(silent.map((id) => plane.alerts.ofChannel(id, 3)));
  expect(told.filter((messages) => messages.length > 0)).toHaveLength(HANGING);
  const first = await eventually(async () => (await plane.alerts.ofChannel(last, 3))[0]?.attempts[0], WITHIN_MS);
  const ended = told.flat().flatMap(({ attempts }) => attempts.map(({ atMs, durationMs }) => atMs + durationMs));
  for (const endedAtMs of ended) expect(first.atMs).toBeLessThan(endedAtMs);
  expect(site.requests() - begun).toBeGreaterThanOrEqual(SITES * RESULTS);
  // As many are late or skipped as without them, but for what a shared machine does.
  const tolerated = (SITES * RESULTS) / 10;
  expect(burdened.late).toBeLessThanOrEqual(alone.late + tolerated);
  expect(burdened.skipped).toBeLessThanOrEqual(alone.skipped + tolerated);
  const hanging = await Promise.all(hooks.map((id) => plane.webhooks.deliveries(id, 3)));
  expect(hanging.flat().some(({ state }) => state === "delivered")).toBe(false);
  await plane.close();
  expect(await product.stop()).toBe(0);
  await Promise.all([site.close(), receiver.close(), phone.close(), new Promise((resolve) => black.close(resolve))]);
  expect(ids).toHaveLength(SITES);
});

/** Waits for so many requests at the target, and counts what the metrics say of them. */
async function countLate(product: Product, requests: () => number, count: number) {
  const before = await metrics(product);
  const from = requests();
  await eventually(async () => (requests() - from >= count ? true : undefined), WITHIN_MS);
  const after = await metrics(product);
  return { late: after.late - before.late, skipped: after.skipped - before.skipped };
}

/** Checks that began more than 100 ms after they were due, and turns that were skipped. */
async function metrics({ url }: Product): Promise<{ late: number; skipped: number }> {
  const text = await (await fetch(`${url}/metrics`)).text();
  const value = (name: string): number => {
    const line = text.split("\n").find((one) => one.startsWith(`${name} `));
    if (line === undefined) throw new Error(`there is no metric ${name}`);
    return Number(line.slice(name.length));
  };
  const punctual = value('sonde_check_lateness_seconds_bucket{le="0.1"}');
  return { late: value("sonde_check_lateness_seconds_count") - punctual, skipped: value("sonde_turns_skipped_total") };
}
