/**
 * All roles apart: two APIs, two schedulers or more, two checkers of the general pool and one in each of two locations, every process in a namespace of
 * its own, with a link to each of what it needs.
 */
import type { ChildProcess } from "node:child_process";
import { createServer as createWebServer } from "node:http";
import { type AddressInfo, connect, createServer, type Server } from "node:net";
import { openControlPlane } from "../../store/sql/control-plane/open.ts";
import type { ControlPlane } from "../../store/sql/control-plane/port.ts";
import type { NewMonitor } from "../../store/sql/monitors/port.ts";
import { freePort } from "../../testkit/free-port.ts";
import { temporaryFolder } from "../../testkit/temporary-folder.ts";
import { productEnv } from "../product.ts";
import { type Installation, installation } from "../roles.ts";
import type { SharedServers } from "../servers/shared.ts";
import { ended, type ServiceSettings } from "../service.ts";
import type { Links, Station } from "./links.ts";
import { createMonitors } from "./reckoning.ts";
import type { Hit } from "./target-log.ts";

export interface FleetSize {
  readonly monitors: number;
  readonly intervalS: number;
  /** Of a check. */
  readonly timeoutS: number;
  readonly schedulers: number;
  /** The first so many of CHECKERS; and APIs. */
  readonly apis: number;
  readonly checkers: number;
}

const LOCATIONS = ["any", "de", "nl"] as const;
/** Checkers, and where each is: another one of the general pool has the work of one that is gone. */
const CHECKERS = [
  ["any 1", "any"],
  ["any 2", "any"],
  ["de", "de"],
  ["nl", "nl"],
] as const;

export type Role = "api" | "scheduler" | "checker";

/** One process of the fleet, which may die and come back on the same folder. */
export interface Member {
  readonly name: string;
  readonly role: Role;
  readonly station: Station;
  start(): Promise<void>;
  signal(signal: "SIGSTOP" | "SIGCONT"): void;
  end(signal: "SIGTERM" | "SIGKILL"): Promise<void>;
  readonly pid: number;
  /** What it said in its last life. */
  output(): string;
  /** Of an API. */
  url(): string;
}

export interface Fleet {
  readonly members: readonly Member[];
  readonly plane: ControlPlane;
  readonly projectId: number;
  readonly monitors: ReadonlyMap<number, NewMonitor>;
  /** Those with a checker. */
  readonly locations: readonly string[];
  /** What the targets were asked so far. */
  readonly hits: readonly Hit[];
  /** For tests that read them from outside. */
  readonly databaseUrl: string;
  readonly clickhouseUrl: string;
  /** Ends every process as an operator does, so that what waits reaches the stores. */
  stop(): Promise<void>;
}

export async function startFleet(servers: SharedServers, links: Links, size: FleetSize): Promise<Fleet> {
  const stores = await servers.stores();
  const undo: (() => void)[] = [];
  const clickhouse = await startRelay(links.web, Number(new URL(stores.clickhouseUrl).port));
  undo.push(clickhouse.close);
  const websites = await startWebsites(links.targets);
  undo.push(websites.close);
  const whole = installation(
    {
      databaseUrl: moved(stores.databaseUrl, links.postgres),
      redisUrl: moved(stores.redisUrl, links.redis),
      clickhouseUrl: moved(stores.clickhouseUrl, links.web, clickhouse.port),
    },
    { ...productEnv(), SONDE_ALLOW_NETS: links.targets.join() },
  );
  // What a checker's machine has of its own network: here a port behind the same way as the targets.
  const canary = { SONDE_CANARIES: `tcp:${links.web}:${clickhouse.port}` };
  const [firstApi, ...others] = membersOf(whole, links, size, canary);
  if (firstApi === undefined) throw new Error("a fleet has an API");
  // Makes the schema, the first key and the first project.
  await firstApi.start();
  const plane = await openControlPlane({ url: stores.databaseUrl }, { role: "api" });
  const given = { projectId: 1, organizationId: 1 };
  const staffed = new Set(CHECKERS.slice(0, size.checkers).map(([, location]): string => location));
  const locations = LOCATIONS.filter((location) => staffed.has(location));
  const monitors = await createMonitors(plane, given, size, websites.url, (index) => locationsOf(index, locations));
  // Checkers first: a scheduler that takes a shard over before it knows a checker shows its location as unavailable until its next look.
  const isScheduler = ({ role }: Member) => role === "scheduler";
  await Promise.all(others.filter((one) => !isScheduler(one)).map((one) => one.start()));
  for (const two of pairs(others.filter(isScheduler))) await Promise.all(two.map((one) => one.start()));
  const members = [firstApi, ...others];
  return {
    members,
    plane,
    projectId: given.projectId,
    monitors,
    locations,
    hits: websites.hits,
    databaseUrl: stores.databaseUrl,
    clickhouseUrl: stores.clickhouseUrl,
    async stop() {
      // In reverse order of start: what runs ends while its receiver still works.
      for (const one of [...members].reverse()) await one.end("SIGTERM");
      for (const each of undo) each();
    },
  };
}

