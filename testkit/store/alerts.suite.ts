/** Alerts: from the event in its transaction, over groups, to messages and their attempts. */
import { describe, expect, it } from "vitest";
import { DEFAULT_RULE, type RuleSettings } from "../../model/alerting-rule.ts";
import type { QuietHours } from "../../model/quiet-hours.ts";
import type { BegunNotification, EndedNotification } from "../../store/sql/alerts/port.ts";
import { LeaseLost, SENDER_LEASE } from "../../store/sql/coordination/leases-port.ts";
import {
  ADA,
  batch,
  EVERYTHING,
  type Ground,
  importServers,
  listedServer,
  make,
  NOW_MS,
  opening,
} from "./ground.suite.ts";

const S = 1_000;
/** After as many pieces the next death comes at the first one again. */
const MOST_STEPS = 12;
const { id: _, ...DEFAULTS } = DEFAULT_RULE;

async function breathe(): Promise<void> {}

function ruleOf(more: Partial<RuleSettings> = {}): RuleSettings & { readonly id: null } {
  return { ...DEFAULTS, id: null, name: "Rule", waitS: 0, ...more };
}

/** A sender's turns, without its timer. */
class Turns {
  readonly ground: Ground;
  #epoch = 0;
  #seq = 0;

  constructor(ground: Ground) {
    this.ground = ground;
  }

  async hold(): Promise<number> {
    const { leases } = this.ground.plane;
    this.#epoch = (await leases.take(SENDER_LEASE, "test", await leases.read(SENDER_LEASE))) ?? 0;
    return this.#epoch;
  }

  async channel(name = "Phone", kind = "ntfy"): Promise<number> {
    const { plane, projectId } = this.ground;
    const input = { projectId, kind, name, settings: {}, secretNames: [], sealed: null, active: true };
    const made = await plane.channels.create({ ...input, nowMs: NOW_MS }, 100);
    if (made === undefined || typeof made === "string") throw new Error("no channel");
    return made.id;
  }

