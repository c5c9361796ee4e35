/** What a document would do to monitors: the same drafts and changes as single requests make, of all of them at once. */
import { uptimeOf } from "../../engine/contract/registry.ts";
import type { Document } from "../../model/document/document.ts";
import type { FieldChange } from "../../model/document/plan.ts";
import { formatId } from "../../model/ids.ts";
import { familyOf, isPassive, isWebsite, type TunnelProtocol, type UptimeKind } from "../../model/kind.ts";
import { isActive, MONITOR_DEFAULTS, type Monitor } from "../../model/monitor.ts";
import { displayAddress } from "../../model/web-address.ts";
import type { Marks, MonitorOfProject } from "../../store/sql/documents/port.ts";
import { changeMonitor } from "../../store/sql/monitors/change.ts";
import type { MonitorChange, NewMonitor } from "../../store/sql/monitors/port.ts";
import { ApiError, refusal } from "../errors.ts";
import { wholeTarget, withWholeUrl } from "../monitors/address.ts";
import { type Draft, draftOfChange, draftOfNew, type NewDraft, refuseShort, targetOf } from "../monitors/draft.ts";
import { isUptimeKind, knownFieldsOf } from "../monitors/fields.ts";
import { refuseResume } from "../monitors/lifecycle.ts";
import { locationsChange, requireLocationsOnPlan } from "../monitors/locations.ts";
import { refuseBesideOlder } from "../monitors/older-schedulers.ts";
import { refuseHiddenIn } from "../monitors/secrets.ts";
import type { Target } from "../monitors/targets.ts";
import { hashToken, newToken } from "../monitors/token.ts";
import { newTunnelMonitor, openTunnel, tunnelChange } from "../monitors/tunnel-requests.ts";
import { draftOfNewTunnel, draftOfTunnelChange, type NewTunnelDraft, type TunnelDraft } from "../monitors/tunnels.ts";
import { newUptimeMonitor, uptimeChange } from "../monitors/uptime-requests.ts";
import type { DraftPlan } from "./draft-plan.ts";
import { ExpiryByHost } from "./expiry-by-host.ts";
import { TargetJudge, targetKey } from "./judge-targets.ts";
import {
  aboutMonitor,
  allMonitors,
  type Existing,
  readEntries,
  type Staying,
  type Waiting,
} from "./monitor-entries.ts";
import type { References } from "./references.ts";
import { PLAIN, shortened, shownValue, valueIn } from "./shown-values.ts";
import { expiryIn, isAsApplied, knowAddress, sharedHost, WHOLE_MARK, wholeMark } from "./untouched-monitors.ts";
import type { WantedMonitor } from "./wanted-monitor.ts";

/** Whose secrets are opened together. */
const AT_ONCE = 200;

interface Planned {
  readonly wanted: WantedMonitor;
  readonly existing: Existing | null;
  /** Its kind is another one, and the document says that it may go. */
  readonly replaces: MonitorOfProject | null;
  readonly uptime: { readonly kind: UptimeKind; readonly draft: Draft } | null;
  readonly tunnel: TunnelDraft | null;
  readonly targets: readonly Target[];
  /** Of a website: whose expiry settings it shares. */
  readonly website: string | null;
}

export async function planMonitors(plan: DraftPlan, document: Document, references: References): Promise<void> {
  const judge = new TargetJudge(plan.api.targets);
  try {
    await planJudged(plan, document, references, judge);
  } finally {
    judge.stop();
  }
}

