import { join } from "node:path";
import { pino } from "pino";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Message } from "../../model/alert-message.ts";
import { DEFAULT_RULE } from "../../model/alerting-rule.ts";
import type { IncidentChange } from "../../model/incident.ts";
import { LEASE_MS } from "../../model/lease.ts";
import { openControlPlane } from "../../store/sql/control-plane/open.ts";
import type { ControlPlane } from "../../store/sql/control-plane/port.ts";
import { SENDER_LEASE } from "../../store/sql/coordination/leases-port.ts";
import { newMonitor } from "../../testkit/store/new-monitor.suite.ts";
import { temporaryFolder } from "../../testkit/temporary-folder.ts";
import { LeaseKeeper } from "../lease.ts";
import type { SendOutcome, SendToChannel } from "./channels/channel.ts";
import { AlertSender } from "./sender.ts";

const START_MS = 1_795_241_400_000;
const S = 1_000;
const TAKEN: SendOutcome = { delivered: true, statusCode: 200, reference: "ref" };
const PLAIN_SECRETS = { seal: (where: string, text: string) => `${where} ${text}`, open: () => '{"token":"t0"}' };

const breathe = (): Promise<void> => new Promise((settled) => setImmediate(settled));

/** An attempt under way: the test says what comes of it. */
interface Attempt {
  readonly channel: string;
  readonly message: Message;
  end(outcome: SendOutcome): Promise<void>;
}

class Service {
  readonly plane: ControlPlane;
  readonly projectId: number;
  readonly organizationId: number;
  readonly attempts: Attempt[] = [];
  /** Of channels whose name begins with `hangs` no answer ever comes; of all others at once, when set. */
  answers: SendOutcome | null = null;
  nowMs = START_MS;
  monotonicMs = START_MS;
  #seq = 0;

  constructor(plane: ControlPlane, ids: { readonly projectId: number; readonly organizationId: number }) {
    this.plane = plane;
    this.projectId = ids.projectId;
    this.organizationId = ids.organizationId;
  }

  sender(holder = "a", isSoleOwner = true): { readonly turn: () => Promise<void>; readonly sender: AlertSender } {
    const monotonicNowMs = (): number => this.monotonicMs;
    const { leases, outgoing, alertTurns } = this.plane;
    const lease = new LeaseKeeper({ leases, name: SENDER_LEASE, holder, isSoleOwner, monotonicNowMs });
    const sender = new AlertSender({
      ...{ turns: alertTurns, lease, secrets: PLAIN_SECRETS, base: "https://sonde.test-site.org", breathe },
      clocks: { wallNowMs: () => this.nowMs, monotonicNowMs },
      send: this.#send,
      random: () => 0.5,
      log: pino({ level: "silent" }),
      onEnded: () => undefined,
    });
    const turn = async (): Promise<void> => {
      const epoch = await lease.keep();
      if (epoch !== undefined) while ((await outgoing.fanOut(epoch, { limit: 100, nowMs: this.nowMs })) > 0);
      await sender.turn();
      await breathe();
    };
    return { turn, sender };
  }

  readonly #send: SendToChannel = ({ kind, settings }, message) => {
    expect(settings.token).toBe("t0");
    const name = String(settings.name);
    return new Promise((resolve) => {
      const done = (outcome: SendOutcome): void => resolve({ ...outcome, sent: kind, durationMs: 1 });
      const end = async (outcome: SendOutcome): Promise<void> => {
        done(outcome);
        await breathe();
      };
      this.attempts.push({ channel: name, message, end });
      if (this.answers !== null && !name.startsWith("hangs")) done(this.answers);
    });
  };

  pass(seconds: number): void {
    this.nowMs += seconds * S;
    this.monotonicMs += seconds * S;
  }

  async channel(name: string): Promise<void> {
    const channel = { projectId: this.projectId, kind: "ntfy", name, settings: { name }, secretNames: ["token"] };
    await this.plane.channels.create({ ...channel, sealed: () => "sealed", active: true, nowMs: START_MS }, 1_000);
  }

  async monitors(count: number, host: (index: number) => string): Promise<readonly number[]> {
    const ids: number[] = [];
    for (let i = 0; i < count; i += 1) {
      const monitor = newMonitor(this, { name: `m${i}`, host: host(i) });
      const actor = { type: "system", id: null, name: "test", via: null, keyId: null } as never;
      ids.push((await this.plane.monitors.create(monitor, actor)).id);
    }
    return ids;
  }

  async change(changes: readonly IncidentChange[]): Promise<void> {
    this.#seq += 1;
    const part = { spool: "spool", appliedSeq: this.#seq, live: [], drainedInboxIds: [] };
    await this.plane.sink.apply({ ...part, incidents: changes });
  }

  down(ids: readonly number[]): Promise<void> {
    const why = { message: "connection refused", category: "server_not_connected" as const, locations: ["de", "nl"] };
    const atMs = this.nowMs;
    return this.change(
      ids.map((monitorId) => ({ type: "open", monitorId, atMs, startedAtMs: atMs, level: "down", ...why })),
    );
  }

  up(ids: readonly number[]): Promise<void> {
    return this.change(ids.map((monitorId) => ({ type: "close", monitorId, atMs: this.nowMs })));
  }

  get titles(): readonly string[] {
    return this.attempts.map(({ channel, message }) => `${channel}: ${message.title}`);
  }
}

