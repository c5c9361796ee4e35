/** The task of a prober thread: one long-lived piscina task that runs until the scheduler stops it. */
import { performance } from "node:perf_hooks";
import { type MessagePort, parentPort, threadId } from "node:worker_threads";
import { createThreadCpuTime } from "../../native/cpu-time.ts";
import { OwnedDescriptors } from "../../native/owned-descriptors.ts";
import { createRandomBytes } from "../../native/random-bytes.ts";
import type { EngineOptions } from "../contract/options.ts";
import { type ProbeList, probeList } from "../contract/registry.ts";
import type { Outbounds } from "../cores/outbound.ts";
import { connectOutbounds } from "../cores/outbound-port.ts";
import type { KeyOpener } from "../key-opener/key-opener.ts";
import { connectKeyOpener } from "../key-opener/opener-port.ts";
import { createDomainExpiry, type DomainExpiry } from "../rdap/index.ts";
import { connectTextJudge } from "../text-judge/judge-port.ts";
import type { TextJudge } from "../text-judge/text-judge.ts";
import { anonymousTransport } from "../transport/anonymous.ts";
import { createConnectTimer } from "../transport/connect-time.ts";
import { createPing } from "../transport/icmp.ts";
import { createTransport } from "../transport/index.ts";
import { createDatagrams } from "../transport/native-datagrams.ts";
import { createExchanger } from "../transport/native-exchange.ts";
import { createResolver } from "../transport/resolver.ts";
import type { Transport } from "../transport/transport.ts";
import { openVerifier } from "../verify/direct.ts";
import { createLocalLines } from "../verify/line.ts";
import type { Verifier } from "../verify/verifier.ts";
import { Prober } from "./prober.ts";
import { ThreadHeartbeat } from "./thread-heartbeat.ts";

/** What engine/pool/pool.ts gives a prober's thread. */
export interface ProberTask {
  readonly prober: number;
  readonly port: MessagePort;
  readonly engine: EngineOptions;
  readonly heartbeat: SharedArrayBuffer;
  /** Of OwnedDescriptors: what the pool closes when it has to terminate the thread. */
  readonly descriptors: SharedArrayBuffer;
  /** To the supervisor of the proxy cores; null where there are none. */
  readonly outbounds?: MessagePort | null;
  /** To the process that opens foreign keys. */
  readonly keys?: MessagePort;
  /** To the process that looks into answers. */
  readonly texts?: MessagePort;
  /** It is isolated for checks that block the event loop, one at a time. */
  readonly isAside?: boolean;
}

/** Messages of a prober's thread to the main thread. */
export type FromProberThread =
  | { readonly type: "prober-ready"; readonly prober: number }
  /** Unhandled rejections since the last such message: a bug in a probe, or code that cannot be loaded. They do not end its thread. */
  | { readonly type: "prober-strays"; readonly prober: number; readonly count: number; readonly latest: string };

/** Unhandled rejections are reported at most this often, ms. */
const STRAY_REPORT_INTERVAL_MS = 1_000;

/** Piscina calls the export named `task`. */
export async function task(options: ProberTask): Promise<void> {
  const probes = probeList();
  const owned = new OwnedDescriptors(options.descriptors);
  const native = {
    connectTime: createConnectTimer(owned).connectTime,
    exchangeTcp: createExchanger(owned).exchangeTcp,
    openDatagrams: createDatagrams(owned).openDatagrams,
    ping: createPing().ping,
  };
  const { engine } = options;
  const resolver = createResolver({ servers: engine.resolvers });
  const transport = createTransport(engine, { ...native, resolver });
  const publicOptions = { ...engine, allowNets: engine.publicAllowNets ?? [] };
  const publicTransport = anonymousTransport(
    createTransport(publicOptions, { ...native, resolver, isAnonymous: true }),
  );
  const domains = createDomainExpiry(transport, options.engine.rdapBootstrapUrl, () => Date.now());
  const verifier = openVerifier(engine, resolver, () => performance.now());
  const lines = createLocalLines(owned);
  const outbounds = options.outbounds == null ? undefined : connectOutbounds(options.outbounds, lines);
  const keyOpener = options.keys === undefined ? undefined : connectKeyOpener(options.keys);
  const textJudge = options.texts === undefined ? undefined : connectTextJudge(options.texts);
  const more = { domains, publicTransport, verifier, outbounds, keyOpener, textJudge };
  return serveProber(options, probes, transport, more).finally(() => {
    options.outbounds?.close();
    options.keys?.close();
    options.texts?.close();
    lines.close();
    return domains.close();
  });
}

/** What only some probes need. */
interface OptionalProberDeps {
  readonly domains?: DomainExpiry;
  readonly publicTransport?: Transport;
  readonly outbounds?: Outbounds | undefined;
  readonly keyOpener?: KeyOpener | undefined;
  readonly textJudge?: TextJudge | undefined;
  readonly verifier?: Verifier;
}

/** A prober with probes of the caller's choice, for task files other than this one. */
export function serveProber(
  options: ProberTask,
  probes: ProbeList,
  transport: Transport,
  more: OptionalProberDeps = {},
): Promise<void> {
  const { domains, publicTransport, outbounds, keyOpener, textJudge, verifier } = more;
  const heartbeat = new ThreadHeartbeat(options.heartbeat);
  reportUnhandledRejections(options.prober);
  const prober = new Prober({
    port: options.port,
    probes,
    transport,
    publicTransport,
    now: () => performance.now(),
    wallNowMs: () => Date.now(),
    randomBytes: createRandomBytes(),
    domainExpiresAtMs: domains?.expiresAtMs,
    outbounds,
    keyOpener,
    textJudge,
    verifier,
    utilization: (since) => performance.eventLoopUtilization(since),
    cpuMs: createThreadCpuTime(),
    isAside: options.isAside === true,
    beat: () => heartbeat.beat(),
    touch: (checkId, configId) => heartbeat.touch(checkId, configId),
  });
  heartbeat.threadId = threadId;
  post({ type: "prober-ready", prober: options.prober });
  return prober.stopped;
}

/**
 * A promise that is rejected after its check has ended (a straggler's second half) must not end the thread with everything in
 * flight; an uncaught exception still does, because what it interrupted is unknown.
 */
function reportUnhandledRejections(prober: number): void {
  let count = 0;
  let latest = "";
  process.on("unhandledRejection", (reason) => {
    count++;
    latest = reason instanceof Error ? `${reason.name}: ${reason.message}` : String(reason);
    if (count > 1) return;
    setTimeout(() => {
      post({ type: "prober-strays", prober, count, latest });
      count = 0;
    }, STRAY_REPORT_INTERVAL_MS).unref();
  });
}

function post(message: FromProberThread): void {
  parentPort?.postMessage(message);
}
