/** Syncs on a real control plane, at providers that answer what the test says. */
import { hash } from "node:crypto";
import { join } from "node:path";
import { pino } from "pino";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { UUID } from "../../engine/protocols/config.suite.ts";
import { entriesOf } from "../../engine/subscription/body.ts";
import { listServers } from "../../engine/subscription/list.ts";
import { type KnownAnswer, type ProviderAnswer, ProviderError } from "../../engine/subscription/provider.ts";
import { PLANS } from "../../model/plan.ts";
import { openControlPlane } from "../../store/sql/control-plane/open.ts";
import type { ControlPlane } from "../../store/sql/control-plane/port.ts";
import { SYNC_LEASE } from "../../store/sql/subscriptions/syncs-port.ts";
import { temporaryFolder } from "../../testkit/temporary-folder.ts";
import { LeaseKeeper } from "../lease.ts";
import { listedOf } from "./listed.ts";
import { RestingLists } from "./resting-lists.ts";
import { type Lists, Syncer, type SyncerOptions } from "./syncer.ts";

const link = (host: string, name = "n"): string => `vless://${UUID}@${host}.test-site.org:443?security=tls#${name}`;
const breathe = async (): Promise<void> => {};

async function listAnswer(body: string, etag: string | null = null): Promise<ProviderAnswer> {
  return { kind: "list", list: await listServers(entriesOf(body), breathe), known: { agent: "a", etag } };
}