async function planJudged(
  plan: DraftPlan,
  document: Document,
  references: References,
  judge: TargetJudge,
): Promise<void> {
  const monitors = await allMonitors(plan);
  const { untouched, others } = await readEntries(plan, document, monitors);
  await plan.slices.rest();
  const expiry = new ExpiryByHost(plan, monitors.values());
  const staying = untouched.filter(({ wanted, existing }) =>
    expiry.add(wanted.key, { expiry: expiryIn(wanted.body) }, sharedHost(existing)),
  );
  const planned = (await draftAll(plan, others, judge)).filter((one) =>
    expiry.add(one.wanted.key, one.uptime?.draft, one.website),
  );
  await plan.slices.rest();
  const moved = staying.filter(({ existing }) => expiry.moves(existing.monitor));
  planned.push(...(await draftAll(plan, moved, judge)));
  const planner = new MonitorPlanner(plan, { monitors, expiry, judge });
  await planner.plan(planned, staying, document);
  await plan.slices.rest();
  const refused = new Set(plan.refused.flatMap(({ kind, key }) => (kind === "monitor" ? [key] : [])));
  const there = [...staying, ...planned].flatMap(({ wanted, existing }) =>
    existing === null || refused.has(wanted.key) ? [] : [[wanted.key, existing.monitor.id] as const],
  );
  references.know("monitor", planner.made, there, {
    all: monitors.keys(),
    removed: plan.monitors.remove.map(({ id }) => id),
  });
}

/** Names of targets are asked for meanwhile. */
async function draftAll(plan: DraftPlan, waiting: readonly Waiting[], judge: TargetJudge): Promise<Planned[]> {
  const planned: Planned[] = [];
  for (let start = 0; start < waiting.length; start += AT_ONCE) {
    const some = waiting.slice(start, start + AT_ONCE);
    const sealed = await sealedOf(plan, some);
    for (const { wanted, existing } of some) {
      await plan.slices.rest();
      const withSecrets = existing === null ? null : withSealed(existing, sealed);
      const one = plan.attempt(aboutMonitor(wanted.key), wanted.body, () => drafted(plan, wanted, withSecrets));
      if (one === undefined || one === null) continue;
      planned.push(one);
      judge.add(movedTargets(one));
    }
  }
  return planned;
}

/** Of one that is new or has moved. */
function movedTargets({ targets, existing }: Planned): readonly Target[] {
  return existing === null ? targets : targets.filter(({ host }) => host !== existing.monitor.host);
}

async function sealedOf(plan: DraftPlan, some: readonly { readonly existing: Existing | null }[]) {
  const ids = some.flatMap(({ existing }) =>
    existing === null || !hasSecrets(existing.monitor) ? [] : [existing.monitor.id],
  );
  return plan.api.controlPlane.documents.sealedOf(ids);
}

function hasSecrets({ kind }: Monitor): boolean {
  return !isUptimeKind(kind) || (uptimeOf(kind).secretFields ?? []).length > 0;
}

function withSealed(existing: Existing, sealed: ReadonlyMap<number, string>): Existing {
  const secret = sealed.get(existing.monitor.id);
  return secret === undefined ? existing : { ...existing, monitor: { ...existing.monitor, sealed: secret } };
}

/** @returns null when it is refused @throws ApiError */
function drafted(plan: DraftPlan, wanted: WantedMonitor, existing: Existing | null): Planned | null {
  const owner = plan.ownerOf(plan.thing("monitor", wanted.key));
  const path = ["monitors", wanted.key];
  if (owner !== null) {
    plan.refuse("monitor", wanted.key, path, `It belongs to the document "${owner}".`);
    return null;
  }
  const isOther = existing !== null && !isOfKind(existing.monitor, wanted);
  if (isOther && !wanted.replace) {
    const { kind } = existing.monitor;
    const to = wanted.kind === "vpn" ? "a tunnel" : wanted.kind;
    plan.refuse(
      "monitor",
      wanted.key,
      [...path, "type"],
      `type ${kind} → ${to} cannot be changed: it would be removed with its results and incidents, and made anew. Say so with replace: true.`,
    );
    return null;
  }
  const now = isOther ? null : existing;
  const common = { wanted, existing: now, replaces: isOther ? existing : null };
  return wanted.kind === "vpn" ? draftedTunnel(plan, common) : draftedUptime(plan, common);
}

