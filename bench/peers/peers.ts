/**
 * The peers on our target, measured as we are: verified checks by the target's own log, per CPU second of the tester's process tree.
 * Cloudprober and Gatus schedule; blackbox_exporter is asked for one check after the other.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { Agent, get } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { conditions } from "../parts/conditions.ts";
import { useOf } from "../process-tree.ts";
import { startTarget, type TargetProcess } from "../uptime/target-process.ts";
import { build, type PeerSource } from "./build.ts";

export interface PeersOptions {
  readonly targets: number;
  readonly seconds: number;
  readonly inFlight: number;
}

interface Peer {
  readonly source: PeerSource;
  readonly what: string;
  /** Words of the command line; writes its settings into the folder. */
  readonly words: (folder: string, target: number, port: number, options: PeersOptions) => readonly string[];
  readonly env?: (folder: string) => Readonly<Record<string, string>>;
  /** Drives it where it does not schedule; resolves when told to stop. */
  readonly drive?: (target: number, port: number, options: PeersOptions, isOver: () => boolean) => Promise<void>;
  /** Until its schedule is in full swing, s. */
  readonly warmUpS: (options: PeersOptions) => number;
}

const CLOUDPROBER: Peer = {
  source: {
    name: "cloudprober",
    module: "github.com/cloudprober/cloudprober",
    version: "v0.14.4",
    mainPackage: "github.com/cloudprober/cloudprober/cmd",
  },
  what: "schedules and exports; stores nothing, has no verdict rules",
  words(folder, target, port, { targets }) {
    const endpoints = Array.from(
      { length: targets },
      (_, n) => `    endpoint { name: "t${n}" url: "http://127.0.0.1:${target}/${n}" }`,
    );
    const probe = [
      "probe {",
      '  name: "bench"',
      "  type: HTTP",
      "  targets {",
      ...endpoints,
      "  }",
      "  interval_msec: 1000",
      "  timeout_msec: 900",
      "}",
    ];
    writeFileSync(join(folder, "settings.cfg"), `${probe.join("\n")}\nport: ${port}\nsurfacer { type: PROMETHEUS }\n`);
    return ["--config_file", join(folder, "settings.cfg"), "--logtostderr=false"];
  },
  warmUpS: () => 15,
};

const GATUS: Peer = {
  source: {
    name: "gatus",
    module: "github.com/TwiN/gatus/v5",
    version: "v5.36.0",
    mainPackage: "github.com/TwiN/gatus/v5",
  },
  what: "schedules, judges, keeps 100 results of each in memory; endpoints start 222 ms apart",
  words(folder, target, port, options) {
    const endpoints = Array.from({ length: gatusTargets(options) }, (_, n) =>
      [
        `  - name: t${n}`,
        `    url: "http://127.0.0.1:${target}/${n}"`,
        "    interval: 100ms",
        '    conditions: ["[STATUS] == 200"]',
      ].join("\n"),
    );
    const settings = [
      `web:\n  port: ${port}\n  address: 127.0.0.1`,
      "concurrency: 1000",
      "storage:\n  type: memory",
      "endpoints:",
      ...endpoints,
    ];
    writeFileSync(join(folder, "settings.yaml"), `${settings.join("\n")}\n`);
    return [];
  },
  env: (folder) => ({ GATUS_CONFIG_PATH: join(folder, "settings.yaml"), GATUS_LOG_LEVEL: "ERROR" }),
  warmUpS: (options) => Math.ceil(gatusTargets(options) * 0.222) + 3,
};

/** A tenth of the targets at ten times the rate: its own ramp would take minutes. */
function gatusTargets({ targets }: PeersOptions): number {
  return Math.max(1, Math.round(targets / 10));
}

const BLACKBOX: Peer = {
  source: {
    name: "blackbox_exporter",
    module: "github.com/prometheus/blackbox_exporter",
    version: "v0.28.0",
    mainPackage: "github.com/prometheus/blackbox_exporter",
  },
  what: "one check per request, no schedule, no storage",
  words(folder, _target, port) {
    const settings =
      "modules:\n  bench:\n    prober: http\n    timeout: 5s\n    http:\n      preferred_ip_protocol: ip4\n";
    writeFileSync(join(folder, "settings.yml"), settings);
    return [
      "--config.file",
      join(folder, "settings.yml"),
      "--web.listen-address",
      `127.0.0.1:${port}`,
      "--log.level",
      "error",
    ];
  },
  async drive(target, port, { inFlight }, isOver) {
    const agent = new Agent({ keepAlive: true, maxSockets: inFlight });
    const work = async (): Promise<void> => {
      for (let n = 0; !isOver(); n++) {
        await ask(
          agent,
          `http://127.0.0.1:${port}/probe?module=bench&target=${encodeURIComponent(`http://127.0.0.1:${target}/${n % 1000}`)}`,
        );
      }
    };
    await Promise.all(Array.from({ length: inFlight }, work));
    agent.destroy();
  },
  warmUpS: () => 3,
};

const PEERS: readonly Peer[] = [CLOUDPROBER, GATUS, BLACKBOX];

export async function runPeers(options: PeersOptions): Promise<void> {
  console.log(
    `peers on our target for ${options.seconds} s each\n  ${conditions()}; tester and target share the cores; fresh connections, all answers 200`,
  );
  for (const peer of PEERS) {
    const built = await build(peer.source);
    const name = `${peer.source.name} ${peer.source.version}`;
    if ("reason" in built) console.log(`  ${name}: left out, ${built.reason}`);
    else console.log(`  ${name.padEnd(28)} ${await measure(peer, built.binary, options)}; ${peer.what}`);
  }
}

async function measure(peer: Peer, binary: string, options: PeersOptions): Promise<string> {
  const target = await startTarget(0, 0);
  const folder = mkdtempSync(join(tmpdir(), "sonde-peer-"));
  const port = 20_000 + Math.floor(Math.random() * 10_000);
  const child = spawn(binary, peer.words(folder, target.port, port, options), {
    env: { PATH: "", ...peer.env?.(folder) },
    stdio: "ignore",
  });
  let isOver = false;
  try {
    await pause(2);
    const driving = peer.drive?.(target.port, port, options, () => isOver);
    await pause(peer.warmUpS(options));
    const figures = await window(child, target, options.seconds);
    isOver = true;
    await driving;
    return figures;
  } finally {
    isOver = true;
    child.kill("SIGKILL");
    target.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function window(child: ChildProcess, target: TargetProcess, seconds: number): Promise<string> {
  if (child.exitCode !== null) return `ended with ${child.exitCode}`;
  const before = useOf(child.pid ?? 0);
  const answersBefore = (await target.log()).length / 4;
  const startedAt = performance.now();
  await pause(seconds);
  const elapsedS = (performance.now() - startedAt) / 1_000;
  const after = useOf(child.pid ?? 0);
  const checks = (await target.log()).length / 4 - answersBefore;
  const perCpuS = Math.round(checks / (after.cpuS - before.cpuS));
  return `${Math.round(checks / elapsedS)}/s, ${perCpuS} per CPU second, ${Math.round(after.residentMiB)} MiB`;
}

function ask(agent: Agent, url: string): Promise<void> {
  return new Promise((resolve) => {
    get(url, { agent }, (response) => response.resume().once("close", resolve)).once("error", () => resolve());
  });
}

function pause(seconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, seconds * 1_000));
}