describe("syncs at work", () => {
  let folder: string;
  let plane: ControlPlane;
  let ids: { readonly projectId: number; readonly organizationId: number };
  let nowMs = 1_000_000;
  const syncers: Syncer[] = [];
  let lastUrl = 0;

  beforeEach(async () => {
    folder = temporaryFolder();
    plane = await openControlPlane({ file: join(folder, "control.sqlite") }, { role: "sink" });
    ids = await plane.accounts.createFirst({
      email: "a@test-site.org",
      userName: "A",
      workspaceName: "W",
      plan: "business",
      projectName: "P",
      nowMs,
    });
  });
  afterEach(async () => {
    for (const syncer of syncers.splice(0)) await syncer.stop();
    await plane.close();
  });

  async function subscribe(projectId = ids.projectId): Promise<number> {
    const url = `url ${++lastUrl}`;
    const { organizationId } = ids;
    const values = {
      name: null,
      syncIntervalS: 300,
      timeoutS: 30,
      maxWorkers: 50,
      configAlertPercent: 50,
      enabled: true,
      nowMs,
    };
    return (await plane.subscriptions.create({ projectId, organizationId, urlSealed: url, urlHash: url, ...values }))
      .id;
  }

  function start(
    ask: Lists["ask"],
    over: Partial<SyncerOptions> = {},
  ): Syncer & { until(isTrue: () => boolean): Promise<void> } {
    const waiting = new Set<() => void>();
    const lease = new LeaseKeeper({
      leases: plane.leases,
      name: SYNC_LEASE,
      holder: "this test",
      isSoleOwner: true,
      monotonicNowMs: () => nowMs,
    });
    const syncer = new Syncer({
      controlPlane: plane,
      lease,
      plans: PLANS,
      lists: {
        openUrl: (_id, sealed) => sealed,
        ask,
        listed: (list) => listedOf(list, { key: "key", seal: (_identity, fields) => `sealed ${fields}`, breathe }),
      },
      clocks: { wallNowMs: () => nowMs, monotonicNowMs: () => nowMs },
      network: { isCut: () => false },
      log: pino({ level: "silent" }),
      events: {
        onMonitors() {},
        onEnded() {
          for (const look of waiting) look();
        },
        onReading() {},
      },
      resting: new RestingLists(),
      ...over,
    });
    syncers.push(syncer);
    const until = (isTrue: () => boolean): Promise<void> =>
      new Promise((resolve) => {
        const look = (): void => {
          if (!isTrue()) return;
          waiting.delete(look);
          resolve();
        };
        waiting.add(look);
        look();
      });
    return Object.assign(syncer, { until });
  }
  const statusOf = async (id: number) => (await plane.subscriptions.recall(id))?.lastSyncStatus;

  it("asks, reads and writes, and makes configs that are sealed and known by a keyed hash", async () => {
    const id = await subscribe();
    const syncer = start((url) => {
      expect(url).toBe(`url ${lastUrl}`);
      return listAnswer(`${link("a", "Berlin%0a%1b[31m")}\n${link("b")}`);
    });
    await syncer.turn();
    await syncer.until(() => syncer.inFlight === 0);
    expect(await statusOf(id)).toBe("success");
    const { changed } = await plane.monitors.changedSince(-1);
    expect(changed.map(({ monitor }) => monitor.name)).toEqual(["Berlin [31m", "n"]);
    expect(changed[0]?.monitor.configs?.[0]?.sealed).toMatch(/^sealed \{"url":"vless:/);
    expect(syncer.counts).toMatchObject({ success: 1 });
  });

  it("asks one at a time of a subscription, four of a project, twelve of a workspace, sixteen of all", async () => {
    const projects = [ids.projectId];
    for (let more = 0; more < 5; more++) {
      const made = await plane.accounts.createProject(ids.organizationId, `P${more}`, nowMs);
      projects.push(made?.id ?? 0);
    }
    const other = await plane.accounts.createWorkspace({
      name: "Other",
      plan: "business",
      projectName: "P",
      owner: { email: "b@test-site.org", name: "B" },
      nowMs,
    });
    projects.push(other?.projectId ?? 0);
    for (const project of projects) for (let count = 0; count < 6; count++) await subscribe(project);
    const asked: string[] = [];
    let answer: () => void = () => {};
    const answered = new Promise<void>((resolve) => {
      answer = resolve;
    });
    const syncer = start(async (url) => {
      asked.push(url);
      await answered;
      return listAnswer(link(url.replace(" ", "")));
    });
    for (let turn = 0; turn < 3; turn++) await syncer.turn();
    expect(syncer.inFlight).toBe(16);
    await vi.waitFor(() => expect(asked).toHaveLength(16));
    expect(new Set(asked).size).toBe(asked.length);
    const perProject = asked.map((url) => Math.floor((Number(url.slice(4)) - 1) / 6));
    expect(perProject.filter((project) => project < 6)).toHaveLength(12);
    for (const project of new Set(perProject))
      expect(perProject.filter((one) => one === project).length).toBeLessThanOrEqual(4);
    answer();
    await syncer.until(() => syncer.inFlight === 0);
    for (let turn = 0; turn < 9; turn++) {
      await syncer.turn();
      await syncer.until(() => syncer.inFlight === 0);
    }
    expect(syncer.counts.success).toBe(42);
    expect(asked).toHaveLength(42);
  });

  it("is a failure of the subscription when its provider fails, and no failure when we fail: that is tried again", async () => {
    const [provider, ours] = [await subscribe(), await subscribe()];
    let isBroken = true;
    const syncer = start(async (url) => {
      if (url === `url ${lastUrl}` && isBroken) throw new Error("the disk is full");
      if (url !== `url ${lastUrl}`) throw new ProviderError("The list is empty.");
      return listAnswer(link("a"));
    });
    await syncer.turn();
    await syncer.until(() => syncer.inFlight === 0);
    expect(await statusOf(provider)).toBe("failed");
    expect(await statusOf(ours)).toBe("pending");
    isBroken = false;
    await syncer.turn();
    expect(syncer.inFlight).toBe(0);
    nowMs += 5_000;
    await syncer.turn();
    await syncer.until(() => syncer.inFlight === 0);
    expect(await statusOf(ours)).toBe("success");
  });

  it("asks no provider while our own network is cut, and counts no silence against a provider", async () => {
    const id = await subscribe();
    let isCut = false;
    let asked = 0;
    const syncer = start(
      async () => {
        asked++;
        isCut = true;
        throw new ProviderError("The provider did not answer within 30 s.", false);
      },
      { network: { isCut: () => isCut } },
    );
    await syncer.turn();
    await syncer.until(() => syncer.inFlight === 0);
    expect([asked, await statusOf(id)]).toEqual([1, "pending"]);
    nowMs += 60_000;
    await syncer.turn();
    expect([asked, syncer.inFlight]).toEqual([1, 0]);
    isCut = false;
    await syncer.turn();
    await syncer.until(() => syncer.inFlight === 0);
    expect(asked).toBe(2);
    expect(await plane.subscriptions.recall(id)).toMatchObject({ lastSyncStatus: "pending", failures: 0 });
  });

  it("remembers what a provider last said, but for a list that was refused or left servers out", async () => {
    const id = await subscribe();
    const known: (KnownAnswer | null)[] = [];
    let body = Array.from({ length: 10 }, (_, at) => link(`s${at}`)).join("\n");
    const syncer = start(async (_url, before) => {
      known.push(before);
      return before?.etag === String(body.length) ? { kind: "unchanged" } : listAnswer(body, String(body.length));
    });
    const again = async (): Promise<string | undefined> => {
      await plane.subscriptions.requestSync(ids.projectId, id, nowMs);
      await syncer.turn();
      await syncer.until(() => syncer.inFlight === 0);
      return statusOf(id);
    };
    expect([await again(), await again()]).toEqual(["success", "success"]);
    expect(known.map((one) => one !== null)).toEqual([false, true]);
    expect(syncer.counts).toMatchObject({ success: 1, unchanged: 1 });
    body = link("few");
    expect([await again(), await again(), await again()]).toEqual(["failed", "failed", "success"]);
    expect(known.slice(2).map((one) => one !== null)).toEqual([true, false, false]);
  });

  it("asks for no list that rests, says until when, and reads it once it has rested or has another address", async () => {
    const id = await subscribe();
    const resting = new RestingLists();
    const addressHash = hash("sha256", `url ${lastUrl}`);
    resting.add({ workspaceId: ids.organizationId, subscriptionId: id, addressHash }, "2 s of computing", nowMs);
    let asked = 0;
    const syncer = start(
      () => {
        asked++;
        return listAnswer(link("a"));
      },
      { resting },
    );
    const again = async (): Promise<void> => {
      await plane.subscriptions.requestSync(ids.projectId, id, nowMs);
      await syncer.turn();
      await syncer.until(() => syncer.inFlight === 0);
    };
    await again();
    expect(await plane.subscriptions.recall(id)).toMatchObject({
      lastSyncStatus: "failed",
      syncErrorMessage: `The list took more than 2 s of computing to read and is not read again before ${new Date(nowMs + 3_600_000).toISOString()}.`,
    });
    expect(asked).toBe(0);
    nowMs += 3_600_000;
    await again();
    expect([await statusOf(id), asked]).toEqual(["success", 1]);
  });

  it("leaves what a stop cut off for the next start", async () => {
    const id = await subscribe();
    let isAsked: () => void = () => {};
    const asked = new Promise<void>((resolve) => {
      isAsked = resolve;
    });
    const syncer = start(
      (_url, _known, _inTurn, signal) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener("abort", () => reject(new ProviderError("cut off.")));
          isAsked();
        }),
    );
    await syncer.turn();
    await asked;
    await syncer.stop();
    expect(await statusOf(id)).toBe("pending");
    expect(await plane.jobs.openSyncs(9)).toHaveLength(1);
  });

  it("reads one list at a time", async () => {
    for (let count = 0; count < 4; count++) await subscribe();
    let reading = 0;
    let most = 0;
    const syncer = start((url, _known, inTurn) =>
      inTurn(async () => {
        most = Math.max(most, ++reading);
        await new Promise((resolve) => setImmediate(resolve));
        reading--;
        return listAnswer(link(url.replace(" ", "")));
      }),
    );
    await syncer.turn();
    await syncer.until(() => syncer.inFlight === 0);
    expect([most, syncer.counts.success]).toEqual([1, 4]);
  });
});
