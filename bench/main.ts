/** `npm run bench -- <what>`: every bench by name. Each prints the conditions of its figures. */
import { constants } from "node:os";
import { Command } from "commander";
import type { AllOptions } from "./all/all.ts";
import type { ApiBenchOptions } from "./api/api.ts";
import type { CreateBenchOptions } from "./api/create.ts";
import type { StallsBenchOptions } from "./api/stalls.ts";
import type { DocumentsBenchOptions } from "./documents/documents.ts";
import type { LinksBenchOptions } from "./links/rig.ts";
import type { CrowdBenchOptions } from "./page/crowd.ts";
import type { PageBenchOptions } from "./page/page.ts";
import type { PeersOptions } from "./peers/peer.ts";
import { descendants } from "./process-tree.ts";
import type { ReadsBenchOptions } from "./reads/reads.ts";
import type { MoveBenchOptions } from "./roles/move.ts";
import type { RolesBenchOptions } from "./roles/roles.ts";
import type { ScaleBenchOptions } from "./scale/scale.ts";
import type { StatusPageBenchOptions } from "./status-page/status-page.ts";
import type { StormBenchOptions } from "./storm/storm.ts";
import type { TunnelBenchOptions } from "./tunnels/frame.ts";
import type { KindsBenchOptions } from "./uptime/kinds.ts";

/** Options as commander hands them over. */
interface UptimeCommandOptions {
  readonly monitors: number;
  readonly interval: number;
  readonly seconds: number;
  readonly warmUp: number;
  readonly compared: number;
  readonly failing: number;
  readonly profile?: string;
  readonly soak?: number;
  readonly json?: boolean;
}

interface RolesCommandOptions {
  readonly forms: string;
  readonly profile?: string;
}

interface FaultsCommandOptions {
  readonly monitors: number;
  readonly interval: number;
  readonly lasts: number;
  readonly timeout: number;
  readonly apis: number;
  readonly schedulers: number;
  readonly checkers: number;
  readonly rounds: number;
  readonly pauses: number;
}

const program = new Command("bench").description("measures this machine; run it when nothing else runs");

program
  .command("uptime")
  .description("the whole product: monitors on schedule, judged and stored, compared with the target's log")
  .option("--monitors <n>", "http monitors", Number, 5_000)
  .option("--interval <s>", "seconds between two checks of one monitor", Number, 1)
  .option("--seconds <s>", "length of the measurement", Number, 60)
  .option("--warm-up <s>", "before it", Number, 10)
  .option("--compared <n>", "monitors whose every result is compared with the log", Number, 1_000)
  .option("--failing <per mille>", "share of answers that fail", Number, 10)
  .option("--profile <dir>", "write a CPU profile of each thread there")
  .option("--soak <minutes>", "only what it holds and whether that grows: memory, descriptors, threads", Number)
  .option("--json", "one line of JSON")
  .action(({ interval, failing, profile, soak, json, ...rest }: UptimeCommandOptions) => {
    if (soak !== undefined)
      return import("./uptime/soak.ts").then(({ runSoak }) =>
        runSoak({ monitors: rest.monitors, intervalS: interval, minutes: soak, json: json === true }),
      );
    const figures = import("./uptime/uptime.ts").then(({ runUptime }) =>
      runUptime({
        ...rest,
        intervalS: interval,
        failingPerMille: failing,
        warmUpS: rest.warmUp,
        profileDir: profile ?? null,
        json: json === true,
      }),
    );
    return figures.then(() => undefined);
  });

program
  .command("cold-start")
  .description("a start with many monitors: when each was checked for the first time")
  .option("--monitors <n>", "http monitors", Number, 5_000)
  .option("--interval <s>", "seconds between two checks of one monitor", Number, 60)
  .action(({ monitors, interval: intervalS }: { monitors: number; interval: number }) =>
    import("./uptime/cold-start.ts").then(({ runColdStart }) => runColdStart({ monitors, intervalS })),
  );

program
  .command("kinds")
  .description("the whole product with monitors of one kind, beside a prober alone: http, keyword, port, ping, dns")
  .option("--monitors <n>", "of each kind, each checked every second", Number, 3_000)
  .option("--seconds <s>", "length of each measurement", Number, 20)
  .action((options: KindsBenchOptions) => import("./uptime/kinds.ts").then(({ runKinds }) => runKinds(options)));

