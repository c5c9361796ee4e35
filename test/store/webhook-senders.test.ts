/** Several processes that send webhooks from one PostgreSQL: one does at a time, and no event is sent by two. */
import { pino } from "pino";
import { afterAll, describe, expect, it } from "vitest";
import { LEASE_MS } from "../../model/lease.ts";
import { LeaseKeeper } from "../../scheduler/lease.ts";
import type { PostOutcome } from "../../scheduler/webhooks/post.ts";
import { Sender } from "../../scheduler/webhooks/sender.ts";
import { openControlPlane } from "../../store/sql/control-plane/open.ts";
import type { ControlPlane } from "../../store/sql/control-plane/port.ts";
import { SENDER_LEASE } from "../../store/sql/coordination/leases-port.ts";
import { isMissing, withServer } from "../servers/missing.ts";
import { startPostgres } from "../servers/postgres.ts";

const SENDERS = 3;
const ROUNDS = 40;
const SECRET = `whsec_${Buffer.alloc(32, 1).toString("base64")}`;
const START_MS = 1_795_241_400_000;

const server = await startPostgres();
afterAll(async () => {
  if (!isMissing(server)) await server.stop();
});

interface Post {
  readonly by: number;
  readonly id: string;
}

/** Every process has a clock of its own, as far off as it likes. */
function senderOn(plane: ControlPlane, by: number, clock: { nowMs: number }, posts: Post[]) {
  const monotonicNowMs = (): number => clock.nowMs + by * 1_000_000;
  const { leases, outgoing } = plane;
  const holder = `process ${by}`;
  const lease = new LeaseKeeper({ leases, name: SENDER_LEASE, holder, isSoleOwner: false, monotonicNowMs });
  const sender = new Sender({
    outgoing,
    lease,
    host: {
      clocks: { wallNowMs: () => START_MS + clock.nowMs, monotonicNowMs },
      random: () => 0.5,
      breathe: () => new Promise((settled) => setImmediate(settled)),
    },
    async post(_url, headers): Promise<PostOutcome> {
      posts.push({ by, id: headers["webhook-id"] ?? "" });
      return { statusCode: 200, error: null };
    },
    secrets: { open: (_where, sealed) => sealed },
    log: pino({ level: "silent" }),
    onEnded() {},
  });
  return { sender, lease };
}

withServer("PostgreSQL", server, (running) => {
  describe("senders on PostgreSQL", () => {
    it("send each event once between them, over the death of the one that sends", { timeout: 120_000 }, async () => {
      const { url, drop } = await running.createDatabase();
      const planes = await Promise.all(
        Array.from({ length: SENDERS }, () => openControlPlane({ url }, { role: "api" })),
      );
      const [first] = planes;
      if (first === undefined) throw new Error("no control plane");
      const made = await first.accounts.createFirst({
        email: "owner@test-site.org",
        userName: "Owner",
        workspaceName: "Acme",
        plan: "business",
        projectName: "Production",
        nowMs: START_MS,
      });
      const hookUrl = "https://hooks.test-site.org/";
      const input = { projectId: made.projectId, url: hookUrl, events: null, secretSealed: SECRET, nowMs: START_MS };
      const webhook = (await first.webhooks.create(input))?.id ?? 0;
      const clock = { nowMs: 0 };
      const posts: Post[] = [];
      const senders = planes.map((plane, index) => senderOn(plane, index, clock, posts));
      let events = 0;
      const dead = new Set<number>();
      for (let round = 0; round < ROUNDS; round += 1) {
        clock.nowMs += 1_000;
        // Half way the one that sends stands still for longer than its lease, and comes back later.
        const sending = posts.at(-1)?.by;
        if (round === ROUNDS / 2 && sending !== undefined) {
          // What it sent is written down; what is not, the next one would send again.
          await senders[sending]?.sender.turn();
          dead.add(sending);
          for (const { sender } of senders.filter((_one, index) => !dead.has(index))) await sender.turn();
          clock.nowMs += LEASE_MS;
        }
        if (round === ROUNDS - 5) dead.clear();
        for (let more = 0; more < 3; more += 1) {
          await first.webhooks.test(webhook, START_MS);
          events += 1;
        }
        await Promise.all(senders.map(({ sender }, index) => (dead.has(index) ? undefined : sender.turn())));
      }
      for (let round = 0; round < 3; round += 1) await Promise.all(senders.map(({ sender }) => sender.turn()));
      expect(posts).toHaveLength(events);
      expect(new Set(posts.map(({ id }) => id)).size).toBe(events);
      // One until it stood still, another after it.
      const turns = posts.filter(({ by }, index) => by !== posts[index - 1]?.by);
      expect(turns).toHaveLength(2);
      expect(await first.outgoing.pending()).toBe(0);
      const log = await first.webhooks.deliveries(webhook, 1_000);
      expect(log.every(({ state, attempts }) => state === "delivered" && attempts.length === 1)).toBe(true);
      await senders[turns[1]?.by ?? 0]?.lease.release();
      for (const plane of planes) await plane.close();
      await drop();
    });
  });
});