  async down(ids: readonly number[], atMs = NOW_MS): Promise<void> {
    this.#seq += 1;
    await this.ground.plane.sink.apply(batch(this.#seq, { incidents: ids.map((id) => opening(id, atMs)) }));
  }

  async up(ids: readonly number[], atMs: number): Promise<void> {
    this.#seq += 1;
    const incidents = ids.map((monitorId) => ({ type: "close" as const, monitorId, atMs }));
    await this.ground.plane.sink.apply(batch(this.#seq, { incidents }));
  }

  /** Decides as often as it takes, and dies after one step more each time, with what was written until then. */
  async speakDying(nowMs: number): Promise<void> {
    const { outgoing, alertTurns } = this.ground.plane;
    while ((await outgoing.fanOut(this.#epoch, { limit: 100, nowMs })) > 0);
    const kinds = [false, true];
    for (const folds of kinds) {
      let most = 0;
      for (let count = 1; count > 0; ) {
        most = (most % MOST_STEPS) + 1;
        let left = most;
        const dying = async (): Promise<void> => {
          left -= 1;
          if (left === 0) throw new Error("a death");
        };
        count = await alertTurns
          .speak(this.#epoch, { nowMs, limit: 100, folds, breathe: dying })
          .catch((error: Error) => (error.message === "a death" ? 1 : Promise.reject(error)));
      }
    }
  }

  /** @returns the messages whose attempts begin */
  async turn(nowMs: number): Promise<readonly BegunNotification[]> {
    const { outgoing, alertTurns } = this.ground.plane;
    while ((await outgoing.fanOut(this.#epoch, { limit: 100, nowMs })) > 0);
    for (const folds of [false, true])
      while ((await alertTurns.speak(this.#epoch, { nowMs, limit: 100, folds, breathe })) > 0);
    const due = await Promise.all(
      [false, true].map((failing) =>
        alertTurns.due({ nowMs, failing, perChannel: 100, limit: 1_000, except: [], underWay: [] }),
      ),
    );
    const ids = due.flat().map(({ id }) => id);
    return alertTurns.begin(this.#epoch, ids, { nowMs, breathe });
  }

  async end(begun: readonly BegunNotification[], atMs: number, more: Partial<EndedNotification> = {}) {
    const ended = begun.map(({ id, channel }) => ({
      ...{ id, channelId: channel.id, delivered: true, permanent: false, retryAfterMs: null },
      reference: more.delivered === false ? null : `ref ${id}`,
      ...{ shown: "Title", random: 0.5, atMs, statusCode: 200, error: null, durationMs: 2.5 },
      ...more,
    }));
    return this.ground.plane.alertTurns.record(this.#epoch, ended);
  }

  /** A turn whose attempts all arrive. */
  async said(nowMs: number): Promise<readonly string[]> {
    const begun = await this.turn(nowMs);
    await this.end(begun, nowMs);
    return begun.map(({ reason, members }) => `${reason} ${members.filter(({ isTold }) => isTold).length}`);
  }
}

/** Monitors of a subscription of their own. */
async function imported({ plane, projectId, organizationId }: Ground, count: number): Promise<readonly number[]> {
  const name = `of ${count}`;
  const subscription = await plane.subscriptions.create({
    ...{ projectId, organizationId, name, urlSealed: name, urlHash: name, syncIntervalS: 300, timeoutS: 20 },
    ...{ maxWorkers: 50, configAlertPercent: 50, enabled: true, nowMs: NOW_MS },
  });
  const servers = Array.from({ length: count }, (_, index) =>
    listedServer(`${count}-${index}`, null, [`${count} ${index}`]),
  );
  await importServers(plane, subscription, servers);
  const all = await plane.monitors.list(projectId, { ...EVERYTHING, limit: 10_000 });
  return all.rows.filter(({ monitor }) => monitor.subscriptionId === subscription.id).map(({ monitor }) => monitor.id);
}

export function alertTests(currentGround: () => Ground): void {
  const start = async (): Promise<Turns> => {
    const turns = new Turns(currentGround());
    await turns.hold();
    return turns;
  };

  describe("alerts", () => {
    it("make of what fails together on one host one message, and of its end another", async () => {
      const turns = await start();
      const { plane, projectId } = turns.ground;
      await turns.channel();
      const ids = [await make(turns.ground, { host: "de7" }), await make(turns.ground, { name: "b", host: "de7" })];
      expect(await plane.alertTurns.nextAtMs()).toBeNull();
      await turns.down(ids);
      expect(await turns.turn(NOW_MS)).toEqual([]);
      expect(await plane.alertTurns.nextAtMs()).toBe(NOW_MS + 2 * S);
      const [begun] = await turns.turn(NOW_MS + 2 * S);
      expect(begun).toMatchObject({ reason: "opened", previous: null, isFold: false });
      expect(begun?.members).toMatchObject([
        { firing: true, isTold: true, isNew: true, host: "de7", why: "connection refused", severity: "critical" },
        { firing: true, monitorId: ids[1] },
      ]);
      await turns.end(begun === undefined ? [] : [begun], NOW_MS + 2 * S);
      await turns.up(ids, NOW_MS + 10 * S);
      expect(await turns.turn(NOW_MS + 61 * S)).toEqual([]);
      const [over] = await turns.turn(NOW_MS + 62 * S);
      expect(over).toMatchObject({ reason: "recovered", previous: `ref ${begun?.id}` });
      expect(over?.groupKey).toBe(begun?.groupKey);
      // Another database has a group and a message of the same ids, and did not make them in the same millisecond.
      expect(begun?.groupKey).toContain(NOW_MS.toString(36));
      expect(begun?.messageKey).toBe(`sonde-${begun?.id}-${(NOW_MS + 2 * S).toString(36)}`);
      expect(over?.messageKey).not.toBe(begun?.messageKey);
      await turns.end(over === undefined ? [] : [over], NOW_MS + 62 * S);
      expect(await turns.turn(NOW_MS + 100_000 * S)).toEqual([]);
      const incidents = await plane.incidents.list(projectId, { monitorId: ids[0] ?? 0, limit: 1 });
      const incidentId = incidents[0]?.id ?? 0;
      const events = await plane.incidents.events(incidentId, 100, 0);
      const sent = events.rows.filter(({ type }) => type === "alert_sent").map(({ message }) => message);
      expect(sent).toEqual(["Alert sent by ntfy (Phone)", "Alert sent by ntfy (Phone)"]);
      const alerts = await plane.alerts.ofIncident(incidentId, 10);
      expect(
        alerts.map(({ reason, state, channel, attempts }) => [reason, state, channel.name, attempts.length]),
      ).toEqual([
        ["recovered", "delivered", "Phone", 1],
        ["opened", "delivered", "Phone", 1],
      ]);
    });

    it("say nothing of what is over before it is due, and no end where no beginning was heard", async () => {
      const turns = await start();
      const channelId = await turns.channel();
      const id = await make(turns.ground);
      await turns.down([id]);
      await turns.turn(NOW_MS);
      await turns.up([id], NOW_MS + S);
      expect(await turns.turn(NOW_MS + 100 * S)).toEqual([]);
      // Over before the service answered: what it refused for good is not followed by an end.
      await turns.down([id], NOW_MS + 200 * S);
      await turns.turn(NOW_MS + 200 * S);
      const begun = await turns.turn(NOW_MS + 202 * S);
      const refused = { delivered: false, statusCode: 500, error: "HTTP 500" };
      await turns.end(begun, NOW_MS + 202 * S, refused);
      await turns.up([id], NOW_MS + 203 * S);
      expect(await turns.turn(NOW_MS + 300 * S)).toEqual([]);
      const states = (await turns.ground.plane.alerts.ofChannel(channelId, 10)).map(({ state }) => state);
      expect(states).toEqual(["overtaken", "overtaken"]);
    });

    it("fold a storm into one message, and its end into one", async () => {
      const turns = await start();
      await turns.channel();
      const ids: number[] = [];
      for (let i = 0; i < 25; i += 1) ids.push(await make(turns.ground, { name: `m${i}`, host: `h${i}` }));
      await turns.down(ids);
      await turns.turn(NOW_MS);
      expect(await turns.said(NOW_MS + 2 * S)).toEqual(["opened 25"]);
      const late = await make(turns.ground, { name: "late", host: "late" });
      await turns.down([late], NOW_MS + 3 * S);
      await turns.turn(NOW_MS + 3 * S);
      expect(await turns.said(NOW_MS + 10 * S)).toEqual([]);
      expect(await turns.said(NOW_MS + 62 * S)).toEqual(["opened 26"]);
      await turns.up(ids, NOW_MS + 70 * S);
      expect(await turns.said(NOW_MS + 500 * S)).toEqual([]);
      await turns.up([late], NOW_MS + 501 * S);
      expect(await turns.said(NOW_MS + 600 * S)).toEqual(["recovered 26"]);
    });

    it("fold a storm that comes bit by bit, beside the ten that were told alone", async () => {
      const turns = await start();
      await turns.channel();
      const ids: number[] = [];
      for (let i = 0; i < 30; i += 1) ids.push(await make(turns.ground, { name: `m${i}`, host: `h${i}` }));
      const said: string[] = [];
      for (const [i, id] of ids.entries()) {
        await turns.down([id], NOW_MS + i * 1.5 * S);
        await turns.turn(NOW_MS + i * 1.5 * S);
        said.push(...(await turns.said(NOW_MS + (i * 1.5 + 1) * S)));
      }
      for (const atS of [50, 200]) said.push(...(await turns.said(NOW_MS + atS * S)));
      expect(said).toEqual([...Array(10).fill("opened 1"), "opened 1", "opened 20"]);
      await turns.up(ids, NOW_MS + 300 * S);
      await turns.turn(NOW_MS + 300 * S);
      const ends = await turns.said(NOW_MS + 400 * S);
      expect(ends.toSorted()).toEqual([...Array(10).fill("recovered 1"), "recovered 20"]);
    });

    it("tell slow failures one by one", async () => {
      const turns = await start();
      await turns.channel();
      const said: string[] = [];
      for (let i = 0; i < 15; i += 1) {
        const id = await make(turns.ground, { name: `m${i}`, host: `h${i}` });
        await turns.down([id], NOW_MS + i * 7 * S);
        await turns.turn(NOW_MS + i * 7 * S);
        said.push(...(await turns.said(NOW_MS + (i * 7 + 3) * S)));
      }
      expect(said).toEqual(Array(15).fill("opened 1"));
    });

    it("tell of thousands in pieces, once, though the sender dies between any two of them", async () => {
      const turns = await start();
      const { plane, projectId } = turns.ground;
      await turns.channel();
      await plane.alerts.writeRules(projectId, 0, [ruleOf({ groupBy: "subscription" })], NOW_MS);
      const large = await imported(turns.ground, 520);
      await turns.down(large);
      await turns.speakDying(NOW_MS);
      expect(await turns.said(NOW_MS)).toEqual(["opened 520"]);
      // More groups than are told one by one, one of them large.
      const others = [...(await imported(turns.ground, 505))];
      for (let i = 0; i < 20; i += 1) others.push(await make(turns.ground, { name: `m${i}` }));
      await turns.down(others, NOW_MS + S);
      await turns.speakDying(NOW_MS + 2 * S);
      expect(await turns.said(NOW_MS + 2 * S)).toEqual(["opened 525"]);
      await turns.up([...large, ...others], NOW_MS + 70 * S);
      await turns.speakDying(NOW_MS + 80 * S);
      expect((await turns.said(NOW_MS + 80 * S)).toSorted()).toEqual(["recovered 520", "recovered 525"]);
      expect(await turns.said(NOW_MS + 10_000 * S)).toEqual([]);
    });

    it("follow the rules of the project, first ones first; removed rules end what they began", async () => {
      const turns = await start();
      const { plane, projectId } = turns.ground;
      const [phone, mail] = [await turns.channel(), await turns.channel("Mail")];
      const prod = { events: null, select: { tags: ["pager"] }, severity: null };
      const rules = [
        ruleOf({ name: "prod", match: prod, channels: [phone] }),
        ruleOf({ name: "rest", channels: [mail] }),
      ];
      const written = await plane.alerts.writeRules(projectId, 0, rules, NOW_MS);
      if (typeof written === "string") throw new Error(written);
      expect(written).toMatchObject({ version: 1, items: [{ name: "prod" }, { name: "rest" }] });
      expect(await plane.alerts.rules(projectId)).toEqual(written);
      expect(await plane.alerts.writeRules(projectId, 0, rules, NOW_MS)).toBe("moved");
      expect(await plane.alerts.writeRules(projectId, 1, [{ ...ruleOf(), id: 99 }], NOW_MS)).toBe("unknown");
      const [a, b] = [
        await make(turns.ground, { tags: ["pager"], host: "a" }),
        await make(turns.ground, { name: "b" }),
      ];
      await turns.down([a, b]);
      const begun = await turns.turn(NOW_MS);
      expect(begun.map(({ channel, members }) => [channel.id, members[0]?.monitorId])).toEqual([
        [phone, a],
        [mail, b],
      ]);
      await turns.end(begun, NOW_MS);
      const kept = written.items.slice(1);
      const shorter = await plane.alerts.writeRules(projectId, 1, kept, NOW_MS);
      expect(shorter).toMatchObject({ version: 2, items: [{ id: kept[0]?.id, name: "rest" }] });
      await turns.up([a, b], NOW_MS + S);
      const over = await turns.turn(NOW_MS + 60 * S);
      expect(over.map(({ channel, reason }) => [channel.id, reason])).toEqual([
        [phone, "recovered"],
        [mail, "recovered"],
      ]);
    });

    it("stay silent in quiet hours that a rule names, and tell at their end", async () => {
      const turns = await start();
      const { plane, projectId } = turns.ground;
      await turns.channel();
      const always = [{ days: [1, 2, 3, 4, 5, 6, 7], from: "00:00", to: "00:00" }];
      const letThrough = { severity: ["warning" as const], tags: [] };
      const night: Omit<QuietHours, "id"> = { name: "Night", timezone: "UTC", spans: always, mode: "hold", letThrough };
      const quiet = await plane.alerts.writeQuietHours(projectId, 0, [{ ...night, id: null }]);
      if (typeof quiet === "string") throw new Error(quiet);
      const quietHoursId = quiet.items[0]?.id ?? 0;
      expect(quiet).toEqual({ version: 1, items: [{ ...night, id: quietHoursId }] });
      await plane.alerts.writeRules(projectId, 0, [ruleOf({ quietHoursId })], NOW_MS);
      expect(await plane.alerts.writeQuietHours(projectId, 1, [])).toBe("used");
      const id = await make(turns.ground);
      await turns.down([id]);
      expect(await turns.turn(NOW_MS)).toEqual([]);
      await plane.alerts.writeQuietHours(projectId, 1, [{ ...night, spans: [], id: quietHoursId }]);
      expect(await turns.said(NOW_MS + 9 * 24 * 3_600 * S)).toEqual(["digest 1"]);
    });

    it("are looked at again when rules, quiet hours or maintenance change", async () => {
      const turns = await start();
      const { plane, projectId } = turns.ground;
      const [phone, boss] = [await turns.channel(), await turns.channel("Boss")];
      const always = [{ days: [1, 2, 3, 4, 5, 6, 7], from: "00:00", to: "00:00" }];
      const night = { name: "Night", timezone: "UTC", mode: "hold" as const, letThrough: { severity: [], tags: [] } };
      const quiet = await plane.alerts.writeQuietHours(projectId, 0, [{ ...night, spans: always, id: null }]);
      const quietHoursId = typeof quiet === "string" ? 0 : (quiet.items[0]?.id ?? 0);
      const rule = ruleOf({ channels: [phone], quietHoursId });
      const written = await plane.alerts.writeRules(projectId, 0, [rule], NOW_MS);
      const ruleId = typeof written === "string" ? 0 : (written.items[0]?.id ?? 0);
      const epoch = await turns.hold();
      const lookedAt = async (afterS: number): Promise<readonly string[]> => {
        await plane.alertTurns.tidy(epoch, NOW_MS + afterS * S);
        return turns.said(NOW_MS + afterS * S);
      };
      const id = await make(turns.ground);
      await turns.down([id]);
      expect(await lookedAt(0)).toEqual([]);
      await plane.alerts.writeQuietHours(projectId, 1, [{ ...night, spans: [], id: quietHoursId }]);
      expect(await lookedAt(60)).toEqual(["digest 1"]);
      const escalation = [{ afterS: 100, channels: [boss] }];
      await plane.alerts.writeRules(projectId, 1, [{ ...rule, id: ruleId, escalation }], NOW_MS);
      expect(await lookedAt(120)).toEqual([]);
      const [window] = (await plane.maintenance.create([id], { fromMs: NOW_MS, untilMs: NOW_MS + 9_000 * S }, 1)) ?? [];
      expect(await lookedAt(180)).toEqual([]);
      await plane.maintenance.end(window?.id ?? 0, NOW_MS + 200 * S);
      expect(await lookedAt(240)).toEqual(["opened 1"]);
      expect(await lookedAt(300)).toEqual([]);
    });

    it("name no quiet hours that another writer removes at that moment", async () => {
      const { plane, projectId } = currentGround();
      const night = { name: "Night", timezone: "UTC", mode: "hold" as const, letThrough: { severity: [], tags: [] } };
      for (let round = 0; round < 10; round++) {
        const [quiet, rules] = [await plane.alerts.quietHours(projectId), await plane.alerts.rules(projectId)];
        const [cleared, version] = [await plane.alerts.writeRules(projectId, rules.version, [], NOW_MS), quiet.version];
        const made = await plane.alerts.writeQuietHours(projectId, version, [{ ...night, spans: [], id: null }]);
        if (typeof made === "string" || typeof cleared === "string") throw new Error("not written");
        const quietHoursId = made.items[0]?.id ?? 0;
        const writes = [
          () => plane.alerts.writeRules(projectId, cleared.version, [ruleOf({ quietHoursId })], NOW_MS),
          () => plane.alerts.writeQuietHours(projectId, made.version, []),
        ];
        const outcomes = await Promise.all((round % 2 === 0 ? writes : writes.toReversed()).map((write) => write()));
        expect(["moved", "used"]).toContain(outcomes.find((outcome) => typeof outcome === "string"));
        expect(outcomes.filter((outcome) => typeof outcome !== "string")).toHaveLength(1);
      }
    });

    it("keep what waits for one channel when another group speaks to it at the same moment", async () => {
      const turns = await start();
      const { plane, projectId } = turns.ground;
      const [phone, boss] = [await turns.channel(), await turns.channel("Boss")];
      const escalation = [{ afterS: 60, channels: [boss] }];
      await plane.alerts.writeRules(projectId, 0, [ruleOf({ channels: [phone], escalation })], NOW_MS);
      const [a, b] = [await make(turns.ground, { host: "a" }), await make(turns.ground, { name: "b", host: "b" })];
      await turns.down([a]);
      const first = await turns.turn(NOW_MS);
      await turns.end(first, NOW_MS, { delivered: false, statusCode: 503, error: "HTTP 503" });
      await turns.down([b], NOW_MS + 60 * S);
      const begun = await turns.turn(NOW_MS + 60 * S);
      const told = begun.map(({ channel, members }) => [channel.id, members[0]?.monitorId]);
      expect(told.toSorted()).toEqual([
        [phone, a],
        [phone, b],
        [boss, a],
      ]);
    });

    it("of a rule that was removed or switched off end, and remind and escalate no more", async () => {
      const turns = await start();
      const { plane, projectId } = turns.ground;
      const [phone, boss] = [await turns.channel(), await turns.channel("Boss")];
      const steps = [10, 100].map((afterS) => ({ afterS, channels: [boss] }));
      const rule = ruleOf({ channels: [phone], intervalS: 1, repeatS: 60, escalation: steps });
      for (const [round, isRemoved] of [true, false].entries()) {
        const atMs = NOW_MS + round * 10_000 * S;
        const { version } = await plane.alerts.rules(projectId);
        const written = await plane.alerts.writeRules(projectId, version, [rule], atMs);
        if (typeof written === "string") throw new Error(written);
        const id = await make(turns.ground, { name: `m${round}` });
        await turns.down([id], atMs);
        expect([...(await turns.said(atMs)), ...(await turns.said(atMs + 10 * S))]).toEqual(["opened 1", "opened 1"]);
        const left = isRemoved ? [] : [{ ...rule, id: written.items[0]?.id ?? 0, active: false }];
        await plane.alerts.writeRules(projectId, written.version, left, atMs);
        expect(await turns.said(atMs + 1_000 * S)).toEqual([]);
        await turns.up([id], atMs + 2_000 * S);
        expect(await turns.said(atMs + 2_000 * S)).toEqual(["recovered 1", "recovered 1"]);
      }
    });

    it("hold what is paused or in maintenance, and forget what was deleted", async () => {
      const turns = await start();
      const { plane, projectId } = turns.ground;
      await turns.channel();
      const id = await make(turns.ground);
      await turns.down([id]);
      await turns.turn(NOW_MS);
      await plane.monitors.update(projectId, id, NOW_MS, ADA, () => ({ addPauseReason: "user" }));
      expect(await turns.said(NOW_MS + 100 * S)).toEqual([]);
      await plane.monitors.update(projectId, id, NOW_MS, ADA, () => ({ removePauseReasons: ["user"] }));
      expect(await turns.said(NOW_MS + 200 * S)).toEqual(["opened 1"]);
      const other = await make(turns.ground, { name: "other", host: "other" });
      await turns.down([other], NOW_MS + 300 * S);
      await turns.turn(NOW_MS + 300 * S);
      await plane.monitors.remove(projectId, other, NOW_MS, ADA);
      expect(await turns.said(NOW_MS + 400 * S)).toEqual([]);
    });

    it("close what they told of a monitor that is paused while it is down, and tell it anew when it is resumed", async () => {
      const turns = await start();
      const { plane, projectId } = turns.ground;
      await turns.channel();
      const id = await make(turns.ground);
      await turns.down([id]);
      await turns.turn(NOW_MS);
      expect(await turns.said(NOW_MS + 2 * S)).toEqual(["opened 1"]);
      await plane.monitors.update(projectId, id, NOW_MS, ADA, () => ({ addPauseReason: "user" }));
      const [over] = await turns.turn(NOW_MS + 100 * S);
      expect(over).toMatchObject({ reason: "recovered", members: [{ firing: false, isUnwatched: true }] });
      await turns.end(over === undefined ? [] : [over], NOW_MS + 100 * S);
      await plane.monitors.update(projectId, id, NOW_MS, ADA, () => ({ removePauseReasons: ["user"] }));
      expect(await turns.said(NOW_MS + 200 * S)).toEqual([]);
      const [again] = await turns.turn(NOW_MS + 202 * S);
      expect(again).toMatchObject({
        reason: "opened",
        members: [{ firing: true, isUnwatched: false, why: "connection refused" }],
      });
      expect(again?.groupKey).not.toBe(over?.groupKey);
      await turns.end(again === undefined ? [] : [again], NOW_MS + 202 * S);
      await turns.up([id], NOW_MS + 210 * S);
      expect(await turns.said(NOW_MS + 300 * S)).toEqual(["recovered 1"]);
    });

    it("close what they told of a monitor that is deleted while it is down", async () => {
      const turns = await start();
      const { plane, projectId } = turns.ground;
      await turns.channel();
      const epoch = await turns.hold();
      const later = async (afterS: number) => {
        await plane.alertTurns.tidy(epoch, NOW_MS + afterS * S);
        return turns.turn(NOW_MS + afterS * S);
      };
      const id = await make(turns.ground);
      await turns.down([id]);
      await later(0);
      const [opened] = await later(2);
      await turns.end(opened === undefined ? [] : [opened], NOW_MS + 2 * S);
      expect(await later(100)).toEqual([]);
      await plane.monitors.remove(projectId, id, NOW_MS + 150 * S, ADA);
      const [over, ...others] = await later(160);
      expect(others).toEqual([]);
      expect(over).toMatchObject({
        reason: "recovered",
        members: [{ monitorId: id, firing: false, isUnwatched: true }],
      });
      expect(over?.groupKey).toBe(opened?.groupKey);
      await turns.end(over === undefined ? [] : [over], NOW_MS + 160 * S);
      expect(await later(10_000)).toEqual([]);
    });

    it("try again, later and later; a channel that refuses for good is told of by the others", async () => {
      const turns = await start();
      const { plane } = turns.ground;
      const [phone, mail] = [await turns.channel(), await turns.channel("Mail")];
      const id = await make(turns.ground);
      await turns.down([id]);
      await turns.turn(NOW_MS);
      const refused = { delivered: false, permanent: true, statusCode: 401, error: "HTTP 401" };
      const first = await turns.turn(NOW_MS + 2 * S);
      const ofPhone = first.filter(({ channel }) => channel.id === phone);
      await turns.end(
        first.filter(({ channel }) => channel.id === mail),
        NOW_MS + 2 * S,
      );
      expect(await turns.end(ofPhone, NOW_MS + 2 * S, refused)).toMatchObject([
        { state: "pending", isFailingNow: false },
      ]);
      expect(await turns.turn(NOW_MS + 6 * S)).toEqual([]);
      const again = await turns.turn(NOW_MS + 8 * S);
      expect(again).toMatchObject([{ id: ofPhone[0]?.id, previous: null }]);
      expect(await turns.end(again, NOW_MS + 8 * S, refused)).toMatchObject([{ state: "pending", isFailingNow: true }]);
      await turns.turn(NOW_MS + 8 * S);
      const told = await turns.turn(NOW_MS + 11 * S);
      expect(told).toMatchObject([{ reason: "notice", channel: { id: mail } }]);
      expect(told[0]?.members).toMatchObject([{ event: "channel", name: "Phone", why: "HTTP 401" }]);
      const [sent] = await plane.alerts.ofChannel(phone, 10);
      expect(sent).toMatchObject({ state: "pending", lastError: "HTTP 401", attempts: [{}, { statusCode: 401 }] });
      expect((sent?.nextAttemptAtMs ?? 0) - NOW_MS).toBeGreaterThan(3_000 * S);
    });

    it("go on to the readers that are left, end where some have them, and mark a channel that a reader refuses", async () => {
      const turns = await start();
      const { plane, projectId } = turns.ground;
      const channelId = await turns.channel();
      const id = await make(turns.ground);
      const partly = { delivered: false, statusCode: 450, error: "bob: 450", reference: "bob" };
      await turns.down([id]);
      await turns.turn(NOW_MS);
      const first = await turns.turn(NOW_MS + 2 * S);
      expect(first).toMatchObject([{ left: null }]);
      await turns.end(first, NOW_MS + 2 * S, partly);
      const second = await turns.turn(NOW_MS + 8 * S);
      expect(second).toMatchObject([{ id: first[0]?.id, left: "bob", previous: null }]);
      await turns.end(second, NOW_MS + 8 * S, partly);
      // It was never delivered to all, and some know of it.
      await turns.up([id], NOW_MS + 9 * S);
      const over = await turns.turn(NOW_MS + 63 * S);
      expect(over).toMatchObject([{ reason: "recovered", left: null, previous: null }]);
      await turns.end(over, NOW_MS + 63 * S, { error: "eve: 550" });
      expect(await plane.channels.find(projectId, channelId)).toMatchObject({
        ...{ refusals: 1, lastError: "eve: 550", lastSuccessAtMs: NOW_MS + 63 * S + 3 },
      });
      const [sent] = await plane.alerts.ofChannel(channelId, 1);
      expect(sent).toMatchObject({ state: "delivered", lastError: "eve: 550", attempts: [{ error: "eve: 550" }] });
    });

    it("wait all for a service that wants no request for a while", async () => {
      const turns = await start();
      const { plane, projectId } = turns.ground;
      const [phone, other] = [await turns.channel(), await turns.channel("Other")];
      await plane.alerts.writeRules(projectId, 0, [ruleOf({ groupBy: "monitor" })], NOW_MS);
      await turns.down([await make(turns.ground), await make(turns.ground, { name: "b" })]);
      const begun = await turns.turn(NOW_MS);
      expect(begun.map(({ channel }) => channel.id).toSorted()).toEqual([phone, phone, other, other]);
      const [first, ...rest] = begun.filter(({ channel }) => channel.id === phone);
      // The others were not sent: their sender died.
      expect(rest).toHaveLength(1);
      const busy = { delivered: false, statusCode: 429, error: "HTTP 429", retryAfterMs: 100 * S };
      await turns.end(first === undefined ? [] : [first], NOW_MS, busy);
      expect((await turns.turn(NOW_MS + 50 * S)).map(({ channel }) => channel.id)).toEqual([other, other]);
      const later = await turns.turn(NOW_MS + 101 * S);
      expect(later.filter(({ channel }) => channel.id === phone)).toHaveLength(2);
    });

    it("begin again what a death left open, look again when the clock went back, and obey the lease", async () => {
      const turns = await start();
      const { plane } = turns.ground;
      await turns.channel();
      const id = await make(turns.ground);
      await turns.down([id]);
      await turns.turn(NOW_MS);
      const [lost] = await turns.turn(NOW_MS + 2 * S);
      const epoch = await turns.hold();
      const [again] = await turns.turn(NOW_MS + 3 * S);
      expect(again?.id).toBe(lost?.id);
      await expect(plane.alertTurns.begin(epoch - 1, [again?.id ?? 0], { nowMs: NOW_MS, breathe })).rejects.toThrow(
        LeaseLost,
      );
      await expect(plane.alertTurns.record(epoch - 1, [])).rejects.toThrow(LeaseLost);
      // It may have arrived before the death, so its end is told though no delivery was recorded.
      await turns.up([id], NOW_MS + 4 * S);
      expect(await turns.said(NOW_MS + 63 * S)).toEqual(["recovered 1"]);
      const other = await make(turns.ground, { name: "other", host: "other" });
      await turns.down([other], NOW_MS + 100 * S);
      await turns.turn(NOW_MS + 3_700 * S);
      await plane.alertTurns.clockWentBack(epoch, NOW_MS + 100 * S);
      expect(await turns.turn(NOW_MS + 100 * S)).toEqual([]);
      expect(await turns.said(NOW_MS + 102 * S)).toEqual(["opened 1"]);
    });

    it("go to no mail address before it has confirmed, nor to another that took its place", async () => {
      const turns = await start();
      const { plane, projectId } = turns.ground;
      const mail = await turns.channel("Mail", "email");
      const verify = (verifiedAtMs: number | null) =>
        plane.channels.update(projectId, mail, NOW_MS, () => ({ verifiedAtMs }));
      await turns.down([await make(turns.ground)]);
      await turns.turn(NOW_MS);
      expect(await turns.turn(NOW_MS + 2 * S)).toEqual([]);
      await verify(NOW_MS);
      await turns.down([await make(turns.ground, { name: "b", host: "b" })], NOW_MS + 10 * S);
      await turns.turn(NOW_MS + 10 * S);
      const begun = await turns.turn(NOW_MS + 12 * S);
      expect(begun).toMatchObject([{ reason: "opened", channel: { id: mail } }]);
      await turns.end(begun, NOW_MS + 12 * S, { delivered: false, statusCode: 450, error: "later" });
      await verify(null);
      expect(await turns.turn(NOW_MS + 100 * S)).toEqual([]);
      await plane.alertTurns.tidy(await turns.hold(), NOW_MS + 100 * S);
      const [message] = await plane.alerts.ofChannel(mail, 1);
      expect(message?.state).toBe("cancelled");
    });

    it("end with their channel or project, and are forgotten after a month", async () => {
      const turns = await start();
      const { plane, projectId } = turns.ground;
      const channelId = await turns.channel();
      const id = await make(turns.ground);
      await turns.down([id]);
      await turns.turn(NOW_MS);
      await turns.turn(NOW_MS + 2 * S);
      expect(await plane.alertTurns.pending()).toBe(1);
      await plane.channels.update(projectId, channelId, NOW_MS, () => ({ active: false }));
      const epoch = await turns.hold();
      await plane.alertTurns.tidy(epoch, NOW_MS + 3 * S);
      expect(await plane.alertTurns.pending()).toBe(0);
      expect(await plane.alerts.ofChannel(channelId, 10)).toMatchObject([{ state: "cancelled" }]);
      await turns.up([id], NOW_MS + 4 * S);
      await turns.turn(NOW_MS + 100 * S);
      await plane.alertTurns.tidy(epoch, NOW_MS + 40 * 24 * 3_600 * S);
      expect(await plane.alerts.ofChannel(channelId, 10)).toEqual([]);
    });
  });
}