program
  .command("roles")
  .description(
    "api, scheduler and checkers apart beside the single process, on PostgreSQL and Redis (Debian's packages)",
  )
  .option("--monitors <n>", "http monitors, each checked every second", Number, 2_000)
  .option("--seconds <s>", "length of each measurement", Number, 20)
  .option("--forms <n,n>", "by their number of checkers; 0: one process", "0,1,2")
  .option("--apis <n>", "API processes of each form", Number, 1)
  .option("--schedulers <n>", "scheduler processes of each form", Number, 1)
  .option("--profile <dir>", "write a CPU profile of each thread there")
  .action(
    ({
      forms,
      profile,
      ...words
    }: Omit<RolesBenchOptions, "forms" | "profileDir"> & RolesCommandOptions): Promise<void> =>
      import("./roles/roles.ts").then(({ runRoles }) =>
        runRoles({ ...words, forms: forms.split(",").map(Number), profileDir: profile ?? null }),
      ),
  );

program
  .command("peers")
  .description(
    "Cloudprober, Gatus, blackbox_exporter, Uptime Kuma, a bare loop of Node and we on the same target, in turn (built with Go the first time, minutes)",
  )
  .argument("[peer...]", "only those with one of these words in their names")
  .option("--targets <n>", "targets checked every second", Number, 3_000)
  .option("--seconds <s>", "length of each measurement", Number, 20)
  .option("--rounds <n>", "all of them in turn", Number, 3)
  .option("--in-flight <n>", "requests at once to blackbox_exporter", Number, 200)
  .option("--kuma <folder>", "a checkout of Uptime Kuma 2 with its packages (npm ci --omit dev)")
  .option("--json", "one line of JSON", false)
  .action((only: readonly string[], words: PeersOptions) =>
    import("./peers/peers.ts").then(({ runPeers }) => runPeers(only, words)),
  );

program
  .command("all")
  .description(
    "every bench in turn, with one report of them all in Markdown and JSON (hours; --quick: about three quarters of an hour)",
  )
  .argument("[word...]", "only benches with one of these words in their commands")
  .option("--out <folder>", "of the report", "bench-report")
  .option("--quick", "fewer monitors, checks and rounds", false)
  .action((only: readonly string[], words: AllOptions) =>
    import("./all/all.ts").then(({ runAll }) => runAll(only, words)),
  );

program
  .command("burst")
  .description(
    "as many checks of one kind as go, without schedule and store; the native way against Node's own where there are two",
  )
  .argument("<kind>", "http, keyword, port, ping or dns")
  .action((kind: string) => import("./burst/burst.ts").then(({ runBurst }) => runBurst(kind)));

const api = program
  .command("api")
  .description("one record by key beside a bare listener, lists, and results among many rows, as a caller sees them")
  .option("--seconds <s>", "length of each measurement of one record", Number, 4)
  .option("--rounds <n>", "in turn with the limit", Number, 3)
  .option("--rows <n>", "result rows; 0 leaves results out", Number, 10_000_000)
  .option("--profile <dir>", "write a CPU profile of each thread there")
  .action(({ profile, ...words }: Omit<ApiBenchOptions, "profileDir"> & { profile?: string }) =>
    import("./api/api.ts").then(({ runApi }) => runApi({ ...words, profileDir: profile ?? null })),
  )
  .enablePositionalOptions();

api
  .command("stalls")
  .description("the most that each request may ask, and how long it keeps the API's thread from others")
  .argument("[word...]", "only cases with one of these words in their names, and what they need")
  .option("--monitors <n>", "of the project", Number, 10_000)
  .option("--profile <dir>", "write a CPU profile of each thread there")
  .action(
    (
      only: readonly string[],
      { profile, ...words }: Omit<StallsBenchOptions, "only" | "profileDir"> & { profile?: string },
    ) => import("./api/stalls.ts").then(({ runStalls }) => runStalls({ ...words, only, profileDir: profile ?? null })),
  );

api
  .command("create")
  .description("many monitors by single requests and by one document, and how long others wait meanwhile")
  .option("--monitors <n>", "paused websites", Number, 10_000)
  .option("--lanes <n>", "requests at once", Number, 16)
  .option("--rounds <n>", "each on a new service", Number, 1)
  .action((options: CreateBenchOptions) => import("./api/create.ts").then(({ runCreate }) => runCreate(options)));