function membersOf(
  whole: Installation,
  links: Links,
  { schedulers, apis, checkers }: FleetSize,
  canary: Readonly<Record<string, string>>,
): readonly Member[] {
  const begin: Readonly<Record<Role, (settings: ServiceSettings, location: string) => Promise<Begun>>> = {
    api: whole.startApi,
    scheduler: whole.startScheduler,
    checker: (settings, location) => whole.startChecker(location, { ...settings, env: { ...settings.env, ...canary } }),
  };
  const wanted: readonly (readonly [role: Role, name: string, location: string])[] = [
    ...Array.from({ length: apis }, (_, index) => ["api", `${index + 1}`, ""] as const),
    ...Array.from({ length: schedulers }, (_, index) => ["scheduler", `${index + 1}`, ""] as const),
    ...CHECKERS.slice(0, checkers).map(([name, location]) => ["checker", name, location] as const),
  ];
  return wanted.map(([role, name, location]) =>
    memberOf(role, name, links.station(), (settings) => begin[role](settings, location)),
  );
}

/** So many processes start at once: each keeps a core busy meanwhile. */
function pairs<Item>(items: readonly Item[]): readonly (readonly Item[])[] {
  return items.flatMap((_, index) => (index % 2 === 0 ? [items.slice(index, index + 2)] : []));
}

interface Begun {
  readonly child: ChildProcess;
  readonly url?: string;
  output(): string;
}

function memberOf(
  role: Role,
  name: string,
  station: Station,
  begin: (settings: ServiceSettings) => Promise<Begun>,
): Member {
  const dataDir = `${temporaryFolder()}/data`;
  let port: number | undefined;
  let begun: Begun | undefined;
  const running = (): Begun => {
    if (begun === undefined) throw new Error(`${role} ${name} was not started`);
    return begun;
  };
  return {
    name: `${role} ${name}`,
    role,
    station,
    async start() {
      port ??= await freePort();
      const command = [...station.within, process.execPath];
      begun = await begin({ dataDir, port, command, env: { SONDE_HOST: station.address } });
    },
    signal: (signal) => void running().child.kill(signal),
    async end(signal) {
      const code = await ended(running().child, () => running().child.kill(signal));
      if (signal === "SIGTERM" && code !== 0) throw new Error(`${role} ${name} was stopped and ended with ${code}`);
    },
    get pid() {
      return running().child.pid ?? 0;
    },
    output: () => begun?.output() ?? "",
    url: () => begun?.url ?? "",
  };
}

/** Most from the general pool; every location alone, and all of them together. */
function locationsOf(index: number, locations: readonly string[]): readonly string[] {
  const places = [locations, ["de"], ["de"], ["nl"], ["nl"]];
  const wanted = places[index % 10] ?? ["any"];
  return wanted.every((location) => locations.includes(location)) ? wanted : ["any"];
}

function moved(url: string, host: string, port?: number): string {
  const there = new URL(url);
  there.hostname = host;
  if (port !== undefined) there.port = String(port);
  return there.href;
}

interface Listening {
  readonly port: number;
  close(): void;
}

/** A port of loopback on another address of this machine. */
async function startRelay(address: string, port: number): Promise<Listening> {
  const server = createServer((socket) => {
    const inner = connect(port, "127.0.0.1");
    inner.on("error", () => socket.destroy());
    socket.on("error", () => inner.destroy());
    socket.pipe(inner).pipe(socket);
  });
  return listen(server, address);
}

interface Websites {
  readonly hits: readonly Hit[];
  url(index: number): string;
  close(): void;
}

async function startWebsites(addresses: readonly string[]): Promise<Websites> {
  const hits: Hit[] = [];
  const sites: { readonly address: string; readonly port: number; close(): void }[] = [];
  for (const address of addresses) {
    const server = createWebServer((request, response) => {
      hits.push({ path: request.url ?? "", atMs: Date.now() });
      response.end("all is well");
    });
    const { port, close } = await listen(server, address);
    const closeAll = (): void => {
      server.closeAllConnections();
      close();
    };
    sites.push({ address, port, close: closeAll });
  }
  return {
    hits,
    url(index) {
      const site = sites[index % sites.length];
      return `http://${site?.address}:${site?.port}/${index}`;
    },
    close() {
      for (const site of sites) site.close();
    },
  };
}

async function listen(server: Server, host: string): Promise<Listening> {
  await new Promise<void>((resolve) => server.listen({ port: 0, host, backlog: 4_096 }, resolve));
  return { port: (server.address() as AddressInfo).port, close: () => void server.close() };
}
