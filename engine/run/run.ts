/**
 * Runs one check: times the phases, maps every error to the closed list of verdicts, yields exactly one outcome and never throws.
 * The prober keeps the deadline: it calls expire() whatever the probe is doing.
 *
 * running ──settled──▶ done
 *    ├──cancel()─────▶ done (`cancelled`); the probe's later outcome is swallowed
 *    └──expire()─────▶ expired: signal aborted, phases frozen; what the probe returns in the same turn of the event loop still counts
 *                        └──giveUp()──▶ done (`timeout`); the probe's later outcome is swallowed
 */
import {
  type CheckOutcome,
  CROWDED_HINT,
  type Explanation,
  type Phase,
  type PhaseTimes,
  type TunnelFacts,
} from "../../model/result.ts";
import { VERDICTS, type Verdict } from "../../model/verdict.ts";
import type { CheckRun } from "../contract/messages.ts";
import type { Outcome, Probe, ProbeContext } from "../contract/probe.ts";
import { type Classified, classify, plainText } from "../net/classify.ts";
import { DeadlinePassed, NetworkFault } from "../net/fault.ts";
import type { Transport } from "../transport/transport.ts";
import { DeadlineLink } from "./deadlines.ts";

/** The environment that all checks of a prober share. */
export interface RunEnvironment {
  readonly transport: Transport;
  /** Monotonic ms with a fraction. */
  readonly now: () => number;
  /** Unix ms. */
  readonly wallNowMs: () => number;
  readonly randomBytes: (sizeBytes: number) => Uint8Array;
  readonly domainExpiresAtMs?: ProbeContext["domainExpiresAtMs"];
  readonly outbounds?: ProbeContext["outbounds"];
  readonly keyOpener?: ProbeContext["keyOpener"];
  readonly textJudge?: ProbeContext["textJudge"];
  readonly verifier?: ProbeContext["verifier"];
  /**
   * Called whenever a check is about to do something: names the suspect should it block or kill its thread.
   * @param configId which of its monitor's configs; 0: it stands for itself @param nowMs by `now`
   */
  readonly touch: (run: CheckRun, configId: number, nowMs: number) => void;
  /** Checks that run here now. Absent: they are not counted. */
  readonly inFlight?: () => number;
  /** Called once per check, also synchronously from start(). */
  readonly done: (check: RunningCheck, outcome: CheckOutcome) => void;
}

/**
 * With this many other checks in flight a tunnel's measured time includes waiting that the tunnel does not cause: in our thread, in a shared
 * core, or at the server that all of them ask. From 20 to 200 in flight medians on loopback grow severalfold; our choice between them.
 */
export const CROWDED_SAMPLE_FROM = 100;

const KNOWN_VERDICTS: ReadonlySet<string> = new Set(VERDICTS);

type State = "running" | "expired" | "done";

export class RunningCheck extends DeadlineLink implements ProbeContext {
  readonly run: CheckRun;
  readonly transport: Transport;
  readonly deadlineAtMs: number;
  readonly startedAtMs: number;
  /** Monotonic ms; with endedAt the life that is compared with stalls. */
  readonly startedAt: number;
  endedAt = 0;
  readonly now: () => number;
  readonly wallNowMs: () => number;
  readonly randomBytes: (sizeBytes: number) => Uint8Array;
  readonly domainExpiresAtMs: ProbeContext["domainExpiresAtMs"];
  readonly outbounds: ProbeContext["outbounds"];
  readonly keyOpener: ProbeContext["keyOpener"];
  readonly textJudge: ProbeContext["textJudge"];
  readonly verifier: ProbeContext["verifier"];
  readonly workspace: number;

  readonly #environment: RunEnvironment;
  readonly #configId: number;
  #state: State = "running";
  #controller: AbortController | null = null;
  #abortListeners: ((fault: Error) => void)[] = [];
  #stage: Phase | null = null;
  #stageStartedAt = 0;
  #phases: PhaseTimes = {};
  #address: string | null = null;
  #peerAnswered = false;

