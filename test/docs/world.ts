/** Where the commands of a page run: a checkout with a data folder of its own, free ports, and what the page's blocks need. */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { freePort } from "../../testkit/free-port.ts";
import { temporaryFolder } from "../../testkit/temporary-folder.ts";
import { openWireguardWorld } from "../command.ts";
import { CORE_PLACES } from "../lab/cores.ts";
import { openLinkRig, UUID } from "../lab/link-rig.ts";
import type { SharedStores } from "../roles.ts";
import { isMissing } from "../servers/missing.ts";
import { startRedis } from "../servers/redis.ts";
import { ended, eventually, until } from "../service.ts";
import { startTestClickHouse } from "../store/embedded.ts";
import { startSystemd } from "../systemd.ts";
import { startWebsite } from "../targets.ts";
import { openTerminal } from "../terminal.ts";
import type { Need, Step } from "./page.ts";
import { killGroup, openShell, type Ran, type Shell } from "./shell.ts";
import { differs } from "./shown.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
/** What a command reads of a checkout. */
const CHECKOUT = ["package.json", "node_modules", "scripts", "dist", "docs", "docker"];
const INSTALLATION = [
  "ln -s sonde-0.1.0 /opt/sonde",
  "useradd --system --home-dir /nonexistent --shell /usr/sbin/nologin sonde",
  "cp /opt/sonde/docs/operate/systemd/sonde.service /etc/systemd/system/",
  "systemctl daemon-reload",
  "systemctl enable --now sonde",
  "until curl -fsS http://127.0.0.1:8080/api/v1/health; do sleep 0.2; done",
];
/** Until a demo's slowest target is known to be down, on two busy cores, ms. */
const SHOWN_WITHIN_MS = 90_000;
/** Until a check that a page looks at has been run, ms. */
const ANSWER_WITHIN_MS = 30_000;
/** Of the page's shell, for what it starts. Sourcing it complains about bash's own read-only variables. */
const STATE = ".shell-state";
const READY = /Sonde listens on|Sonde schedules|Sonde checks from/;
const SERVICE =
  /^(?:[A-Z_]+=\S+\s+|\\\n\s*)*(?:npm start|(?:npx )?sonde (?:up|api|scheduler|checker))(?!\S)(?!.*--help)/;
/** Asks and changes nothing: may be asked again until the answer is there. */
const READ = /^(?:ask (?!.*(?: -d | -X ))|(?:npx )?sonde (?:results|monitors|incidents)|curl (?!.*(?: -d | -X )))/;

export interface World {
  /** @throws when the command does not hold, or its output is not what the page shows */
  take(step: Step): Promise<void>;
  /** Ends the shell of the page before; what it has started goes on. */
  openTerminal(): void;
  close(): Promise<void>;
}

/** @param stores of a page that needs them */
export async function openWorld(needs: ReadonlySet<Need>, stores?: () => Promise<SharedStores>): Promise<World> {
  const folder = join(temporaryFolder(), "sonde");
  mkdirSync(folder);
  for (const name of CHECKOUT) symlinkSync(join(ROOT, name), join(folder, name));
  const port = await freePort();
  const page = new Page(folder, {
    PATH: `${npxOnce(folder)}:${process.env.PATH ?? ""}`,
    HOME: folder,
    TERM: "xterm-256color",
    SONDE_PORT: String(port),
    SONDE_LOG: "warn",
    // What is checked is on this machine; a test has no gateway to ask.
    SONDE_CANARIES: "",
    npm_config_update_notifier: "false",
  });
  page.replace("127.0.0.1:8080", `127.0.0.1:${port}`);
  // What pages have their readers start as a target.
  page.replace("8765", String(await freePort()));
  for (const need of needs) await PROVIDE[need]?.(page, stores);
  return page;
}

/**
 * npm reads every package before it finds that `npx sonde` is this checkout's own program, which costs five times what the command does: it finds
 * it once for each folder, and after that it is started as npm starts it.
 * @returns the folder of the command that stands before npm's
 */
function npxOnce(folder: string): string {
  const bin = join(folder, ".npx");
  mkdirSync(bin);
  const isFound = join(bin, "found");
  const lines = [
    `if [ "$1" = sonde ] && [ -e ${isFound} ]; then shift; exec node ${folder}/dist/cli/sonde.js "$@"; fi`,
    `PATH=\${PATH#${bin}:} npx "$@" && touch ${isFound}`,
  ];
  writeFileSync(join(bin, "npx"), `#!/bin/sh\n${lines.join("\n")}\n`, { mode: 0o755 });
  return bin;
}

