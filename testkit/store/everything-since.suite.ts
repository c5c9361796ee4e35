/**
 * What came after the history of everything.suite.ts, on the same store: sign-in, saved views, the audit log, channels and what was told to them,
 * schedules, status pages, documents. Written apart, because a version before knows nothing of it.
 */
import type { Actor } from "../../model/actor.ts";
import { DEFAULT_RULE } from "../../model/alerting-rule.ts";
import { NEW_PAGE } from "../../model/status-page.ts";
import type { ControlPlane } from "../../store/sql/control-plane/port.ts";
import { SENDER_LEASE } from "../../store/sql/coordination/leases-port.ts";

const AT_MS = Date.UTC(2026, 10, 22);
const HOUR_MS = 3_600_000;
const ACTOR: Actor = { type: "user", id: 1, name: "Ada", via: "dashboard", keyId: null };
const [ORGANIZATION, PROJECT, USER] = [1, 1, 1];

/** @param plane with that history on it */
export async function writeSince(plane: ControlPlane): Promise<void> {
  await writeSignIn(plane);
  const views = [USER, null].map((userId) => ({ projectId: PROJECT, userId, name: "Down", query: "q=status%3Adown" }));
  for (const view of views) await plane.savedViews.save(view);
  const subject = { type: "monitor", id: "srv_1", name: "Shop" };
  const entry = { organizationId: ORGANIZATION, projectId: PROJECT, atMs: AT_MS, actor: ACTOR, subject };
  await plane.audit.add({ ...entry, what: "monitor.updated", detail: { fields: ["name"] }, address: "192.0.2.1" });
  await writeTold(plane);
  await writePublic(plane);
  await writeDocument(plane);
}

async function writeSignIn({ sessions, identities, passkeys }: ControlPlane): Promise<void> {
  const person = { userId: USER, nowMs: AT_MS, expiresAtMs: AT_MS + HOUR_MS };
  const session = { userId: USER, keyId: null, via: "link" as const, device: "Firefox \ud800", address: "192.0.2.1" };
  const by = await sessions.create({ ...session, secretHash: "hash", createdAtMs: AT_MS, endsAtMs: AT_MS + HOUR_MS });
  await sessions.addCode({ ...person, codeHash: "code hash" });
  const provider = "https://login.test-site.org";
  await identities.link({ ...person, provider, subject: "ada", email: "Ada@test-site.org" });
  await identities.addAttempt({ ...person, attemptHash: "attempt hash", purpose: "oidc" });
  const passkey = { credentialId: "credential", publicKey: "public", counter: 3, name: "Phone" };
  await passkeys.add({ ...passkey, userId: USER, addedVia: "link", createdAtMs: AT_MS }, by?.id ?? 0);
}

async function writeTold({
  channels,
  alerts,
  alertTurns,
  outgoing,
  leases,
  shards,
  sink,
}: ControlPlane): Promise<void> {
  const channel = { projectId: PROJECT, kind: "ntfy", name: "Phone", settings: { topic: "a" }, active: true };
  await channels.create({ ...channel, secretNames: ["token"], sealed: (id) => `2.0011aabb.${id}`, nowMs: AT_MS }, 100);
  const shard = (await shards.take(0, "scheduler 2", 1)) ?? 0;
  const why = { message: "refused", category: "server_not_connected" as const, locations: ["any"] };
  await sink.apply({
    ...{ spool: "spool 2", leases: [{ shard: 0, epoch: shard }], appliedSeq: 1, live: [], drainedInboxIds: [] },
    incidents: [{ type: "open", monitorId: 1, atMs: AT_MS, startedAtMs: AT_MS, level: "down", ...why }],
  });
  const epoch = (await leases.take(SENDER_LEASE, "a process", await leases.read(SENDER_LEASE))) ?? 0;
  const breathe = async (): Promise<void> => {};
  // By then what is told together has waited.
  const nowMs = AT_MS + HOUR_MS;
  while ((await outgoing.fanOut(epoch, { limit: 100, nowMs: AT_MS })) > 0);
  while ((await alertTurns.speak(epoch, { nowMs, limit: 100, folds: false, breathe })) > 0);
  const of = { nowMs, failing: false, perChannel: 100, limit: 100, except: [], underWay: [] };
  const due = (await alertTurns.due(of)).map(({ id }) => id);
  const begun = await alertTurns.begin(epoch, due, { nowMs, breathe });
  const outcome = { delivered: false, permanent: false, retryAfterMs: null, reference: null, shown: "Shop is down" };
  const attempt = { atMs: nowMs, statusCode: 503, error: "busy", durationMs: 2.5, random: 0.5 };
  await alertTurns.record(
    epoch,
    begun.map(({ id, channel: { id: channelId } }) => ({ id, channelId, ...outcome, ...attempt })),
  );
  const spans = { name: "Nights", timezone: "UTC", spans: [], mode: "hold" as const };
  await alerts.writeQuietHours(PROJECT, 0, [{ ...spans, id: null, letThrough: { severity: [], tags: [] } }]);
  const { version } = await alerts.rules(PROJECT);
  await alerts.writeRules(PROJECT, version, [{ ...DEFAULT_RULE, id: null, name: "All", quietHoursId: 1 }], AT_MS);
}

async function writePublic({ schedules, statusPages }: ControlPlane): Promise<void> {
  const schedule = { type: "weekly", days: [1, 7], from: "02:00", minutes: 90 } as const;
  const days = { timezone: "Europe/Berlin", startsOn: null, endsOn: "2027-01-01", overAtMs: null };
  const words = { title: "Backups", text: "", selector: { tags: ["prod"] }, announce: true };
  await schedules.create(PROJECT, { ...words, ...days, schedule }, AT_MS);
  const page = { ...NEW_PAGE, slug: "acme", title: "Acme", domains: ["status.acme.org"] };
  const seals = { badgeName: "badge-name-1", accessSealed: (id: number) => `2.0011aabb.page ${id}` };
  await statusPages.create({ projectId: PROJECT, page, ...seals, nowMs: AT_MS });
  const update = { atMs: AT_MS, level: "info", title: "Moving", text: "Tonight", endsAtMs: null } as const;
  await statusPages.addUpdate(1, update, ACTOR);
}

async function writeDocument({ documents }: ControlPlane): Promise<void> {
  const nothing = { create: [], change: [], remove: [] };
  const noList = { version: 0, items: null, made: new Map<number, never>(), managed: [], removed: [] };
  const managed = { key: "shop", marks: { name: "keyed hash" } };
  let shop = 0;
  for await (const some of documents.monitors(PROJECT))
    shop = some.find(({ monitor }) => monitor.id === 1)?.generation ?? shop;
  await documents.apply({
    ...{ projectId: PROJECT, organizationId: ORGANIZATION, name: "production", hash: "h", nowMs: AT_MS, actor: ACTOR },
    ...{ slots: null, subscriptions: nothing, channels: nothing, maintenance: nothing, pages: nothing, release: [] },
    ...{ quietHours: noList, rules: noList, seen: new Map() },
    monitors: { ...nothing, change: [{ id: 1, version: shop, change: null, managed }] },
  });
}
