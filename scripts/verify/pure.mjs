// Pure code gets time, bytes and random as arguments. A room is pure as a whole but for the edges named here, so a new file is covered.
import { isTest, parse, sources, text, walk } from "./sources.mjs";

/** Pure rooms, and where in them the clock, timers and random enter (engine: contract ProbeContext; scheduler: Clocks). */
const PURE = {
  model: ["model/ticks.ts"],
  engine: [
    "engine/prober/worker.ts",
    "engine/prober/prober.ts",
    "engine/pool/probers.ts",
    "engine/pool/pool.ts",
    "engine/trust/canary.ts",
    "engine/cores/batch-start.ts",
    "engine/cores/start-limiter.ts",
    "engine/cores/core-broker.ts",
    "engine/cores/core-process.ts",
    "engine/cores/batch-queue.ts",
    "engine/cores/message-batcher.ts",
    "engine/cores/outbound-port.ts",
    "engine/cores/running-core.ts",
    "engine/cores/supervisor.ts",
    "engine/direct/direct.ts",
    "engine/bounded/bounded-process.ts",
    "engine/text-judge/judge-process.ts",
    "engine/trust/network-trust.ts",
    "engine/subscription/fetch.ts",
    "engine/transport/",
    "engine/verify/direct.ts",
    "engine/web/guarded-fetch.ts",
  ],
  checker: ["checker/checker.ts"],
  scheduler: [
    "scheduler/role/worker.ts",
    "scheduler/role/runtime.ts",
    "scheduler/role/stores.ts",
    "scheduler/remote/probers.ts",
    "scheduler/clock.ts",
    "scheduler/role/handle.ts",
    "scheduler/role/loop.ts",
    "scheduler/shards/shard-turns.ts",
    "scheduler/sink/sink.ts",
    "scheduler/webhooks/start.ts",
    "scheduler/alerts/attempts/attempts.ts",
    "scheduler/alerts/attempts/start.ts",
    "scheduler/alerts/post.ts",
    "scheduler/alerts/mail.ts",
    "scheduler/subscriptions/start.ts",
    "scheduler/subscriptions/thread.ts",
  ],
};
/** Within an edge, still pure: addresses and their judging. */
const PURE_AGAIN = ["engine/transport/allow-nets.ts"];
/** Settings are read in one place and handed in. */
const READS_ENVIRONMENT = "config.ts";
/** Hand all of it on to what they start, and read no setting. */
const HAND_ON_ENVIRONMENT = ["bench/faults.ts", "native/young-heap.ts"];

const MEMBERS = { Date: ["now"], Math: ["random"], performance: ["now"], process: ["hrtime", "uptime"] };
const TIMERS = ["setTimeout", "setInterval", "setImmediate"];
/** Random and timers by import; of node:net only what judges text. */
const IMPORTS = {
  "node:timers": () => true,
  "node:timers/promises": () => true,
  "node:perf_hooks": () => true,
  "node:crypto": (name) => /^(random|generate)|^getRandomValues$|^webcrypto$/.test(name),
};
const PROTOCOL_IMPORTS = { ...IMPORTS, "node:net": (name) => !/^isIP/.test(name) };

export function impurities() {
  return sources()
    .filter((path) => path.endsWith(".ts") && !isTest(path))
    .flatMap((path) => impuritiesOf(path, text(path)));
}

/** @returns a line for each place where the module does what its place forbids */
export function impuritiesOf(path, source) {
  const isPure = isPurePath(path);
  const { module, line } = parse(source);
  const findings = [];
  const say = (node, what) => findings.push(`${path}:${line(node)} ${what}`);
  const isGlobal = (node, name) => node?.type === "Identifier" && node.value === name && node.ctxt === 1;
  walk(module, (node) => {
    if (
      isEnvironment(node, isGlobal) &&
      ![READS_ENVIRONMENT, ...HAND_ON_ENVIRONMENT].includes(path) &&
      !/^[^/]+\.config\.ts$/.test(path)
    )
      say(node, `reads process.env: only ${READS_ENVIRONMENT} does`);
    if (!isPure) return;
    if (node.type === "MemberExpression" && node.object.type === "Identifier" && node.object.ctxt === 1) {
      const { value: object } = node.object;
      const name = node.property.value;
      if (MEMBERS[object]?.includes(name)) say(node, `uses ${object}.${name}: take it as an argument`);
    }
    if (node.type === "NewExpression" && isGlobal(node.callee, "Date") && (node.arguments ?? []).length === 0)
      say(node, "uses new Date(): take the time as an argument");
    if (node.type === "Identifier" && node.ctxt === 1 && TIMERS.includes(node.value))
      say(node, `uses ${node.value}: timers belong to the edges`);
    if (isGlobal(node, "globalThis")) say(node, "uses globalThis: name what it needs as an argument");
    if (node.type === "ImportDeclaration" && !node.typeOnly) findings.push(...impureImports(path, node, line));
  });
  return findings;
}

function isEnvironment(node, isGlobal) {
  return node.type === "MemberExpression" && isGlobal(node.object, "process") && node.property.value === "env";
}

function impureImports(path, node, line) {
  const rules = path.startsWith("engine/protocols/") ? PROTOCOL_IMPORTS : IMPORTS;
  const isRefused = rules[node.source.value];
  if (isRefused === undefined) return [];
  return node.specifiers
    .filter((specifier) => specifier.isTypeOnly !== true)
    .map((specifier) => specifier.imported?.value ?? specifier.local.value)
    .filter(isRefused)
    .map((name) => `${path}:${line(node)} imports ${name} from ${node.source.value}: take it as an argument`);
}

function isPurePath(path) {
  const edges = PURE[path.split("/")[0]];
  if (edges === undefined) return false;
  const isEdge = edges.some((edge) => path === edge || (edge.endsWith("/") && path.startsWith(edge)));
  return !isEdge || PURE_AGAIN.includes(path);
}
