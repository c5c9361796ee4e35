/**
 * A prober: owns its sockets, takes runs from a MessagePort and sends outcomes back over it as they happen, many in one message.
 * One turn of its event loop starts a bounded number of checks, so that a burst of starts does not delay reading the answers.
 */
import type { EventLoopUtilization } from "node:perf_hooks";
import { IdTable } from "../../model/id-table.ts";
import { familyOf } from "../../model/kind.ts";
import type { CheckOutcome } from "../../model/result.ts";
import type { CheckRun, CheckSpec, ConfigSpec, FromProber, ToProber } from "../contract/messages.ts";
import type { ProbeContext } from "../contract/probe.ts";
import type { ProbeList } from "../contract/registry.ts";
import { ConfigGroup, type ReadyConfig } from "../run/config-group.ts";
import { Deadlines } from "../run/deadlines.ts";
import { type RunEnvironment, RunningCheck } from "../run/run.ts";
import { StartQueue } from "../run/start-queue.ts";
import type { Transport } from "../transport/transport.ts";
import { Fitness, TICK_MS } from "./fitness.ts";
import { LoopShare } from "./loop-share.ts";
import { packOutcomes, unpackRuns } from "./packed.ts";

/** Its side of a MessagePort. */
export interface ProberPort {
  postMessage(message: FromProber): void;
  on(event: "message", listener: (message: ToProber) => void): unknown;
  on(event: "close", listener: () => void): unknown;
  close(): void;
}

/** Everything a prober takes from the outside world. */
export interface ProberDeps {
  readonly port: ProberPort;
  readonly probes: ProbeList;
  readonly transport: Transport;
  /** For checks of anonymous callers; absent: `transport`. */
  readonly publicTransport?: Transport | undefined;
  readonly now: () => number;
  readonly wallNowMs: () => number;
  readonly randomBytes: (sizeBytes: number) => Uint8Array;
  readonly domainExpiresAtMs?: ProbeContext["domainExpiresAtMs"];
  readonly outbounds?: ProbeContext["outbounds"];
  readonly keyOpener?: ProbeContext["keyOpener"];
  readonly textJudge?: ProbeContext["textJudge"];
  readonly verifier?: ProbeContext["verifier"];
  readonly utilization: (since?: EventLoopUtilization) => EventLoopUtilization;
  /** Proof of life, every TICK_MS. */
  readonly beat: () => void;
  /** Names the check that is about to do something, and which of its configs; 0: it has none. */
  readonly touch: (checkId: number, configId: number) => void;
  /** Processor time that its thread has spent, ms; absent: it is not measured which check holds the thread. */
  readonly cpuMs?: () => number;
  /** It is isolated: it runs one check at a time, and reports its processor time with the outcome. */
  readonly isAside?: boolean;
  readonly maxInFlight?: number;
}

/** Beyond this a prober queues: well below the usual hard limit of 1,048,576 descriptors, and of ports per target (28,232). */
const MAX_IN_FLIGHT = 8_192;
/** Checks started in one turn of the event loop, as long as that is about 2 ms of work: a tunnel's start is several uptime checks'. */
const STARTS_PER_TURN = 32;
const STARTING_MS_PER_TURN = 2;
/** Under load results are sent in messages at least this far apart, ms; the first after a quiet moment goes at the end of its turn. */
const FLUSH_EVERY_MS = 2;
/** The same for passes that no caller waits for: a message costs both threads about as much as a check. */
const FLUSH_PATIENT_EVERY_MS = 20;
const REPORT_EVERY_MS = 1_000;
/** How often a prober without checks proves that it lives, ms: half of the silence that is borne (../pool/silence.ts). */
const RESTING_TICK_MS = 1_000;

/** A spec with its settings parsed once. */
interface Compiled extends Omit<ReadyConfig, "id"> {
  readonly timeoutMs: number;
  readonly isPublic: boolean;
  readonly isTunnel: boolean;
  readonly workspace: number;
  /** The configs of a monitor that has many; null: it is one check. */
  readonly configs: readonly ReadyConfig[] | null;
}

type Running = RunningCheck | ConfigGroup;