program
  .command("reads")
  .description(
    "results and lists read by closed-loop readers while checks run: what they get, and whether a check is late",
  )
  .argument("[word...]", "only readings with one of these words in their names")
  .option("--monitors <n>", "http monitors", Number, 5_000)
  .option("--interval <s>", "seconds between two checks of one", Number, 1)
  .option("--seconds <s>", "length of each measurement", Number, 20)
  .option("--warm-up <s>", "before them", Number, 15)
  .option("--readers <n>", "at once", Number, 8)
  .option("--profile <dir>", "write a CPU profile of each thread there")
  .option("--json", "one line of JSON", false)
  .action(
    (
      only: readonly string[],
      { profile, ...words }: Omit<ReadsBenchOptions, "only" | "profileDir"> & { profile?: string },
    ) =>
      import("./reads/reads.ts")
        .then(({ runReads }) => runReads({ ...words, only, profileDir: profile ?? null }))
        .then(() => undefined),
  );

program
  .command("status-page")
  .description("a status page of many monitors by selector, read in closed and in open loop while they are checked")
  .option("--monitors <n>", "http monitors", Number, 10_000)
  .option("--checks <n>", "of all of them, a second; 0: as good as none", Number, 5_000)
  .option("--seconds <s>", "length of each measurement", Number, 15)
  .option("--warm-up <s>", "before them", Number, 20)
  .action((options: StatusPageBenchOptions) =>
    import("./status-page/status-page.ts").then(({ runStatusPage }) => runStatusPage(options)),
  );

program
  .command("storm")
  .description(
    "everything that is watched goes down at once: when it is told, in how many messages, and whether checks are later",
  )
  .option("--monitors <n>", "http monitors", Number, 10_000)
  .option("--interval <s>", "seconds between two checks of one", Number, 5)
  .option("--seconds <s>", "length of each of the three stretches", Number, 90)
  .option("--warm-up <s>", "before them", Number, 20)
  .action((options: StormBenchOptions) => import("./storm/storm.ts").then(({ runStorm }) => runStorm(options)));

program
  .command("scale")
  .description("one process with very many monitors: what they cost, its restart, and how long lists and searches take")
  .option("--monitors <n>", "http monitors, none paused", Number, 100_000)
  .option("--interval <s>", "seconds between two checks of one", Number, 60)
  .option("--seconds <s>", "length of the measurement", Number, 60)
  .action((options: ScaleBenchOptions) => import("./scale/scale.ts").then(({ runScale }) => runScale(options)));

program
  .command("tunnels")
  .description("tunnels through one real server with many clients, in namespaces of our own (root, ip)")
  .argument("[protocol...]", "all without any; a wrong name tells which there are")
  .option("--peers <n>", "clients that the server knows", Number, 2_000)
  .option("--checks <n>", "in each round", Number, 10_000)
  .option("--in-flight <n>", "below 100, or WireGuard's server limits handshakes by address", Number, 64)
  .option("--rounds <n>", "measured, one after the other", Number, 3)
  .option("--compare", "native sockets and Node's own in turn", false)
  .option("--profile <dir>", "write a CPU profile of the checking thread there")
  .action(
    (names: readonly string[], { profile, ...words }: Omit<TunnelBenchOptions, "profileDir"> & { profile?: string }) =>
      import("./tunnels/index.ts").then(({ runTunnels }) =>
        runTunnels(names, { ...words, profileDir: profile ?? null }),
      ),
  );

program
  .command("links")
  .description(
    "share links through the managed cores beside the raw core, and how fast links are read (the cores, openssl)",
  )
  .argument("[part...]", "all without any; a wrong name tells which there are")
  .option("--configs <n>", "in each run", Number, 5_000)
  .option("--in-flight <n>", "checks of ours at once", Number, 512)
  .option("--raw-in-flight <n>", "requests at once of the minimal driver", Number, 50)
  .option("--rounds <n>", "raw and ours in turn", Number, 3)
  .option("--timeout <s>", "of a check", Number, 10)
  .action(
    (parts: readonly string[], { timeout, ...words }: Omit<LinksBenchOptions, "timeoutMs"> & { timeout: number }) =>
      import("./links/index.ts").then(({ runLinks }) => runLinks(parts, { ...words, timeoutMs: timeout * 1_000 })),
  );

