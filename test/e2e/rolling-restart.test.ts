/**
 * An upgrade as growing.md says it: two APIs behind one address, two schedulers and two checkers are stopped (SIGTERM) and started again one
 * after the other, while clients ask, monitors are due and some of them go down and come back. No request fails, every due time has its one
 * result or was counted, and each turn is told once.
 */
import { Agent, request } from "node:http";
import { connect, createServer, type Server } from "node:net";
import { afterAll, expect, it } from "vitest";
import { listen } from "../../demo/loopback.ts";
import { openReceiver } from "../../scheduler/webhooks/receivers.suite.ts";
import { openControlPlane } from "../../store/sql/control-plane/open.ts";
import type { ControlPlane } from "../../store/sql/control-plane/port.ts";
import { freePort } from "../../testkit/free-port.ts";
import { temporaryFolder } from "../../testkit/temporary-folder.ts";
import { createMonitors, reckon } from "../faults/reckoning.ts";
import { trueRows } from "../faults/truth.ts";
import { type Installation, installation, type Role } from "../roles.ts";
import { isMissing, withServer } from "../servers/missing.ts";
import { startShared } from "../servers/shared.ts";
import { cleanUp, eventually, type RunningService } from "../service.ts";
import { startWebsite } from "../targets.ts";

const MONITORS = 40;
const INTERVAL_S = 2;
const SIZE = { monitors: MONITORS, intervalS: INTERVAL_S, timeoutS: 10 };
const SHARDS = 16;
const WITHIN_MS = 60_000;
const CLIENTS = 3;
/** Monitors that go down and come back meanwhile; fewer than are told of in one message. */
const FAILING = 6;

const shared = await startShared();
afterAll(async () => {
  await cleanUp();
  if (!isMissing(shared)) await shared.stop();
});

withServer("a rolling restart", shared, ({ stores }) => {
  it("refuses no request and loses no turn", { timeout: 5 * WITHIN_MS }, async () => {
    const at = await stores();
    const whole = installation(at);
    const apis = [await apiOf(whole), await apiOf(whole)];
    const key = apis[0]?.running().firstKey ?? "";
    const plane = await openControlPlane({ url: at.databaseUrl }, { role: "api" });
    const site = await startWebsite();
    const given = { projectId: 1, organizationId: 1 };
    const told = await startTelling(
      plane,
      given,
      apis.map(({ port }) => port),
      key,
    );
    const monitors = await createMonitors(plane, given, SIZE, (index) => `${site.url}${index}`);
    const schedulers = [await schedulerOf(whole), await schedulerOf(whole)];
    const checkers = [await checkerOf(whole), await checkerOf(whole)];
    const evenly = () =>
      eventually(async () => {
        const held = new Map<string | null, number>();
        for (const { holder } of (await plane.shards.view()).shards) held.set(holder, (held.get(holder) ?? 0) + 1);
        return held.size === 2 && [...held.values()].every((count) => count === SHARDS / 2) ? true : undefined;
      }, WITHIN_MS);
    await evenly();
    await eventually(async () => (site.requests() > 2 * MONITORS ? true : undefined), WITHIN_MS);

    const balancer = await startBalancer(() => apis.map((api) => api.port));
    const asked = askAll(balancer.port, key);
    const before = await skippedOf();
    const fromMs = Date.now();
    // Roles of different kinds at once: neither knows of the other.
    told.site.answer(500);
    for (const [which, api] of apis.entries()) await Promise.all([api.restart(), checkers[which]?.restart()]);
    for (const scheduler of schedulers) {
      await told.untilAll("is down");
      await told.acknowledgeFirst();
      told.site.answer(200);
      await scheduler.restart();
      await evenly();
    }
    await told.untilAll("works again");
    const last = site.requests();
    await eventually(async () => (site.requests() > last + 2 * MONITORS ? true : undefined), WITHIN_MS);
    const untilMs = Date.now() - 2 * INTERVAL_S * 1_000;
    const { all, failures } = await asked.end();
    balancer.close();
    const skipped = (await skippedOf()) - before;
    for (const role of [...checkers, ...schedulers, ...apis]) expect(await role.stop()).toBe(0);

    const rows = await trueRows(at.clickhouseUrl);
    const reckoning = reckon(monitors, rows, fromMs, untilMs, SHARDS);
    console.log(
      `rolling restart: ${all} requests, ${reckoning.due} due times, ${reckoning.missing} without a result, ${skipped} counted as skipped, at most ${reckoning.latestMs} ms late`,
    );
    expect([all > 100, failures]).toEqual([true, []]);
    expect(reckoning.doubled).toBe(0);
    expect(reckoning.missing).toBeLessThanOrEqual(skipped);
    const others = rows.filter(({ monitor_id: id }) => !told.ids.includes(Number(id)));
    expect(others.filter(({ status }) => status !== "healthy")).toEqual([]);
    expect(told.titles().toSorted()).toEqual(told.expected().toSorted());
    await plane.close();
    await site.close();
    await told.close();

    async function skippedOf(): Promise<number> {
      return (await plane.shards.view()).shards.reduce((sum, shard) => sum + shard.skipped, 0);
    }
  });
});