export class Prober {
  /** Settles when the prober has ended every check and closed its port. */
  readonly stopped: Promise<void>;
  readonly #deps: ProberDeps;
  readonly #environment: RunEnvironment;
  readonly #publicEnvironment: RunEnvironment;
  readonly #fitness: Fitness;
  readonly #share: LoopShare;
  readonly #cpuMs: () => number;
  /** When the run of a prober set aside began. */
  #startedCpuMs = 0;
  readonly #specs = new Map<number, Compiled>();
  readonly #startQueue = new StartQueue<CheckRun>();
  readonly #inFlight = new IdTable<Running>();
  /** Checks in flight, each config of a monitor of many counted. */
  #load = 0;
  readonly #deadlines = new Deadlines<Running>();
  readonly #maxInFlight: number;
  #ticker: NodeJS.Timeout;
  #isResting = false;
  #deadlineTimer: NodeJS.Timeout | null = null;
  #deadlineTimerAtMs = Number.POSITIVE_INFINITY;
  #outcomes: CheckOutcome[] = [];
  #flushTimer: NodeJS.Timeout | undefined;
  /** When the outcomes are sent that wait; infinite: none does. */
  #flushAtMs = Number.POSITIVE_INFINITY;
  #flushedAtMs = 0;
  #starting = false;
  #reportedAtMs: number;
  #utilization: EventLoopUtilization;
  #stopping = false;
  #settleStopped: () => void = () => {};

