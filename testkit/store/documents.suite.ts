/** Documents: one apply is one transaction, and what is no longer as it was undoes all of it. */
import { expect, it } from "vitest";
import { DEFAULT_RULE } from "../../model/alerting-rule.ts";
import { NEW_PAGE } from "../../model/status-page.ts";
import type { ApplyOrder, Documents, Orders } from "../../store/sql/documents/port.ts";
import { StaleOrderError, seenThing } from "../../store/sql/documents/port.ts";
import { SlotsFullError } from "../../store/sql/monitors/port.ts";
import { allThings } from "./all-things.ts";
import { ADA, EVERYTHING, type GroundTests } from "./ground.suite.ts";
import { NOW_MS, newMonitor } from "./new-monitor.suite.ts";

const NO_LIST = { version: 0, items: null, made: new Map<number, never>(), managed: [], removed: [] } as const;
const NOTHING: Orders<never, never> = { create: [], change: [], remove: [] };

export const documentsTests: GroundTests = (currentGround) => {
  const order = async (more: Partial<ApplyOrder>): Promise<ApplyOrder> => {
    const { plane, projectId, organizationId } = currentGround();
    const seen = (await allThings(plane.documents, projectId)).map(
      (one) => [`${one.kind} ${one.key}`, seenThing(one)] as const,
    );
    return {
      ...{ projectId, organizationId, name: "production", hash: "h", nowMs: NOW_MS, actor: ADA, slots: null },
      ...{ monitors: NOTHING, subscriptions: NOTHING, channels: NOTHING, quietHours: NO_LIST, rules: NO_LIST },
      ...{ maintenance: NOTHING, pages: NOTHING, release: [], seen: new Map(seen) },
      ...more,
    };
  };
  const made = (keys: readonly string[]): Orders<ReturnType<typeof newMonitor>, never> => ({
    ...NOTHING,
    create: keys.map((key) => ({
      key,
      input: { ...newMonitor(currentGround()), name: key, sealed: (id: number) => `sealed ${id}` },
      marks: { name: key },
    })),
  });
  const all = async (documents: Documents) => {
    const found = [];
    for await (const some of documents.monitors(currentGround().projectId)) found.push(...some);
    return found;
  };

  it("documents: what names monitors and channels is made in the same transaction, and goes after what names it", async () => {
    const { plane, projectId } = currentGround();
    const marks = {};
    const quiet = {
      name: "Nights",
      timezone: "UTC",
      spans: [],
      mode: "hold",
      letThrough: { severity: [], tags: [] },
    } as const;
    const rule = {
      ...DEFAULT_RULE,
      ...{ id: null, name: "All", channels: [-1], quietHoursId: -1, escalation: [{ afterS: 60, channels: [-1] }] },
      match: { events: null, severity: null, select: { ids: [-2], not: { ids: [-1] } } },
    };
    const input = { projectId, kind: "ntfy", name: "Phone", settings: {}, secretNames: [], sealed: null, active: true };
    const schedule = { type: "once", startsAtMs: NOW_MS, endsAtMs: NOW_MS + 1 } as const;
    const draft = { title: "Once", text: "", selector: { ids: [-1] }, schedule, timezone: "UTC" };
    const days = { startsOn: null, endsOn: null, announce: false, overAtMs: NOW_MS + 1 };
    const component = { servers: { ids: [-2] }, title: null, text: "", merge: "each" } as const;
    const groups = [{ title: "All", open: "always", components: [component] }] as const;
    const page = { ...NEW_PAGE, slug: "of-documents", title: "All", groups };
    const whole = {
      monitors: made(["named-a", "named-b"]),
      channels: { ...NOTHING, create: [{ key: "phone", marks, input: { ...input, nowMs: NOW_MS } }] },
      quietHours: { ...NO_LIST, items: [{ ...quiet, id: null }], made: new Map([[0, { key: "nights", marks }]]) },
      rules: { ...NO_LIST, items: [rule], made: new Map([[0, { key: "All", marks }]]) },
      maintenance: { ...NOTHING, create: [{ key: "once", marks, input: { ...draft, ...days } }] },
      pages: {
        ...NOTHING,
        create: [
          {
            key: "page",
            marks,
            input: { page, badgeName: "badge-of-document", accessSealed: (id: number) => `sealed ${id}` },
          },
        ],
      },
    };
    await plane.documents.apply(await order(whole));
    const things = await allThings(plane.documents, projectId);
    const idOf = (kind: string, key: string): number => {
      const found = things.find((thing) => thing.kind === kind && thing.key === key && thing.isThere);
      if (found === undefined) throw new Error(`there is no ${kind} ${key}`);
      return found.thingId;
    };
    const [a, b] = [idOf("monitor", "named-a"), idOf("monitor", "named-b")];
    const [channel, hours] = [idOf("channel", "phone"), idOf("quiet_hours", "nights")];
    const rules = await plane.alerts.rules(projectId);
    expect(rules.items).toMatchObject([
      {
        id: idOf("alert_rule", "All"),
        channels: [channel],
        quietHoursId: hours,
        escalation: [{ channels: [channel] }],
      },
    ]);
    expect(rules.items[0]?.match.select).toEqual({ ids: [b], not: { ids: [a] } });
    expect(await plane.schedules.list(projectId)).toMatchObject([
      { id: idOf("maintenance", "once"), selector: { ids: [a] } },
    ]);
    const shown = await plane.statusPages.find(projectId, idOf("status_page", "page"));
    expect(shown).toMatchObject({
      accessSealed: `sealed ${shown?.id}`,
      groups: [{ components: [{ servers: { ids: [b] } }] }],
    });

    // Another writer was here: the list is another one now, and nothing of the order is written.
    const late = { channels: { ...NOTHING, remove: [{ id: channel, version: 0 }] }, rules: { ...NO_LIST, items: [] } };
    await expect(plane.documents.apply(await order(late))).rejects.toThrow(StaleOrderError);
    expect(await plane.channels.list(projectId)).toHaveLength(1);
    const gone = {
      channels: { ...NOTHING, remove: [{ id: channel, version: 0 }] },
      quietHours: { ...NO_LIST, version: 1, removed: [hours] },
      rules: { ...NO_LIST, version: rules.version, items: [] },
      maintenance: { ...NOTHING, remove: [{ id: idOf("maintenance", "once"), version: 0 }] },
      pages: { ...NOTHING, remove: [{ id: idOf("status_page", "page"), version: 0 }] },
    };
    await plane.documents.apply(await order(gone));
    expect((await plane.alerts.quietHours(projectId)).items).toEqual([]);
    const left = (await allThings(plane.documents, projectId)).filter(({ isThere }) => isThere);
    expect(left.map(({ key }) => key).sort()).toEqual(["named-a", "named-b"]);
  });

  it("documents: monitors are made with live states, history and secrets sealed to their ids, changed, and removed", async () => {
    const { plane, projectId } = currentGround();
    const keys = Array.from({ length: 1_203 }, (_, index) => `k${index}`);
    await plane.documents.apply(await order({ monitors: made(keys) }));
    const { rows, total } = await plane.monitors.list(projectId, EVERYTHING);
    expect([rows.length, total]).toEqual([1_000, 1_203]);
    const monitors = await all(plane.documents);
    expect(new Set(monitors.map(({ monitor }) => monitor.id)).size).toBe(1_203);
    const things = await allThings(plane.documents, projectId);
    const [first, second] = monitors;
    if (first === undefined || second === undefined) throw new Error("there are none");
    const { id, name } = first.monitor;
    expect(things.find(({ thingId }) => thingId === id)).toMatchObject({
      kind: "monitor",
      key: name,
      isThere: true,
      marks: { name },
    });
    expect((await plane.documents.sealedOf([id])).get(id)).toBe(`sealed ${id}`);
    expect((await plane.history.list(id, 9, 0)).rows).toMatchObject([{ type: "created", actor: ADA }]);

    const change = {
      id,
      version: first.generation,
      change: { intervalS: 77, addPauseReason: "user" as const },
      managed: { key: name, marks: {} },
    };
    const remove = { id: second.monitor.id, version: second.generation };
    await plane.documents.apply(await order({ monitors: { create: [], change: [change], remove: [remove] } }));
    expect((await plane.monitors.find(projectId, id))?.monitor).toMatchObject({
      intervalS: 77,
      pauseReasons: ["user"],
      name,
    });
    expect((await plane.documents.sealedOf([id])).get(id)).toBe(`sealed ${id}`);
    expect((await plane.history.list(id, 9, 0)).rows.map(({ type }) => type)).toEqual(["paused", "updated", "created"]);
    expect(await plane.monitors.find(projectId, second.monitor.id)).toBeUndefined();
    const gone = (await allThings(plane.documents, projectId)).find(({ key }) => key === second.monitor.name);
    expect(gone?.isThere).toBe(false);
    expect(await plane.documents.list(projectId)).toMatchObject([{ name: "production", hash: "h", appliedBy: ADA }]);
  });

  it("documents: what has changed since the order was made undoes all of it", async () => {
    const { plane, projectId } = currentGround();
    await plane.documents.apply(await order({ monitors: made(["a"]) }));
    const [a] = await all(plane.documents);
    if (a === undefined) throw new Error("there is none");
    await plane.monitors.update(projectId, a.monitor.id, NOW_MS, ADA, () => ({ intervalS: 61 }));
    const change = { id: a.monitor.id, version: a.generation, change: { intervalS: 62 }, managed: null };
    const stale = await order({ monitors: { ...made(["b"]), change: [change] } });
    await expect(plane.documents.apply(stale)).rejects.toBeInstanceOf(StaleOrderError);
    expect(await all(plane.documents)).toHaveLength(1);
    const early = await order({ monitors: made(["b"]) });
    await plane.documents.apply(early);
    await expect(plane.documents.apply(early)).rejects.toBeInstanceOf(StaleOrderError);
    await expect(plane.documents.apply({ ...early, name: "other" })).rejects.toBeInstanceOf(StaleOrderError);
    expect(await all(plane.documents)).toHaveLength(2);
  });

  it("documents: of two at once one is done, and tunnels need slots", async () => {
    const { plane, projectId } = currentGround();
    const both = await order({ monitors: made(["a", "b"]) });
    const ended = await Promise.allSettled([plane.documents.apply(both), plane.documents.apply(both)]);
    expect(ended.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
    const [one] = made(["t"]).create;
    if (one === undefined) throw new Error("there is none");
    const tunnel = { ...one, input: { ...one.input, kind: "wireguard" as const } };
    const order2 = await order({ slots: 1, monitors: { ...NOTHING, create: [tunnel, { ...tunnel, key: "u" }] } });
    await expect(plane.documents.apply(order2)).rejects.toBeInstanceOf(SlotsFullError);
    await plane.documents.apply({ ...order2, monitors: { ...NOTHING, create: [tunnel] } });
    await plane.documents.apply(await order({ release: [{ kind: "monitor", key: "a" }] }));
    const things = await allThings(plane.documents, projectId);
    expect(things.map(({ key, documentId }) => [key, documentId !== null]).sort()).toEqual([
      ["a", false],
      ["b", true],
      ["t", true],
    ]);
  });

  it("documents: subscriptions are made, changed and removed with it", async () => {
    const { plane, projectId, organizationId } = currentGround();
    const input = {
      ...{
        projectId,
        organizationId,
        name: "p",
        urlSealed: (id: number) => `url ${id}`,
        urlHash: "1",
        syncIntervalS: 300,
      },
      ...{ timeoutS: 30, maxWorkers: 50, configAlertPercent: 50, enabled: true, nowMs: NOW_MS },
    };
    const subscriptions = { ...NOTHING, create: [{ key: "p", input, marks: {} }] };
    await plane.documents.apply(await order({ subscriptions }));
    const [found] = (await plane.subscriptions.list(projectId, 9, 0)).rows;
    if (found === undefined) throw new Error("there is none");
    const version = found.updatedAtMs;
    const change = { id: found.id, version, change: { maxWorkers: 7 }, managed: { key: "p", marks: {} } };
    await plane.documents.apply(await order({ nowMs: NOW_MS + 1, subscriptions: { ...NOTHING, change: [change] } }));
    expect(await plane.subscriptions.find(projectId, found.id)).toMatchObject({ maxWorkers: 7 });
    const remove = { id: found.id, version };
    const stale = await order({ subscriptions: { ...NOTHING, remove: [remove] } });
    await expect(plane.documents.apply(stale)).rejects.toBeInstanceOf(StaleOrderError);
    await plane.documents.apply(
      await order({ subscriptions: { ...NOTHING, remove: [{ ...remove, version: NOW_MS + 1 }] } }),
    );
    expect(await plane.subscriptions.find(projectId, found.id)).toBeUndefined();
  });
};
