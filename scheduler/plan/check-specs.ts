/** Makes the parts of a check: its spec for the probers, and the limits that it must pass. */
import type { CheckSpec } from "../../engine/contract/messages.ts";
import type { ConcurrencyLimit, ConcurrencyLimits } from "../../engine/limits/concurrency.ts";
import type { Caps } from "../../model/caps.ts";
import type { Kind } from "../../model/kind.ts";
import type { Monitor } from "../../model/monitor.ts";
import { timeoutMsOf } from "../../model/schedule.ts";
import type { CheckInput, ReadInput } from "./check-inputs.ts";
import type { Run } from "./planned-check.ts";

/** Caps of the limits that are shared by name. */
export type LimitSizes = Pick<Caps, "perHost" | "perWorkspace">;

/** A config that no monitor stands for. */
export interface OneOffConfig {
  readonly kind: Kind;
  readonly settings: Monitor["settings"];
  readonly identity: string | null;
  readonly timeoutMs: number;
  readonly host: string | null;
  readonly organizationId: number;
  readonly isPublic: boolean;
}

export interface Specified {
  readonly spec: CheckSpec;
  readonly identity: string | null;
  readonly limits: readonly ConcurrencyLimit<Run>[];
}

export class CheckSpecs {
  readonly #limits: ConcurrencyLimits<Run>;
  readonly #sizes: LimitSizes;
  readonly #read: ReadInput;
  #lastKey = 0;

  constructor(limits: ConcurrencyLimits<Run>, sizes: LimitSizes, read: ReadInput) {
    this.#limits = limits;
    this.#sizes = sizes;
    this.#read = read;
  }

  ofMonitor(monitor: Monitor): Specified {
    const { kind, organizationId, host, subscriptionId, subscriptionWorkers } = monitor;
    const input = this.#read(monitor);
    const subscription =
      subscriptionId === null || subscriptionWorkers === undefined
        ? null
        : this.#limits.of(`subscription ${subscriptionId}`, subscriptionWorkers);
    return {
      spec: this.#specOf(kind, timeoutMsOf(monitor), organizationId, input),
      identity: input.identity,
      limits: this.#limitsOf(host, organizationId, subscription, input.identity),
    };
  }

  ofConfig({ kind, settings, identity, timeoutMs, host, organizationId, isPublic }: OneOffConfig): Specified {
    const spec = this.#specOf(kind, timeoutMs, organizationId, { settings, identity });
    return {
      spec: isPublic ? { ...spec, isPublic } : spec,
      identity,
      limits: this.#limitsOf(host, organizationId, null, identity),
    };
  }

  /** The narrowest limit comes first. A check that waits there takes no place of the other limits. */
  #limitsOf(
    host: string | null,
    workspace: number,
    subscription: ConcurrencyLimit<Run> | null,
    identity: string | null,
  ): readonly ConcurrencyLimit<Run>[] {
    const limits = [this.#limits.of(`workspace ${workspace}`, this.#sizes.perWorkspace)];
    if (host !== null) limits.unshift(this.#limits.of(`host ${host}`, this.#sizes.perHost));
    if (subscription !== null) limits.unshift(subscription);
    if (identity !== null) limits.unshift(this.#limits.of(`identity ${identity}`, 1));
    return limits;
  }

  #specOf(kind: Kind, timeoutMs: number, workspace: number, { settings, configs, fault }: CheckInput): CheckSpec {
    this.#lastKey += 1;
    return {
      key: this.#lastKey,
      kind,
      settings,
      timeoutMs,
      workspace,
      ...(configs !== undefined && { configs }),
      ...(fault !== undefined && { fault }),
    };
  }
}
