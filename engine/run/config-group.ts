/**
 * One check of a monitor that stands for many configs: each config runs as a check of its own kind, all at the same time under one deadline.
 * The check ends when the last of them ends (docs/api-contract.md#subscriptions). A config that hangs does not change the outcomes of the others.
 */
import { mergeConfigs, type RunOfConfig } from "../../model/configs.ts";
import type { CheckOutcome } from "../../model/result.ts";
import type { Verdict } from "../../model/verdict.ts";
import type { CheckRun } from "../contract/messages.ts";
import type { AnyProbe } from "../contract/registry.ts";
import { DeadlineLink } from "./deadlines.ts";
import { type RunEnvironment, RunningCheck } from "./run.ts";

/** A config that is ready to run, or the reason why it cannot run. */
export interface ReadyConfig {
  readonly id: number;
  readonly probe: AnyProbe | null;
  readonly settings: unknown;
  readonly refusal: { readonly verdict: Verdict; readonly message: string } | null;
}

export class ConfigGroup extends DeadlineLink {
  readonly run: CheckRun;
  readonly startedAtMs: number;
  readonly startedAt: number;
  endedAt = 0;
  readonly #environment: RunEnvironment;
  readonly #done: (group: ConfigGroup, outcome: CheckOutcome) => void;
  readonly #configs: readonly ReadyConfig[];
  readonly #checks: readonly RunningCheck[];
  readonly #outcomes = new Map<RunningCheck, CheckOutcome>();

  /** @param done called once, also synchronously from start() */
  constructor(
    run: CheckRun,
    timeoutMs: number,
    configs: readonly ReadyConfig[],
    environment: RunEnvironment,
    workspace: number,
    done: (group: ConfigGroup, outcome: CheckOutcome) => void,
  ) {
    super();
    this.run = run;
    this.#environment = environment;
    this.#done = done;
    this.#configs = configs;
    this.startedAtMs = environment.wallNowMs();
    this.startedAt = environment.now();
    const configEnvironment: RunEnvironment = { ...environment, done: (check, outcome) => this.#end(check, outcome) };
    this.#checks = configs.map(({ id }) => new RunningCheck(run, timeoutMs, configEnvironment, workspace, id));
  }

  start(): void {
    for (const [index, check] of this.#checks.entries()) {
      const config = this.#configs[index];
      if (config?.probe === null || config === undefined) {
        check.refuse(config?.refusal?.verdict ?? "unsupported", config?.refusal?.message ?? "");
      } else {
        check.start(config.probe, config.settings);
      }
    }
  }

  cancel(): void {
    for (const check of this.#checks) check.cancel();
  }

  expire(): void {
    for (const check of this.#checks) check.expire();
  }

  giveUp(): void {
    for (const check of this.#checks) check.giveUp();
  }

  #end(check: RunningCheck, outcome: CheckOutcome): void {
    this.#outcomes.set(check, outcome);
    if (this.#outcomes.size < this.#checks.length) return;
    this.endedAt = this.#environment.now();
    this.#done(this, this.#merged());
  }

  #merged(): CheckOutcome {
    const runs: RunOfConfig[] = [];
    for (const [index, check] of this.#checks.entries()) {
      const outcome = this.#outcomes.get(check);
      const configId = this.#configs[index]?.id;
      if (outcome !== undefined && configId !== undefined) runs.push({ configId, outcome });
    }
    const latenessMs = Math.max(0, this.startedAtMs - this.run.dueAtMs);
    const durationMs = Math.round(this.endedAt - this.startedAt);
    return { ...mergeConfigs(runs), startedAtMs: this.startedAtMs, latenessMs, durationMs };
  }
}