class Page implements World {
  readonly folder: string;
  readonly env: Record<string, string>;
  /** Words before the page's shell. */
  within: readonly string[] = [];
  #replaced: (readonly [text: string | RegExp, by: string])[] = [];
  readonly #closing: (() => Promise<unknown>)[] = [];
  #shell: Shell | null = null;

  constructor(folder: string, env: Record<string, string>) {
    this.folder = folder;
    this.env = env;
  }

  replace(text: string | RegExp, by: string): void {
    this.#replaced.push([text, by]);
  }

  /** Takes a replacement back. */
  keep(text: string): void {
    this.#replaced = this.#replaced.filter(([from]) => from !== text);
  }

  atEnd(close: () => Promise<unknown>): void {
    this.#closing.unshift(close);
  }

  async take({ command, shown, line }: Step): Promise<void> {
    const [words, wanted] = [this.#here(command), shown === null ? null : this.#here(shown)];
    try {
      if (SERVICE.test(words)) await (wanted === null ? this.start(words) : this.#watch(words, wanted));
      else await this.#hold(words, wanted);
    } catch (error) {
      throw new Error(`line ${line}: ${error instanceof Error ? error.message : String(error)}`);
    }
  }

  /** Runs it in the background until the page ends. */
  async start(command: string): Promise<void> {
    // With the variables and functions that the page has made so far.
    const state = join(this.folder, STATE);
    await this.#open().run(`{ declare -p; declare -f; } > ${state}`);
    const child = spawn("bash", ["--norc", "-c", `. ${state} 2>/dev/null\n${command}`], {
      cwd: this.folder,
      env: this.env,
      stdio: ["ignore", "pipe", "pipe"],
      detached: true,
    });
    this.atEnd(() => stopped(child));
    let said = "";
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding("utf8").on("data", (text: string) => {
        said += text;
      });
    }
    await until(
      () => READY.test(said),
      child,
      () => said,
    );
  }

  openTerminal(): void {
    this.#shell?.close();
    this.#shell = null;
  }

  /** Of what was started and is to end: the last first. */
  async stop(): Promise<void> {
    for (const close of this.#closing.splice(0)) await close();
  }

  async close(): Promise<void> {
    this.openTerminal();
    await this.stop();
  }

  #open(): Shell {
    this.#shell ??= openShell(this.folder, this.env, this.within);
    return this.#shell;
  }

  #here(text: string): string {
    return this.#replaced.reduce((all, [from, to]) => all.replaceAll(from, to), text);
  }

  async #hold(command: string, wanted: string | null): Promise<void> {
    const shell = this.#open();
    const look = async (): Promise<string | undefined> => faultOf(await shell.run(command), wanted);
    let fault = await look();
    const endMs = performance.now() + ANSWER_WITHIN_MS;
    while (fault !== undefined && wanted !== null && READ.test(command) && performance.now() < endMs) {
      await pause(200);
      fault = await look();
    }
    if (fault !== undefined) throw new Error(`${command}: ${fault}`);
  }

  /** On a terminal, which it draws on again and again. */
  async #watch(command: string, wanted: string): Promise<void> {
    const script = `cd ${this.folder} && exec ${command}`;
    const terminal = openTerminal("bash", ["--norc", "-c", script], this.env, { columns: 160, rows: 40 });
    this.atEnd(async () => {
      terminal.type("\u0003");
      await terminal.ended;
    });
    const screen = (): string => terminal.shown().split("\u001b[2J").at(-1) ?? "";
    await eventually(async () => (differs(wanted, screen()) === undefined ? true : undefined), SHOWN_WITHIN_MS).catch(
      () => {
        throw new Error(`${command}: ${differs(wanted, screen())}`);
      },
    );
  }
}

function faultOf({ code, output }: Ran, wanted: string | null): string | undefined {
  if (code !== 0) return `ended with ${code}: ${output.slice(-2_000)}`;
  return wanted === null ? undefined : differs(wanted, output);
}

async function stopped(child: ChildProcess): Promise<void> {
  await ended(child, () => killGroup(child, "SIGTERM"));
  killGroup(child);
}

type Provide = (page: Page, stores?: () => Promise<SharedStores>) => Promise<void>;

const LOOPBACK_OPEN = "127.0.0.0/8";