  constructor(deps: ProberDeps) {
    this.#deps = deps;
    this.#maxInFlight = deps.maxInFlight ?? MAX_IN_FLIGHT;
    this.#environment = {
      transport: deps.transport,
      now: deps.now,
      wallNowMs: deps.wallNowMs,
      randomBytes: deps.randomBytes,
      domainExpiresAtMs: deps.domainExpiresAtMs,
      outbounds: deps.outbounds,
      keyOpener: deps.keyOpener,
      textJudge: deps.textJudge,
      verifier: deps.verifier,
      touch: (run, configId, nowMs) => {
        deps.touch(run.checkId, configId);
        this.#share.mark(run.specKey, nowMs);
      },
      inFlight: () => this.#load,
      done: (check, outcome) => this.#end(check, outcome),
    };
    this.#publicEnvironment = { ...this.#environment, transport: deps.publicTransport ?? deps.transport };
    const nowMs = deps.now();
    this.#fitness = new Fitness(nowMs);
    this.#cpuMs = deps.cpuMs ?? (() => 0);
    this.#share = new LoopShare(nowMs, this.#cpuMs, (holds) => {
      if (deps.isAside !== true) deps.port.postMessage({ type: "held", holds });
    });
    this.#reportedAtMs = nowMs;
    this.#utilization = deps.utilization();
    this.stopped = new Promise((resolve) => {
      this.#settleStopped = resolve;
    });
    this.#ticker = setInterval(() => this.#tick(), TICK_MS);
    deps.port.on("message", (message) => this.#take(message));
    deps.port.on("close", () => this.#stop());
  }

  #take(message: ToProber): void {
    switch (message.type) {
      case "define":
        for (const spec of message.specs) this.#specs.set(spec.key, compile(spec, this.#deps.probes));
        return;
      case "forget":
        for (const key of message.specKeys) this.#specs.delete(key);
        return;
      case "run":
        if (this.#isResting) this.#wake();
        for (const run of unpackRuns(message.runs)) {
          this.#startQueue.add(run, run.alone, this.#specs.get(run.specKey)?.isTunnel === true);
        }
        this.#startSoon();
        return;
      case "stop":
        this.#stop();
    }
  }

  /** Starts now what may start in this turn, the rest in the turns to come. */
  #startSoon(): void {
    if (this.#starting || this.#stopping) return;
    this.#starting = true;
    const untilMs = this.#deps.now() + STARTING_MS_PER_TURN;
    for (let started = 0; this.#mayStart(started, untilMs); ) {
      const run = this.#startQueue.take(this.#inFlight.size, this.#deps.now());
      if (run === undefined) {
        this.#starting = false;
        return;
      }
      this.#start(run);
      started += this.#weightOf(run);
    }
    setImmediate(() => {
      this.#starting = false;
      if (this.#startQueue.waiting > 0 && this.#load < this.#maxInFlight) this.#startSoon();
    });
  }

  #mayStart(started: number, untilMs: number): boolean {
    if (started >= STARTS_PER_TURN || this.#load >= this.#maxInFlight) return false;
    return started === 0 || this.#deps.now() < untilMs;
  }

  #weightOf({ specKey }: CheckRun): number {
    return this.#specs.get(specKey)?.configs?.length ?? 1;
  }

  #start(run: CheckRun): void {
    const spec = this.#specs.get(run.specKey);
    const environment = spec?.isPublic === true ? this.#publicEnvironment : this.#environment;
    const workspace = spec?.workspace ?? 0;
    const timeoutMs = spec?.timeoutMs ?? 0;
    const configs = spec?.configs ?? null;
    const check =
      configs === null
        ? new RunningCheck(run, timeoutMs, environment, workspace)
        : new ConfigGroup(run, timeoutMs, configs, environment, workspace, (group, outcome) =>
            this.#end(group, outcome),
          );
    if (this.#deps.isAside === true) this.#startedCpuMs = this.#cpuMs();
    this.#inFlight.set(run.checkId, check);
    this.#load += configs?.length ?? 1;
    this.#fitness.started(Math.max(0, check.startedAtMs - run.dueAtMs));
    if (check instanceof ConfigGroup) {
      this.#setDeadline(check, timeoutMs);
      check.start();
    } else if (spec === undefined) {
      check.refuse("internal-error", "The prober was asked to run a check it does not know");
    } else if (spec.probe === null) {
      check.refuse(spec.refusal?.verdict ?? "unsupported", spec.refusal?.message ?? "");
    } else {
      this.#setDeadline(check, timeoutMs);
      check.start(spec.probe, spec.settings);
    }
  }

  #setDeadline(check: Running, timeoutMs: number): void {
    this.#deadlines.add(check, timeoutMs, check.startedAt);
    if (check.expiresAtMs < this.#deadlineTimerAtMs) this.#setDeadlineTimer(check.expiresAtMs, check.startedAt);
  }

  #end(check: Running, outcome: CheckOutcome): void {
    if (this.#inFlight.take(check.run.checkId) !== undefined) this.#load -= outcome.configs?.length ?? 1;
    this.#deadlines.remove(check);
    // When checks that hold the thread end one after the other, the event loop does not turn although nothing hangs; so beat here, too.
    if (this.#share.mark(check.run.specKey, check.endedAt)) this.#deps.beat();
    this.#fitness.ended(outcome.verdict === "unfit");
    const isPlainPass = outcome.verdict === "ok" && outcome.configs === undefined;
    const judged = isPlainPass ? outcome : this.#judged(check, outcome);
    this.#outcomes.push(this.#deps.isAside === true ? { ...judged, heldMs: this.#heldMs() } : judged);
    if (check.run.alone) this.#flush();
    else this.#flushSoon(isPlainPass && check.run.isPatient === true, check.endedAt);
    if (this.#startQueue.waiting > 0) this.#startSoon();
  }

  #heldMs(): number {
    return Math.round(this.#cpuMs() - this.#startedCpuMs);
  }

  /** A failure that overlaps a time in which this prober was unfit proves nothing about its target; the same holds for each config. */
  #judged(check: Running, outcome: CheckOutcome): CheckOutcome {
    // The loop may read sockets before the ticker runs: the stall must be known before it is asked for.
    this.#fitness.turn(check.endedAt);
    const excused = <Judged extends Pick<CheckOutcome, "verdict" | "message">>(one: Judged): Judged => {
      const excuse = this.#fitness.excuse(one.verdict, check.startedAt, check.endedAt);
      if (excuse === undefined) return one;
      return { ...one, verdict: "unfit", message: `This checker was unfit: ${excuse} (${one.message})` };
    };
    const judged = outcome.verdict === "ok" ? outcome : excused(outcome);
    if (outcome.configs === undefined) return judged;
    return { ...judged, configs: outcome.configs.map((one) => (one.verdict === "ok" ? one : excused(one))) };
  }

  #setDeadlineTimer(atMs: number, nowMs: number): void {
    if (this.#deadlineTimer !== null) clearTimeout(this.#deadlineTimer);
    this.#deadlineTimerAtMs = atMs;
    this.#deadlineTimer = setTimeout(() => this.#drainThenExpire(), Math.max(1, Math.ceil(atMs - nowMs)));
  }

  /**
   * Timers run before sockets are read, so after a stall answers that have arrived long ago would become time-outs. A deadline is
   * believed only after two full poll phases: the first reads what had arrived, the second what that set off.
   */
  #drainThenExpire(): void {
    const nowMs = this.#deps.now();
    this.#fitness.turn(nowMs);
    setImmediate(() => setImmediate(() => this.#expire(nowMs)));
  }

  #expire(dueMs: number): void {
    const due = this.#deadlines.takeDue(dueMs);
    for (const check of due) check.expire();
    setImmediate(() => {
      for (const check of due) check.giveUp();
    });
    this.#deadlineTimerAtMs = Number.POSITIVE_INFINITY;
    const nextAtMs = this.#deadlines.nextAtMs();
    if (nextAtMs !== undefined) this.#setDeadlineTimer(nextAtMs, this.#deps.now());
  }

  #flushSoon(isPatient: boolean, nowMs: number): void {
    const apartMs = isPatient ? FLUSH_PATIENT_EVERY_MS : FLUSH_EVERY_MS;
    const delayMs = nowMs - this.#flushedAtMs >= apartMs ? 0 : apartMs;
    if (nowMs + delayMs >= this.#flushAtMs) return;
    clearTimeout(this.#flushTimer);
    this.#flushAtMs = nowMs + delayMs;
    if (delayMs === 0) setImmediate(() => this.#flush());
    else this.#flushTimer = setTimeout(() => this.#flush(), delayMs);
  }

  #flush(): void {
    clearTimeout(this.#flushTimer);
    this.#flushAtMs = Number.POSITIVE_INFINITY;
    if (this.#outcomes.length === 0) return;
    const outcomes = this.#outcomes;
    this.#outcomes = [];
    this.#flushedAtMs = this.#deps.now();
    this.#deps.port.postMessage({ type: "results", ...packOutcomes(outcomes) });
  }

  #tick(): void {
    this.#deps.beat();
    const nowMs = this.#deps.now();
    if (this.#isResting) this.#fitness.resume(nowMs);
    else this.#fitness.tick(nowMs);
    this.#share.tick(nowMs);
    if (nowMs - this.#reportedAtMs >= REPORT_EVERY_MS) this.#report(nowMs);
    const mayRest = this.#inFlight.size === 0 && this.#startQueue.waiting === 0;
    if (mayRest && !this.#isResting) this.#setPace(true);
  }

  #report(nowMs: number): void {
    this.#reportedAtMs = nowMs;
    const utilization = this.#deps.utilization();
    const busy = this.#deps.utilization(this.#utilization).utilization;
    this.#utilization = utilization;
    const fitness = this.#fitness.report(nowMs, this.#inFlight.size, busy);
    this.#deps.port.postMessage({ type: "fitness", fitness });
  }

  /** Without checks only the proof of life is left, and it may come seldom: nothing is measured that a late turn could make wrong. */
  #setPace(isResting: boolean): void {
    this.#isResting = isResting;
    clearInterval(this.#ticker);
    this.#ticker = setInterval(() => this.#tick(), isResting ? RESTING_TICK_MS : TICK_MS);
  }

  #wake(): void {
    this.#setPace(false);
    const nowMs = this.#deps.now();
    this.#fitness.resume(nowMs);
    this.#share.tick(nowMs);
  }

  #stop(): void {
    if (this.#stopping) return;
    this.#stopping = true;
    clearInterval(this.#ticker);
    if (this.#deadlineTimer !== null) clearTimeout(this.#deadlineTimer);
    for (const check of this.#inFlight.values()) check.cancel();
    for (const run of this.#startQueue.takeAll()) this.#cancelWaiting(run);
    this.#flush();
    this.#deps.port.postMessage({ type: "stopped" });
    this.#deps.port.close();
    this.#settleStopped();
  }

  #cancelWaiting(run: CheckRun): void {
    new RunningCheck(run, 0, this.#environment).cancel();
  }
}

function compile(spec: CheckSpec, probes: ProbeList): Compiled {
  const { timeoutMs, workspace = 0 } = spec;
  const isPublic = spec.isPublic === true;
  const isTunnel = familyOf(spec.kind) === "tunnel";
  const configs = spec.configs?.map((config) => ({ id: config.id, ...ready(config, probes) })) ?? null;
  if (configs !== null && configs.length > 0) {
    return { timeoutMs, isPublic, isTunnel, workspace, probe: null, settings: null, refusal: null, configs };
  }
  return { timeoutMs, isPublic, isTunnel, workspace, ...ready(spec, probes), configs: null };
}

function ready({ kind, settings, fault }: Omit<ConfigSpec, "id">, probes: ProbeList): Omit<ReadyConfig, "id"> {
  const probe = Object.hasOwn(probes, kind) ? probes[kind] : undefined;
  if (probe === undefined) return refused("unsupported", `This checker cannot run ${kind} checks`);
  if (fault !== undefined) return refused("internal-error", fault);
  const parsed = probe.settings.safeParse(settings);
  if (!parsed.success) {
    const issue = parsed.error.issues[0];
    const field = issue === undefined || issue.path.length === 0 ? "settings" : issue.path.join(".");
    return refused(
      "misconfigured",
      `The monitor's settings cannot be used: ${field}: ${issue?.message ?? "not valid"}`,
    );
  }
  return { probe, settings: parsed.data, refusal: null };
}

function refused(
  verdict: "unsupported" | "misconfigured" | "internal-error",
  message: string,
): Omit<ReadyConfig, "id"> {
  return { probe: null, settings: null, refusal: { verdict, message } };
}