function isOfKind({ kind }: Monitor, wanted: WantedMonitor): boolean {
  return wanted.kind === "vpn" ? familyOf(kind) === "tunnel" : kind === wanted.kind;
}

type Common = Pick<Planned, "wanted" | "existing" | "replaces">;

function draftedTunnel(plan: DraftPlan, common: Common): Planned {
  const { wanted, existing } = common;
  const draft =
    existing === null
      ? draftOfNewTunnel({ ...wanted.body, name: wanted.name })
      : draftOfTunnelChange(
          existing.monitor.kind as TunnelProtocol,
          openTunnel(plan.api, existing.monitor),
          wanted.body,
        );
  const protocol = draft.tunnel?.protocol ?? (existing?.monitor.kind as TunnelProtocol);
  const { names } = knownFieldsOf(protocol);
  for (const field of Object.keys(wanted.body))
    if (!names.has(field)) plan.wrong(["monitors", wanted.key, field], `${field} is not for ${protocol}.`);
  return { ...common, uptime: null, tunnel: draft, targets: draft.tunnel?.endpoints ?? [], website: null };
}

function draftedUptime(plan: DraftPlan, common: Common): Planned {
  const { wanted, existing } = common;
  const kind = wanted.kind as UptimeKind;
  if (existing !== null) knowAddress(plan, wanted, existing);
  const whole = existing === null ? null : wholeTarget(plan.api, existing.monitor);
  const body = withWholeUrl(kind, wanted.body, whole);
  const draft = whole === null ? draftOfNew(kind, { ...body, name: wanted.name }) : draftOfChange(whole, kind, body);
  const target = draft.settings === undefined ? null : targetOf(kind, draft.settings);
  const host = draft.settings === undefined ? existing?.monitor.host : target?.host;
  const website = isWebsite(kind) ? (host ?? null) : null;
  return { ...common, uptime: { kind, draft }, tunnel: null, targets: target === null ? [] : [target], website };
}

class MonitorPlanner {
  readonly #plan: DraftPlan;
  readonly #monitors: ReadonlyMap<number, MonitorOfProject>;
  readonly #expiry: ExpiryByHost;
  readonly #judge: TargetJudge;
  /** Keys of those that are new. */
  readonly made: string[] = [];
  /** Of monitors that the document has. */
  readonly #met = new Set<number>();
  /** Of heartbeats that are there, and of those of the document that came before. */
  #takenTokens = new Set<string>();
  #freeSlots = Number.POSITIVE_INFINITY;
  #usedSlots = 0;

  constructor(
    plan: DraftPlan,
    around: {
      readonly monitors: ReadonlyMap<number, MonitorOfProject>;
      readonly expiry: ExpiryByHost;
      /** Of what was drafted. */
      readonly judge: TargetJudge;
    },
  ) {
    this.#plan = plan;
    this.#monitors = around.monitors;
    this.#expiry = around.expiry;
    this.#judge = around.judge;
  }

  /** @param staying are met, and stay as they are unless they are planned, too */
  async plan(planned: readonly Planned[], staying: readonly Staying[], document: Document): Promise<void> {
    for (const { existing } of staying) this.#met.add(existing.monitor.id);
    const again = new Set(planned.map(({ wanted }) => wanted.key));
    this.#plan.unchanged += staying.filter(({ wanted }) => !again.has(wanted.key)).length;
    for (const { existing, replaces } of planned) {
      const met = existing ?? replaces;
      if (met !== null) this.#met.add(met.monitor.id);
    }
    await this.#plan.slices.rest();
    this.#leave(new Set(Object.keys(document.monitors ?? {})));
    await this.#plan.slices.rest();
    await this.#countSlots();
    const refused = await this.#judge.refused();
    const tokens = await this.#tokens(planned);
    for (const one of planned) {
      await this.#plan.slices.rest();
      await this.#one(one, refused, tokens);
    }
    await this.#plan.slices.rest();
    this.#shareExpiry();
  }