/** What a channel hears of monitors that fail, each of which is told of on its own. */
async function startTelling(
  plane: ControlPlane,
  owner: { readonly projectId: number; readonly organizationId: number },
  ports: readonly number[],
  key: string,
) {
  const receiver = await openReceiver((_received, response) => void response.end('{"id":"x"}'));
  const site = await startWebsite();
  const settings = { server: new URL(receiver.url).origin, topic: "sonde", priority: 3, priority_down: 5 };
  const channel = { projectId: owner.projectId, kind: "ntfy", name: "Phone", settings, secretNames: [], sealed: null };
  await plane.channels.create({ ...channel, active: true, nowMs: Date.now() }, 1);
  const size = { ...SIZE, monitors: FAILING };
  const ids = [...(await createMonitors(plane, owner, size, (index) => `${site.url}${index}`)).keys()];
  const ask = async (port: number | undefined, method: string, path: string, body?: object): Promise<unknown> => {
    const answer = await fetch(`http://127.0.0.1:${port}/api/v1${path}`, {
      method,
      headers: { "x-api-key": key, "x-project-id": "prj_1", "content-type": "application/json" },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    expect([path, answer.status]).toEqual([path, 200]);
    return answer.json();
  };
  // Written at one API, read at the other.
  const rules = [{ name: "Each alone", group_by: "monitor", wait_s: 0, interval_s: 1 }];
  expect(await ask(ports[0], "PUT", "/alert-rules", { version: 0, rules })).toEqual(
    await ask(ports[1], "GET", "/alert-rules"),
  );
  const titles = (): readonly string[] =>
    receiver.received.map(
      ({ body }) => /^monitor \d (?:is down|is acknowledged|works again)/.exec(titleOf(body))?.[0] ?? body,
    );
  let isAcknowledged = false;
  return {
    site,
    ids,
    titles,
    expected: () => [
      "monitor 0 is acknowledged",
      ...ids.flatMap((_, index) => [`monitor ${index} is down`, `monitor ${index} works again`]),
    ],
    untilAll: (words: string) =>
      eventually(
        async () => (titles().filter((title) => title.endsWith(words)).length >= FAILING ? true : undefined),
        WITHIN_MS,
      ),
    /** At the API at which the rules were not written. */
    async acknowledgeFirst() {
      if (isAcknowledged) return;
      isAcknowledged = true;
      const [incident] = await plane.incidents.list(owner.projectId, { monitorId: ids[0] ?? 0, limit: 1 });
      await ask(ports[1], "POST", `/incidents/inc_${incident?.id}/acknowledge`, {});
      await eventually(async () => (titles().includes("monitor 0 is acknowledged") ? true : undefined), WITHIN_MS);
    },
    async close() {
      await receiver.close();
      await site.close();
    },
  };
}

function titleOf(body: string): string {
  return String((JSON.parse(body) as { readonly title?: unknown }).title);
}

interface Restartable {
  /** SIGTERM, its end, and it runs again. */
  restart(): Promise<void>;
  stop(): Promise<number | null>;
}

async function restartable<Running extends Pick<Role, "stop">>(
  start: () => Promise<Running>,
): Promise<Restartable & { running(): Running }> {
  let running = await start();
  return {
    running: () => running,
    async restart() {
      expect(await running.stop()).toBe(0);
      running = await start();
    },
    stop: () => running.stop(),
  };
}

async function apiOf(whole: Installation): Promise<Restartable & { readonly port: number; running(): RunningService }> {
  const settings = { dataDir: `${temporaryFolder()}/data`, port: await freePort() };
  return { ...(await restartable(() => whole.startApi(settings))), port: settings.port };
}

function schedulerOf(whole: Installation): Promise<Restartable> {
  const dataDir = `${temporaryFolder()}/data`;
  return restartable(() => whole.startScheduler({ dataDir }));
}

function checkerOf(whole: Installation): Promise<Restartable> {
  const dataDir = `${temporaryFolder()}/data`;
  return restartable(() => whole.startChecker("any", { dataDir }));
}

/** Connections in turn; one that is refused goes to the next of them: what every proxy does. */
async function startBalancer(ports: () => readonly number[]): Promise<{ readonly port: number; close(): void }> {
  let turn = 0;
  const server: Server = createServer((client) => {
    client.on("error", () => {});
    const places = ports();
    turn += 1;
    const first = turn;
    const dial = (tried: number): void => {
      const backend = connect(places[(first + tried) % places.length] ?? 0, "127.0.0.1");
      const again = (): void => {
        if (tried + 1 < places.length) dial(tried + 1);
        else client.destroy();
      };
      backend.once("error", again);
      backend.once("connect", () => {
        backend.off("error", again).on("error", () => client.destroy());
        backend.on("close", () => client.end());
        client.on("close", () => backend.destroy());
        client.pipe(backend).pipe(client);
      });
    };
    dial(0);
  });
  const port = await listen(server);
  return {
    port,
    close: () => void server.close(),
  };
}

/** Clients that keep their connections, one request after the other, until they are told to end. */
function askAll(port: number, key: string) {
  const failures: string[] = [];
  let all = 0;
  let isEnding = false;
  const ask = (agent: Agent): Promise<void> =>
    new Promise((resolve) => {
      all += 1;
      const headers = { "x-api-key": key, "x-project-id": "prj_1" };
      const asking = request({ host: "127.0.0.1", port, path: "/api/v1/servers?limit=1", headers, agent }, (answer) => {
        if (answer.statusCode !== 200) failures.push(`answered ${answer.statusCode}`);
        answer.resume().on("close", resolve);
      });
      asking.on("error", (error) => {
        failures.push(String(error));
        resolve();
      });
      asking.end();
    });
  const clients = Array.from({ length: CLIENTS }, async () => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    while (!isEnding) {
      await ask(agent);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    agent.destroy();
  });
  return {
    async end() {
      isEnding = true;
      await Promise.all(clients);
      return { all, failures };
    },
  };
}
