/** The lab's server processes, of xray and sing-box, on loopback: up when every port of theirs answers, gone when we are. */

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Engine } from "../../model/subscription.ts";
import { freePort } from "../../testkit/free-port.ts";
import { type ServerProcess, startServer, untilReady } from "../servers/server.ts";
import { type Egress, type Inbound, SERVERS, type ServerName } from "./proxy-inbounds.ts";

type Json = Readonly<Record<string, unknown>>;

export interface ProxyServers {
  /** @throws when there is none of that name */
  port(name: string): number;
  close(): Promise<void>;
}

/** Other tests take ports as well: a process that finds one taken is started again with others. */
const TRIES = 3;

/** Where what does not go to its target goes: a page of another server, and a port that accepts and says nothing. */
export interface Elsewhere {
  readonly page: number;
  readonly silent: number;
  /** Refuses. */
  readonly closed: number;
  /** An NTP server whose clock is ahead. */
  readonly timeAhead: number;
}

export async function startProxyServers(
  folder: string,
  programs: Readonly<Record<Engine, string>>,
  inbounds: readonly Inbound[],
  elsewhere: Elsewhere,
): Promise<ProxyServers> {
  const running: ServerProcess[] = [];
  const ports = new Map<string, number>();
  const close = async (): Promise<void> => {
    await Promise.all(running.map((server) => server.stop("SIGKILL")));
  };
  try {
    for (const name of SERVERS) {
      const own = inbounds.filter(({ server }) => server === name);
      const program = programs[name === "xray" ? "xray" : "singbox"];
      running.push(await startOne(folder, name, program, own, elsewhere, ports));
    }
  } catch (error) {
    await close();
    throw error;
  }
  return {
    port(name) {
      const port = ports.get(name);
      if (port === undefined) throw new Error(`the lab has no server "${name}"`);
      return port;
    },
    close,
  };
}

async function startOne(
  folder: string,
  name: ServerName,
  program: string,
  inbounds: readonly Inbound[],
  elsewhere: Elsewhere,
  ports: Map<string, number>,
): Promise<ServerProcess> {
  for (let left = TRIES; ; left--) {
    const free = await freePorts(inbounds.length);
    const addressed = inbounds.map((inbound, index) => ({ inbound, port: free[index] ?? 0 }));
    const file = join(folder, `${name}.json`);
    writeFileSync(file, JSON.stringify(fileOf(name, addressed, elsewhere)));
    const server = startServer(program, ["run", "-c", file], { cwd: folder });
    try {
      await untilReady(server, () => allListen(addressed.map(({ port }) => port)));
      for (const { inbound, port } of addressed) ports.set(inbound.name, port);
      return server;
    } catch (error) {
      await server.stop("SIGKILL");
      if (left <= 1 || !/address already in use/.test(server.output())) throw error;
    }
  }
}

interface Addressed {
  readonly inbound: Inbound;
  readonly port: number;
}

function fileOf(name: ServerName, addressed: readonly Addressed[], elsewhere: Elsewhere): Json {
  if (name === "xray") return xrayFile(addressed, elsewhere);
  const file = singboxFile(addressed, elsewhere);
  // Its own way to be told the time: of the machine's clock nothing is changed.
  const ntp = { enabled: true, server: "127.0.0.1", server_port: elsewhere.timeAhead };
  return name === "ahead" ? { ...file, ntp } : file;
}

function xrayFile(addressed: readonly Addressed[], { page, silent, closed }: Elsewhere): Json {
  const freedom = (tag: Egress, more: Json): Json => ({
    tag,
    protocol: "freedom",
    settings: { ...more, finalRules: [{ action: "allow" }] },
  });
  return {
    log: { loglevel: "warning" },
    inbounds: addressed.map(({ inbound, port }, index) => ({
      tag: `in${index}`,
      listen: "127.0.0.1",
      port,
      ...inbound.json,
    })),
    outbounds: [
      freedom("direct", {}),
      freedom("held", { redirect: `127.0.0.1:${silent}` }),
      freedom("refused", { redirect: `127.0.0.1:${closed}` }),
      freedom("portal", { redirect: `127.0.0.1:${page}` }),
      { tag: "blocked", protocol: "blackhole" },
    ],
    routing: {
      rules: addressed.map(({ inbound }, index) => ({ inboundTag: [`in${index}`], outboundTag: inbound.egress })),
    },
  };
}

function singboxFile(addressed: readonly Addressed[], { silent, closed }: Elsewhere): Json {
  const of = (egress: Egress): readonly string[] =>
    addressed.flatMap(({ inbound }, index) => (inbound.egress === egress ? [`in${index}`] : []));
  return {
    log: { level: "warn" },
    inbounds: addressed.map(({ inbound, port }, index) => ({
      ...inbound.json,
      tag: `in${index}`,
      listen: "127.0.0.1",
      listen_port: port,
    })),
    outbounds: [{ type: "direct", tag: "direct" }],
    route: {
      rules: [
        elsewhere(of("held"), silent),
        elsewhere(of("refused"), closed),
        { inbound: of("blocked"), action: "reject" },
        // Without any inbound it would be a rule for all.
      ].filter(({ inbound }) => inbound.length > 0),
      final: "direct",
    },
  };
}

function elsewhere(inbound: readonly string[], port: number) {
  return { inbound, action: "route", outbound: "direct", override_address: "127.0.0.1", override_port: port };
}

function freePorts(count: number): Promise<readonly number[]> {
  return Promise.all(Array.from({ length: count }, freePort));
}

/** proc(5), net/tcp and net/udp: local address in hex, state 0A is listening, UDP sockets are 07. */
async function allListen(ports: readonly number[]): Promise<void> {
  const open = new Set(
    ["tcp", "tcp6", "udp", "udp6"].flatMap((table) =>
      readFileSync(`/proc/net/${table}`, "utf8")
        .split("\n")
        .slice(1)
        .flatMap((line) => {
          const [, local = "", , state] = line.trim().split(/\s+/);
          return state === "0A" || state === "07" ? [Number.parseInt(local.split(":")[1] ?? "", 16)] : [];
        }),
    ),
  );
  const missing = ports.filter((port) => !open.has(port));
  if (missing.length > 0) throw new Error(`${missing.length} of ${ports.length} ports do not listen`);
}