  /** What the document had and has no more. */
  #leave(keys: ReadonlySet<string>): void {
    const plan = this.#plan;
    for (const thing of plan.thingsOf("monitor")) {
      if (keys.has(thing.key) || !plan.isOurs(thing)) continue;
      const found = this.#monitors.get(thing.thingId);
      if (found === undefined) continue;
      const { id, name } = found.monitor;
      const about = { kind: "monitor", key: thing.key, id: formatId("server", id), name, fields: [] } as const;
      if (plan.options.prune) {
        plan.changes.push({ act: "remove", ...about, note: "its results and incidents go with it" });
        plan.monitors.remove.push({ id, version: found.generation });
      } else if (!this.#met.has(id)) {
        plan.changes.push({ act: "release", ...about, note: "no longer in the document: it stays as it is" });
        plan.release.push({ kind: "monitor", key: thing.key });
      }
    }
  }

  async #countSlots(): Promise<void> {
    const { api, call, monitors } = this.#plan;
    const slots = call.plan.tunnelSlots;
    if (slots === null) return;
    this.#usedSlots = await api.controlPlane.monitors.slotsUsed(call.project.organizationId);
    const freed = monitors.remove.filter(({ id }) => this.#takesSlot(id)).length;
    this.#freeSlots = slots - this.#usedSlots + freed;
  }

  #takesSlot(id: number): boolean {
    const monitor = this.#monitors.get(id)?.monitor;
    return monitor !== undefined && familyOf(monitor.kind) === "tunnel" && !monitor.pauseReasons.includes("plan");
  }

  async #tokens(planned: readonly Planned[]): Promise<ReadonlyMap<number, string>> {
    const fresh = planned.flatMap(({ wanted: { token }, existing }) =>
      token === null || existing !== null ? [] : [hashToken(token)],
    );
    this.#takenTokens = new Set(await this.#plan.api.controlPlane.documents.takenTokens(fresh));
    const ids = planned.flatMap(({ wanted, existing }) =>
      wanted.token === null || existing === null ? [] : [existing.monitor.id],
    );
    return this.#plan.api.controlPlane.documents.tokenHashes(ids);
  }

  async #one(
    one: Planned,
    refusedByTarget: ReadonlyMap<string, string>,
    tokens: ReadonlyMap<number, string>,
  ): Promise<void> {
    const { wanted, existing } = one;
    try {
      for (const target of one.targets) {
        const why = refusedByTarget.get(targetKey(target));
        if (why !== undefined) throw new ApiError(422, why);
      }
      await this.#refuse(one, tokens);
      if (existing === null) this.#create(one);
      else this.#change(one, existing);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      this.#plan.refuse("monitor", wanted.key, ["monitors", wanted.key], error.message);
    }
  }

  /** State and plan, as single requests ask for them. @throws ApiError */
  async #refuse(one: Planned, tokens: ReadonlyMap<number, string>): Promise<void> {
    const { wanted, existing, uptime, tunnel } = one;
    const { api, call } = this.#plan;
    if (uptime !== null && uptime.draft.settings !== undefined)
      await refuseBesideOlder(api, uptime.kind, uptime.draft.settings);
    const draft = uptime?.draft ?? tunnel ?? {};
    if (existing === null && call.workspace.suspended) throw refusal("noMonitorsOnPlan");
    if (existing !== null) refuseResume(draft, existing, call);
    refuseShort(draft, call.plan);
    requireLocationsOnPlan(wanted.locations.locations, call.plan);
    if (wanted.token === null) return;
    if (existing === null) {
      const hash = hashToken(wanted.token);
      if (this.#takenTokens.has(hash)) throw refusal("tokenTaken");
      this.#takenTokens.add(hash);
    } else if (tokens.get(existing.monitor.id) !== hashToken(wanted.token)) throw refusal("tokenFixed");
  }

  #create(one: Planned): void {
    const { wanted, uptime, tunnel, replaces } = one;
    const { changes, monitors, options } = this.#plan;
    if (tunnel !== null && replaces === null) this.#takeSlot();
    if (uptime?.draft.settings !== undefined) refuseHiddenIn(uptime.kind, uptime.draft.settings);
    const { notifyOnPartial, ...places } = wanted.locations;
    const placed = Object.keys(places).length > 0 ? locationsChange(MONITOR_DEFAULTS, places) : {};
    const fields = this.#newFields(wanted, places.locations);
    const about = { kind: "monitor", key: wanted.key, name: (uptime?.draft ?? tunnel)?.name ?? "", fields } as const;
    if (replaces === null) changes.push({ act: "create", ...about, id: null });
    else {
      const id = formatId("server", replaces.monitor.id);
      changes.push({ act: "replace", ...about, id, note: "its results and incidents go with it" });
      monitors.remove.push({ id: replaces.monitor.id, version: replaces.generation });
    }
    this.#plan.cover([wanted.key, wanted.body, wanted.token, wanted.locations]);
    this.made.push(wanted.key);
    if (options.isDry) return;
    const input = { ...this.#inputOf(one), ...placed, ...(notifyOnPartial !== undefined && { notifyOnPartial }) };
    monitors.create.push({ key: wanted.key, input, marks: this.#marksOf(wanted) });
  }

  #inputOf({ wanted, uptime, tunnel, website: host }: Planned): NewMonitor {
    const { api, call } = this.#plan;
    if (tunnel !== null) return newTunnelMonitor(api, call, tunnel as NewTunnelDraft);
    if (uptime === null) throw new Error("a monitor is neither an uptime check nor a tunnel");
    const { kind } = uptime;
    const draft = uptime.draft as NewDraft;
    const token = isPassive(kind) ? (wanted.token ?? newToken()) : null;
    const expiry = { ...draft.expiry, ...this.#expiry.wantedOf(host) };
    return newUptimeMonitor(api, call, kind, { ...draft, expiry }, { shared: this.#expiry.sharedOf(host), token });
  }

  #takeSlot(): void {
    if (this.#freeSlots < 1) {
      const slots = this.#plan.call.plan.tunnelSlots;
      throw new ApiError(403, `Tunnel limit reached (${this.#usedSlots}/${slots}).`);
    }
    this.#freeSlots -= 1;
  }

  #change(one: Planned, existing: Existing): void {
    const plan = this.#plan;
    const { wanted } = one;
    const change = this.#changeOf(one, existing);
    const { monitor } = existing;
    const { monitor: after, fields, turned, isChanged } = changeMonitor(monitor, change, plan.call.nowMs);
    const names = turned === null ? fields : [...fields, "active"];
    const isTaken = existing.act === "adopt";
    if (!isChanged && !isTaken) {
      plan.unchanged += 1;
      return;
    }
    const thing = plan.thing("monitor", wanted.key);
    // What nothing else has changed has not drifted.
    const marks = thing !== undefined && !isAsApplied(thing, existing) ? thing.marks : null;
    plan.changes.push({
      act: existing.act,
      kind: "monitor",
      key: wanted.key,
      id: formatId("server", monitor.id),
      name: after.name,
      fields: names.map((field) => this.#fieldChange(field, { before: monitor, after, wanted, marks })),
    });
    plan.cover([wanted.key, wanted.body, wanted.locations]);
    if (plan.options.isDry) return;
    const managed = { key: wanted.key, marks: this.#marksOf(wanted) };
    plan.monitors.change.push({
      id: monitor.id,
      version: existing.generation,
      change: isChanged ? change : null,
      managed,
    });
  }

  #changeOf({ wanted, uptime }: Planned, existing: Existing): MonitorChange {
    const { api } = this.#plan;
    const { monitor } = existing;
    const change =
      uptime === null ? tunnelChange(api, existing, wanted.body) : uptimeChange(api, existing, uptime.draft, {});
    const { notifyOnPartial, ...locations } = wanted.locations;
    const { sslExpirationDays: _, domainExpirationDays: __, ...others } = change;
    const { host = monitor.host, settings = monitor.settings } = others;
    return {
      ...others,
      ...(uptime !== null && this.#expiry.changeOf({ kind: monitor.kind, host, settings }, uptime.draft)),
      ...(Object.keys(locations).length > 0 && locationsChange(monitor, locations)),
      ...(notifyOnPartial !== undefined && { notifyOnPartial }),
    };
  }

  #fieldChange(
    field: string,
    {
      before,
      after,
      wanted,
      marks,
    }: {
      readonly before: Monitor;
      readonly after: Monitor;
      readonly wanted: WantedMonitor;
      /** null: it is as it was applied. */
      readonly marks: Marks | null;
    },
  ): FieldChange {
    const applied = marks?.[field];
    const isDrift = applied !== undefined && applied === this.#plan.mark(field, valueIn(wanted, field));
    const drift = isDrift ? { drift: true as const } : {};
    if (field === "active") return { field, from: isActive(before), to: isActive(after), ...drift };
    const [from, to] = [shownValue(before, field), shownValue(after, field)];
    if (from === to || JSON.stringify(from) === JSON.stringify(to)) return { field, secret: true, ...drift };
    return { field, from: shortened(from), to: shortened(to), ...drift };
  }

  /** What the document says of a new monitor, without its secrets. */
  #newFields(wanted: WantedMonitor, locations: readonly string[] | undefined): readonly FieldChange[] {
    const secrets = wanted.kind === "vpn" ? null : new Set(uptimeOf(wanted.kind as UptimeKind).secretFields ?? []);
    const fields = Object.entries(wanted.body).flatMap(([field, value]): FieldChange[] => {
      if (field === "name" || (field === "type" && wanted.kind === "vpn")) return [];
      if (field === "url" && typeof value === "string" && secrets !== null)
        return [{ field, to: displayAddress(value) }];
      const isOpen = PLAIN.has(field) || (secrets !== null && !secrets.has(field));
      return [isOpen ? { field, to: shortened(value) } : { field, secret: true }];
    });
    const places = locations === undefined ? [] : [{ field: "locations", to: locations }];
    return [...fields, ...places, ...(wanted.token === null ? [] : [{ field: "token", secret: true as const }])];
  }

  #marksOf(wanted: WantedMonitor) {
    const { locations, disabledLocations, notifyOnPartial } = wanted.locations;
    const marks = this.#plan.marks({
      ...wanted.body,
      ...(locations !== undefined && { locations }),
      ...(disabledLocations !== undefined && { disabled_locations: disabledLocations }),
      ...(notifyOnPartial !== undefined && { notify_on_partial: notifyOnPartial }),
    });
    return { ...marks, [WHOLE_MARK]: wholeMark(this.#plan, wanted) };
  }

  /** Website checks of one host have the same expiry settings, also those that no document has. */
  #shareExpiry(): void {
    const plan = this.#plan;
    const removed = new Set(plan.monitors.remove.map(({ id }) => id));
    for (const { monitor, generation } of this.#monitors.values()) {
      if (this.#met.has(monitor.id) || removed.has(monitor.id) || !isWebsite(monitor.kind)) continue;
      const change = this.#expiry.shareOf(monitor);
      const { fields, isChanged, monitor: after } = changeMonitor(monitor, change, plan.call.nowMs);
      if (!isChanged) continue;
      const id = formatId("server", monitor.id);
      plan.changes.push({
        act: "change",
        kind: "monitor",
        key: id,
        id,
        name: monitor.name,
        fields: fields.map((field) => ({ field, from: shownValue(monitor, field), to: shownValue(after, field) })),
        note: `checks of ${monitor.host} share it`,
      });
      plan.monitors.change.push({ id: monitor.id, version: generation, change, managed: null });
    }
  }
}