program
  .command("faults")
  .description(
    "all roles apart, each killed, frozen and cut off in turn, and their servers restarted: what was lost, doubled, late (root)",
  )
  .argument(
    "[fault...]",
    "only those with one of these words in their names, such as kill, 'freeze checker', 'from redis'",
  )
  .option("--monitors <n>", "on local targets", Number, 2_000)
  .option("--interval <s>", "seconds between two checks of one", Number, 10)
  .option("--lasts <s>", "length of a freeze or a cut", Number, 30)
  .option("--timeout <s>", "of a check", Number, 10)
  .option("--apis <n>", "at least 1", Number, 2)
  .option("--schedulers <n>", "2 to 13", Number, 2)
  .option("--checkers <n>", "1 to 4: two of any, one of de and nl each", Number, 4)
  .option("--rounds <n>", "of all faults", Number, 1)
  .option("--pauses <n>", "of schedulers, 3 s each, many at once, for the fault 'pauses'", Number, 20)
  .action((only: readonly string[], { interval, timeout, lasts, ...words }: FaultsCommandOptions) =>
    import("./faults.ts").then(({ runFaults }) =>
      runFaults({
        ...words,
        intervalS: interval,
        timeoutS: timeout,
        lastsMs: lasts * 1_000,
        only,
      }),
    ),
  );

program
  .command("page")
  .description("the page in Chromium with many monitors: drawn, filtered, changed live, scrolled, and what it holds")
  .option("--monitors <n>", "paused ones", Number, 10_000)
  .option("--changes <n>", "in one batch of the live stream", Number, 2_000)
  .option("--rounds <n>", "of each measurement", Number, 9)
  .option("--chromium <path>", "its program", "/usr/bin/chromium")
  .action((options: PageBenchOptions) => import("./page/page.ts").then(({ runPage }) => runPage(options)))
  .enablePositionalOptions()
  .command("crowd")
  .description("open pages and people who click, beside checks, in turn with none: whether a check is late for them")
  .option("--monitors <n>", "http monitors", Number, 5_000)
  .option("--interval <s>", "seconds between two checks of one", Number, 1)
  .option("--seconds <s>", "length of each stretch", Number, 20)
  .option("--warm-up <s>", "before them", Number, 15)
  .option("--pages <n>", "open on the overview", Number, 50)
  .option("--people <n>", "each clicks every few seconds", Number, 5)
  .option("--rounds <n>", "with pages, each between two without", Number, 1)
  .action((options: CrowdBenchOptions) => import("./page/crowd.ts").then(({ runCrowd }) => runCrowd(options)));

program
  .command("parts")
  .description("the parts one by one")
  .argument("[name]", "all without one; a wrong name tells which there are")
  .action((name: string | undefined) => import("./parts/parts.ts").then(({ runParts }) => runParts(name)));

program
  .command("move")
  .description("backup, restore, and a move to PostgreSQL, Redis and ClickHouse and back, with deaths on the way")
  .option("--monitors <n>", "http monitors", Number, 5_000)
  .option("--rows <n>", "results", Number, 1_000_000)
  .option("--kills <n>", "deaths of each command", Number, 20)
  .action((options: MoveBenchOptions) => import("./roles/move.ts").then(({ runMove }) => runMove(options)));

program
  .command("documents")
  .description("a document of many monitors: its plan and its apply, when all, a few or none of them differ")
  .option("--monitors <n>", "websites", Number, 10_000)
  .option("--rounds <n>", "of each plan", Number, 3)
  .option("--profile <dir>", "write a CPU profile of each thread there")
  .action(({ profile, ...words }: Omit<DocumentsBenchOptions, "profileDir"> & { profile?: string }) =>
    import("./documents/documents.ts").then(({ runDocuments }) =>
      runDocuments({ ...words, profileDir: profile ?? null }),
    ),
  );

// A service that outlives its bench would make every later figure wrong.
for (const signal of ["SIGHUP", "SIGINT", "SIGTERM"] as const) {
  process.once(signal, () => {
    for (const pid of descendants(process.pid)) endQuietly(pid);
    process.exit(128 + constants.signals[signal]);
  });
}
await program.parseAsync(process.argv);

function endQuietly(pid: number): void {
  try {
    process.kill(pid, "SIGTERM");
  } catch {
    // It has ended meanwhile.
  }
}