  /** @param configId which of its monitor's configs it runs; 0: it stands for itself */
  constructor(run: CheckRun, timeoutMs: number, environment: RunEnvironment, workspace = 0, configId = 0) {
    super();
    this.run = run;
    this.#configId = configId;
    this.#environment = environment;
    this.transport = environment.transport;
    this.now = environment.now;
    this.wallNowMs = environment.wallNowMs;
    this.randomBytes = environment.randomBytes;
    this.domainExpiresAtMs = environment.domainExpiresAtMs;
    this.outbounds = environment.outbounds;
    this.keyOpener = environment.keyOpener;
    this.textJudge = environment.textJudge;
    this.verifier = environment.verifier;
    this.workspace = workspace;
    this.startedAtMs = environment.wallNowMs();
    this.startedAt = environment.now();
    this.deadlineAtMs = this.startedAtMs + timeoutMs;
  }

  /** Made when first asked for: an AbortController with a listener costs 6 µs, a tenth of a port check. */
  get signal(): AbortSignal {
    this.#controller ??= this.#abortedController();
    return this.#controller.signal;
  }

  // Own functions, not methods of the prototype: a probe may take them out of the context.
  readonly onAbort = (listener: (fault: Error) => void): void => {
    if (this.#state === "running") this.#abortListeners.push(listener);
    else listener(new DeadlinePassed());
  };

  readonly phase = (name: Phase): void => {
    if (this.#state !== "running") return;
    const now = this.now();
    this.#endStage(now);
    this.#stage = name;
    this.#stageStartedAt = now;
    this.#environment.touch(this.run, this.#configId, now);
  };

  readonly tried = (address: string): void => {
    if (this.#state !== "running") return;
    this.#address = address;
    this.#environment.touch(this.run, this.#configId, this.now());
  };

  readonly answered = (): void => {
    if (this.#state === "running") this.#peerAnswered = true;
  };

  start<Settings>(probe: Probe<Settings>, settings: Settings): void {
    this.#environment.touch(this.run, this.#configId, this.now());
    try {
      Promise.resolve(probe.run(settings, this)).then(this.#onOutcome, this.#onFault);
    } catch (error) {
      this.#onFault(error);
    }
  }

  /** Ends a check that never was started: its spec is unknown, not supported, or its settings no longer parse. */
  refuse(verdict: Verdict, message: string): void {
    this.#finish({ verdict, message });
  }

  cancel(): void {
    if (this.#state === "done") return;
    const listeners = this.#abortListeners;
    this.#finish({ verdict: "cancelled", message: "The check was cancelled because the checker is stopping" });
    this.#abort(new NetworkFault("cancelled", "the checker is stopping"), listeners);
  }

  /** The deadline has passed. The probe's signal is aborted; it may still settle in this turn of the event loop with what it learned. */
  expire(): void {
    if (this.#state !== "running") return;
    this.#endStage(this.now());
    this.#state = "expired";
    this.#abort(new DeadlinePassed(), this.#abortListeners);
  }

  /** The loop turn given by expire() is over. */
  giveUp(): void {
    if (this.#state === "expired") this.#finish(classify(new DeadlinePassed(), this.#stage));
  }

  readonly #onOutcome = (outcome: Outcome): void => {
    if (this.#state === "done") return;
    if (!KNOWN_VERDICTS.has(outcome?.verdict)) {
      this.#finish({ verdict: "internal-error", message: "The probe ended without a verdict" });
      return;
    }
    this.#finish(outcome);
  };

  readonly #onFault = (error: unknown): void => {
    if (this.#state === "done") return;
    const thrown = classify(error, this.#stage);
    if (this.#state === "running") {
      this.#finish(thrown);
      return;
    }
    // After the abort every destroyed socket throws some error. Only a time-out with a more exact message is used.
    const timedOut = classify(new DeadlinePassed(), this.#stage);
    this.#finish(thrown.verdict === timedOut.verdict ? thrown : timedOut);
  };

  #finish(ending: Outcome | Classified): void {
    const now = this.now();
    if (this.#state === "running") this.#endStage(now);
    this.#state = "done";
    this.endedAt = now;
    // A check that has become old in V8's heap would keep what its probe made until the next full collection.
    this.#abortListeners = [];
    this.#environment.done(this, this.#outcomeOf(ending, now));
  }

  #outcomeOf(ending: Outcome & { readonly peerAnswered?: boolean }, now: number): CheckOutcome {
    const passed = ending.verdict === "ok";
    const outcome: CheckOutcome = {
      checkId: this.run.checkId,
      verdict: ending.verdict,
      startedAtMs: this.startedAtMs,
      latenessMs: Math.max(0, this.startedAtMs - this.run.dueAtMs),
      durationMs: Math.round(now - this.startedAt),
      latencyMs: passed ? wholeMs(ending.latencyMs) : null,
      connectMs: passed ? wholeMs(ending.connectMs) : null,
      peerAnswered: passed || (ending.peerAnswered ?? this.#peerAnswered),
      message: passed ? null : (words(ending.message) ?? `The check ended as ${ending.verdict}`),
      phases: this.#phases,
      explanation: passed ? this.#markOf(ending) : this.#explanationOf(ending),
      certificate: ending.certificate ?? null,
      domainExpiresAtMs: ending.domainExpiresAtMs ?? null,
    };
    // Uptime checks, which come by the thousand a second, carry no such member.
    return ending.tunnel === undefined ? outcome : Object.assign(outcome, { tunnel: inWholeMs(ending.tunnel) });
  }

  /** The explanation of a tunnel's success, and the mark that its latency was measured while many checks ran. Uptime checks take microseconds of a thread and get no mark. */
  #markOf(ending: Outcome): Explanation | null {
    if (ending.tunnel === undefined) return null;
    const others = (this.#environment.inFlight?.() ?? 0) - 1;
    const crowd = `${CROWDED_HINT} ${others} other checks ran in this process: the latency may be too high`;
    const hint = [ending.hint ?? "", others + 1 < CROWDED_SAMPLE_FROM ? "" : crowd]
      .filter((text) => text !== "")
      .join(". ");
    return hint === "" ? null : { stage: null, address: this.#address, peer: null, hint: words(hint) };
  }

  #explanationOf(ending: Outcome): Explanation {
    return { stage: this.#stage, address: this.#address, peer: words(ending.peer), hint: words(ending.hint) };
  }

  /** Ends the running phase. The times of a phase that comes again (after a redirect) add up. */
  #endStage(now: number): void {
    if (this.#stage === null) return;
    const spentMs = now - this.#stageStartedAt + (this.#phases[this.#stage] ?? 0);
    this.#phases[this.#stage] = Math.round(spentMs * 100) / 100;
    this.#stageStartedAt = now;
  }

  #abort(reason: Error, listeners: readonly ((fault: Error) => void)[]): void {
    this.#abortListeners = [];
    for (const listener of listeners) {
      try {
        listener(reason);
      } catch (error) {
        // A bug of the probe must not delay the other checks of this turn: it is reported like any unhandled rejection.
        void Promise.reject(error);
      }
    }
    this.#controller?.abort(reason);
  }

  #abortedController(): AbortController {
    const controller = new AbortController();
    if (this.#state !== "running") controller.abort(new DeadlinePassed());
    return controller;
  }
}

function wholeMs(ms: number | null | undefined): number | null {
  return ms === null || ms === undefined || !Number.isFinite(ms) || ms < 0 ? null : Math.max(0, Math.round(ms));
}

function inWholeMs(facts: TunnelFacts): TunnelFacts {
  const { connectionTimeMs, handshakeTimeMs } = facts;
  return { ...facts, connectionTimeMs: wholeMs(connectionTimeMs), handshakeTimeMs: wholeMs(handshakeTimeMs) };
}

/** Only this much of foreign text is read: enough for the 500 characters that are kept. */
const EXAMINED_LENGTH = 2_000;

function words(text: string | undefined): string | null {
  if (text === undefined || text === "") return null;
  const plain = plainText(String(text).slice(0, EXAMINED_LENGTH));
  return plain === "" ? null : plain;
}
