/** Expiry settings belong to the host: all website checks of a project on it have the same ones (docs/api-contract.md#uptime-fields). */
import { isWebsite, type UptimeKind } from "../../model/kind.ts";
import type { Monitor } from "../../model/monitor.ts";
import type { MonitorOfProject } from "../../store/sql/documents/port.ts";
import type { MonitorChange } from "../../store/sql/monitors/port.ts";
import { type Draft, type Expiry, hasField, seesCertificate } from "../monitors/draft.ts";
import { isUptimeKind } from "../monitors/fields.ts";
import type { DraftPlan } from "./draft-plan.ts";

const FIELDS = [
  ["sslExpirationDays", "ssl_expiration"],
  ["domainExpirationDays", "domain_expiration"],
] as const;

interface Wanted {
  readonly value: number | null;
  /** Of the check that says so. */
  readonly key: string;
}

export class ExpiryByHost {
  readonly #plan: DraftPlan;
  readonly #wanted = new Map<string, Map<string, Wanted>>();
  readonly #shared = new Map<string, Required<Expiry>>();

  constructor(plan: DraftPlan, monitors: Iterable<MonitorOfProject>) {
    this.#plan = plan;
    for (const { monitor } of monitors) {
      if (!isWebsite(monitor.kind) || monitor.host === null) continue;
      const { sslExpirationDays, domainExpirationDays } = monitor;
      const known = this.#shared.get(monitor.host);
      // An http address cannot have certificate days, so the check that has most says it.
      if (known === undefined || days(known) < days(monitor))
        this.#shared.set(monitor.host, { sslExpirationDays, domainExpirationDays });
    }
  }

  /**
   * What one check of the document says. Checks of one host must agree.
   * @returns false when it says something else than one before, and is refused
   */
  add(key: string, draft: Pick<Draft, "expiry"> | undefined, host: string | null): boolean {
    if (draft === undefined || host === null) return true;
    const known = this.#wanted.get(host) ?? new Map<string, Wanted>();
    const said = FIELDS.flatMap(([member, field]) => {
      const value = draft.expiry[member];
      return value === undefined ? [] : [{ member, field, value }];
    });
    const others = said.filter(({ member, value }) => known.has(member) && known.get(member)?.value !== value);
    for (const { member, field, value } of others) {
      const other = known.get(member);
      const message = `${field} belongs to the host: ${other?.key} has ${other?.value ?? "it off"} for ${host}, ${key} has ${value ?? "it off"}.`;
      this.#plan.refuse("monitor", key, ["monitors", key, field], message);
    }
    if (others.length > 0) return false;
    for (const { member, value } of said) if (!known.has(member)) known.set(member, { value, key });
    if (known.size > 0) this.#wanted.set(host, known);
    return true;
  }

  wantedOf(host: string | null): Expiry {
    const wanted = host === null ? undefined : this.#wanted.get(host);
    return wanted === undefined ? {} : Object.fromEntries([...wanted].map(([member, { value }]) => [member, value]));
  }

  sharedOf(host: string | null): Required<Expiry> | null {
    return (host === null ? undefined : this.#shared.get(host)) ?? null;
  }

  /** @param after the monitor with its new settings and host */
  changeOf(after: Pick<Monitor, "kind" | "host" | "settings">, draft: Draft): MonitorChange {
    const { kind, host } = after;
    if (!isUptimeKind(kind)) return {};
    const isMoved = isWebsite(kind) && draft.settings !== undefined && host !== null;
    const wanted = isWebsite(kind)
      ? { ...(isMoved ? this.sharedOf(host) : null), ...this.wantedOf(host) }
      : draft.expiry;
    return applicable(kind, after.settings, wanted);
  }

  /** Whether a check that stays as it is gets other settings of its host. */
  moves(monitor: Monitor): boolean {
    if (!isWebsite(monitor.kind)) return false;
    const change = this.shareOf(monitor);
    return FIELDS.some(([member]) => change[member] !== undefined && change[member] !== monitor[member]);
  }

  /** Of a check that the document does not have. */
  shareOf(monitor: Monitor): MonitorChange {
    return applicable(monitor.kind as UptimeKind, monitor.settings, this.wantedOf(monitor.host));
  }
}

function days({ sslExpirationDays, domainExpirationDays }: Required<Expiry>): number {
  return (sslExpirationDays ?? 0) + (domainExpirationDays ?? 0);
}

/** What the check has no use for it does not get. */
function applicable(kind: UptimeKind, settings: Monitor["settings"], wanted: Expiry): MonitorChange {
  const { sslExpirationDays: ssl, domainExpirationDays: domain } = wanted;
  return {
    ...(ssl !== undefined && seesCertificate(kind, settings) && { sslExpirationDays: ssl }),
    ...(domain !== undefined && hasField(kind, "domain_expiration") && { domainExpirationDays: domain }),
  };
}