const PROVIDE: Readonly<Partial<Record<Need, Provide>>> = {
  async website(page) {
    const site = await startWebsite();
    page.atEnd(() => site.close());
    page.env.SONDE_ALLOW_NETS = LOOPBACK_OPEN;
    page.replace("https://example.org/", site.url);
  },

  async wireguard(page) {
    const world = await openWireguardWorld(1);
    page.atEnd(async () => world.server.close());
    page.env.SONDE_ALLOW_NETS = LOOPBACK_OPEN;
    page.env.SONDE_TUNNEL_TARGETS = "icmp:1.1.1.1";
    writeFileSync(join(page.folder, "wg0.conf"), world.file(0));
    page.replace("vpn.example.net:51820", `127.0.0.1:${world.server.port}`);
  },

  async cores(page) {
    const rig = await openLinkRig();
    page.atEnd(() => rig.close());
    const [port] = await rig.serve("singbox", [{ type: "vless", listen: "127.0.0.1", users: [{ uuid: UUID }] }]);
    const roots = join(rig.folder, "roots.pem");
    writeFileSync(roots, rig.authority.pem);
    const link = `vless://${UUID}@127.0.0.1:${port}#Berlin`;
    Object.assign(page.env, {
      SONDE_ALLOW_NETS: LOOPBACK_OPEN,
      SONDE_VERIFY_URLS: rig.verifyUrls.join(","),
      SONDE_EXTRA_CA: roots,
      ...(CORE_PLACES.xray !== null && { SONDE_XRAY: CORE_PLACES.xray }),
      ...(CORE_PLACES.singbox !== null && { SONDE_SING_BOX: CORE_PLACES.singbox }),
    });
    page.replace("vless://…@vpn.example.net:443?security=tls#Berlin", link);
    await serveList(page, [link]);
  },

  list: (page) =>
    serveList(
      page,
      ["Berlin", "Paris"].map((name, at) => `vless://${UUID}@127.0.0.${at + 2}:9#${name}`),
    ),

  /** A ClickHouse and a Redis that no other page writes to. */
  async emptied(page) {
    const clickhouse = await startTestClickHouse();
    page.atEnd(() => clickhouse.remove());
    page.replace("http://sonde:secret@clickhouse:8123/sonde", clickhouse.url);
    const redis = await startRedis();
    if (isMissing(redis)) throw new Error(redis.missing);
    page.atEnd(() => redis.stop());
    page.replace("redis://cache:6379", redis.url);
  },

  async stores(page, stores) {
    if (stores === undefined) throw new Error("no stores were given");
    const { databaseUrl, redisUrl, clickhouseUrl } = await stores();
    page.replace("postgres://sonde:secret@db/sonde", databaseUrl);
    page.replace("postgres://sonde:secret@db/restored", (await stores()).databaseUrl);
    page.replace("redis://cache:6379", redisUrl);
    page.replace("http://sonde:secret@clickhouse:8123/sonde", clickhouseUrl);
  },

  /** A machine that an operator is root of, with a release in /opt and no user of ours yet. */
  async systemd(page) {
    const systemd = await startSystemd([], ROOT, CHECKOUT);
    page.atEnd(() => systemd.stop());
    page.within = systemd.within;
    // The unit has the standard port, and so have the commands beside it.
    page.keep("127.0.0.1:8080");
    delete page.env.SONDE_PORT;
  },

  /** What docs/operate/systemd.md installs; the next release is made of the same sources. */
  async installed(page) {
    page.replace(/git clone .* (?=\/opt\/sonde-0\.2\.0$)/gm, "cp --archive /opt/sonde-0.1.0 ");
    // That folder is this machine's own.
    page.replace("/var/backups/", "/run/");
    await page.take({ command: INSTALLATION.join("\n"), shown: null, line: 0 });
  },

  /** A network of its own, for rules of the firewall. */
  async namespace(page) {
    page.within = ["unshare", "-n"];
    // A user that every Debian has.
    page.replace("skuid sonde", "skuid daemon");
  },

  // As `npm start` does it.
  service: (page) => page.start("exec node dist/cli/sonde.js up"),

  /** Of a service that ran and was stopped. */
  async data(page) {
    await page.start("exec node dist/cli/sonde.js up");
    await page.stop();
  },
};

async function serveList(page: Page, links: readonly string[]): Promise<void> {
  const site = await startWebsite();
  site.answer(200, `${links.join("\n")}\n`);
  page.atEnd(() => site.close());
  page.env.SONDE_ALLOW_NETS = LOOPBACK_OPEN;
  page.replace("https://provider.example/sub/token", `${site.url}sub/token`);
}