let service: Service;
let folder: string;

beforeEach(async () => {
  folder = temporaryFolder();
  const plane = await openControlPlane({ file: join(folder, "control.sqlite") }, { role: "sink" });
  const first = { email: "owner@test-site.org", userName: "Owner", workspaceName: "Acme", projectName: "Production" };
  const ids = await plane.accounts.createFirst({ ...first, plan: "business", nowMs: START_MS });
  service = new Service(plane, ids);
});
afterEach(async () => {
  await service.plane.close();
});

describe("AlertSender", () => {
  it("says what is down, why and where, with links, and how long it lasted", async () => {
    service.answers = TAKEN;
    await service.channel("phone");
    const { turn } = service.sender();
    const ids = await service.monitors(1, () => "de7");
    await service.down(ids);
    await turn();
    service.pass(2);
    await turn();
    const [first] = service.attempts;
    expect(first?.message).toMatchObject({
      ...{ reason: "opened", severity: "critical", more: 0 },
      groupKey: expect.stringMatching(/^sonde-1-[0-9a-z]+$/),
      title: "m0 is down: connection refused (de, nl)",
      link: "https://sonde.test-site.org/#/incidents/inc_1",
      items: [{ id: "inc_1", name: "m0", state: "down", why: "connection refused" }],
    });
    expect(first?.message.acknowledge).toContain("https://sonde.test-site.org/ack/acknowledge 1.1.");
    expect(first?.message.facts).toContainEqual(["Where", "de, nl"]);
    service.pass(718);
    await service.up(ids);
    await turn();
    expect(service.titles.slice(1)).toEqual(["phone: m0 works again after 12 min"]);
    expect(service.attempts[1]?.message).toMatchObject({ reason: "recovered", severity: "ok", acknowledge: null });
  });

  it("makes a message anew before each attempt, and says nothing when there is nothing to say any more", async () => {
    await service.channel("phone");
    const { turn } = service.sender();
    const ids = await service.monitors(3, () => "de7");
    await service.down(ids.slice(0, 2));
    await turn();
    service.pass(2);
    await turn();
    expect(service.titles).toEqual(["phone: de7: 2 of 3 monitors down"]);
    const failed = {
      delivered: false,
      statusCode: 503,
      error: "HTTP 503",
      retryAfterMs: 30_000,
      permanent: false,
    } as const;
    await service.attempts[0]?.end(failed);
    await service.down(ids.slice(2));
    service.pass(10);
    await turn();
    expect(service.attempts).toHaveLength(1);
    service.pass(30);
    await turn();
    expect(service.titles.slice(1)).toEqual(["phone: de7: 3 of 3 monitors down"]);
    await service.attempts[1]?.end(failed);
    await service.up(ids);
    service.pass(300);
    await turn();
    expect(service.attempts).toHaveLength(2);
  });

  it("takes names as text of one line, whatever is in them", async () => {
    service.answers = TAKEN;
    await service.channel("phone");
    const { turn } = service.sender();
    const actor = { type: "system", id: null, name: "test", via: null, keyId: null } as never;
    const name = `@everyone \u202e*x*\u0000\n</script> ${"y".repeat(150)}`;
    const made = await service.plane.monitors.create(newMonitor(service, { name }), actor);
    await service.down([made.id]);
    await turn();
    service.pass(2);
    await turn();
    const title = service.attempts[0]?.message.title ?? "";
    expect(title).toMatch(/^@everyone +\*x\*.* <\/script> y+… is down: /);
    expect(title).not.toMatch(/[\p{Cc}\p{Cf}]/u);
  });

  it("tells the channels that a person has it in hand", async () => {
    service.answers = TAKEN;
    await service.channel("phone");
    const { turn } = service.sender();
    const ids = await service.monitors(2, () => "de7");
    await service.down(ids);
    await turn();
    service.pass(2);
    await turn();
    const actor = { type: "system", id: null, name: "test", via: null, keyId: null } as never;
    const acknowledge = async (incidentId: number): Promise<void> => {
      await service.plane.incidents.acknowledgeAll(service.projectId, [incidentId], service.nowMs, actor, null);
      service.pass(60);
      await turn();
    };
    await acknowledge(1);
    await acknowledge(2);
    expect(service.attempts.map(({ message }) => `${message.reason}: ${message.title}`).slice(1)).toEqual([
      "reminder: de7: 1 of 2 monitors acknowledged",
      "acknowledged: de7: 2 of 2 monitors acknowledged",
    ]);
    service.pass(600);
    await turn();
    expect(service.attempts).toHaveLength(3);
  });

  it("says it in the words of the rule", async () => {
    service.answers = TAKEN;
    await service.channel("phone");
    const { id: _, ...rule } = DEFAULT_RULE;
    const template = { title: "{{ name }} ({{ status }})", summary: null };
    await service.plane.alerts.writeRules(service.projectId, 0, [{ ...rule, id: null, template }], START_MS);
    const { turn } = service.sender();
    await service.down(await service.monitors(1, () => "de7"));
    await turn();
    service.pass(2);
    await turn();
    expect(service.titles).toEqual(["phone: m0 (🔴 Down)"]);
  });

  it("lets no channel wait for 200 that hang", async () => {
    service.answers = TAKEN;
    for (let i = 0; i < 200; i += 1) await service.channel(`hangs${i}`);
    await service.channel("phone");
    const { turn, sender } = service.sender();
    const ids = await service.monitors(3, (i) => `h${i}`);
    await service.down(ids);
    await turn();
    service.pass(2);
    for (let i = 0; i < 6; i += 1) await turn();
    const phone = service.attempts.filter(({ channel }) => channel === "phone");
    expect(phone).toHaveLength(3);
    expect(sender.inFlight).toBeGreaterThanOrEqual(200);
  });

  it("sends what another sender left, once, and nothing once it lost the lease", async () => {
    await service.channel("phone");
    const first = service.sender("a", false);
    await service.down(await service.monitors(1, () => "de7"));
    await first.turn();
    service.pass(2);
    await first.turn();
    expect(service.attempts).toHaveLength(1);
    const second = service.sender("b", false);
    await second.turn();
    service.pass(LEASE_MS / S);
    await second.turn();
    service.answers = TAKEN;
    await second.turn();
    expect(service.attempts).toHaveLength(2);
    // The first one's answer comes late: it may not record it.
    await service.attempts[0]?.end(TAKEN);
    await first.turn();
    await second.turn();
    service.pass(60);
    await second.turn();
    expect(service.attempts).toHaveLength(2);
    expect(first.sender.inFlight).toBe(0);
  });

  it("tells at once what waited for a clock that was ahead", async () => {
    service.answers = TAKEN;
    await service.channel("phone");
    const { turn } = service.sender();
    const ids = await service.monitors(1, () => "de7");
    await turn();
    await service.down(ids);
    await turn();
    service.nowMs -= 3_600 * S;
    await turn();
    service.pass(3);
    await turn();
    expect(service.attempts).toHaveLength(1);
  });

  it("tells at once what another sender wrote whose clock is ahead, and keeps what it wrote in time", async () => {
    service.answers = { delivered: false, statusCode: 503, error: "HTTP 503", retryAfterMs: 600_000, permanent: false };
    await service.channel("phone");
    const first = service.sender("a");
    await service.down(await service.monitors(1, () => "de7"));
    await first.turn();
    service.pass(2);
    await first.turn();
    await first.turn();
    // The service asked to come later: one that takes over in time does not come sooner.
    const second = service.sender("b");
    await second.turn();
    expect(service.attempts).toHaveLength(1);
    service.nowMs -= 3_600 * S;
    service.answers = TAKEN;
    await service.sender("c").turn();
    expect(service.attempts).toHaveLength(2);
  });

  it("tells of a storm in fewer messages than there are groups, and of its end once", async () => {
    service.answers = TAKEN;
    await service.channel("phone");
    const { turn } = service.sender();
    const all = await service.monitors(320, (i) => `h${i % 150}`);
    const [ids, later] = [all.slice(0, 300), all.slice(300)];
    await service.down(ids);
    await turn();
    service.pass(2);
    await turn();
    expect(service.titles).toEqual(["phone: 300 monitors down"]);
    expect(service.attempts[0]?.message).toMatchObject({ more: 280, severity: "critical" });
    // Before the next message is due more go down, and are back; one of the first goes down twice.
    service.pass(3);
    await service.down(later);
    await service.up(ids.slice(0, 1));
    await turn();
    service.pass(3);
    await turn();
    await service.up(later);
    await service.down(ids.slice(0, 1));
    await turn();
    service.pass(54);
    await service.up(ids);
    await turn();
    await turn();
    expect(service.titles.slice(1)).toEqual(["phone: 320 monitors work again after 1 min"]);
    expect(service.attempts[1]?.message).toMatchObject({ more: 300, reason: "recovered" });
  });
});
