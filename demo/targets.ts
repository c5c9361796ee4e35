/** Local targets of every uptime kind, each on a free port of loopback: what the demo watches. */
import { createSocket } from "node:dgram";
import { createServer as createHttpServer, type RequestListener, type Server } from "node:http";
import { createServer as createHttpsServer } from "node:https";
import { createServer as createTcpServer, type Socket, type Server as TcpServer } from "node:net";
import type { AnyUptime } from "../engine/contract/registry.ts";
import { type AskedSites, askedSites } from "./asked.ts";
import { makeAuthority, makeCertificate } from "./certificates.ts";
import { bind, LOOPBACK, listen } from "./loopback.ts";

const DAY_MS = 86_400_000;
/** The flapping site's rhythm, ms: short enough that an incident opens and closes within the first minute. */
const FLAP_UP_MS = 20_000;
const FLAP_DOWN_MS = 14_000;

type Active = Extract<AnyUptime, { readonly isPassive: false }>;
/** A kind with a monitor of the demo. */
export type DemoKind = Active & { readonly demo: NonNullable<Active["demo"]> };

export interface DemoTargets {
  /** Of a kind's own target; 0 for a kind that needs none. */
  portOf(kind: string): number;
  readonly ports: readonly number[];
  readonly flappingPort: number;
  readonly hangingPort: number;
  readonly expiringPort: number;
  readonly asked: AskedSites;
  readonly apiPort: number;
  readonly ownPort: number;
  /** PEM of the authority that the expiring certificate comes from. */
  readonly authorityPem: string;
  close(): Promise<void>;
}

/** @param kinds each gets the target that it describes */
export async function startTargets(kinds: readonly DemoKind[]): Promise<DemoTargets> {
  const authority = makeAuthority("Sonde demo authority");
  const expiring = makeCertificate({
    commonName: "localhost",
    names: ["localhost", LOOPBACK],
    issuer: authority,
    notAfterMs: Date.now() + 3 * DAY_MS,
  });
  const startedAtMs = Date.now();
  const isUp = (): boolean => (Date.now() - startedAtMs) % (FLAP_UP_MS + FLAP_DOWN_MS) < FLAP_UP_MS;
  const asked = askedSites();
  const servers = {
    flapping: createHttpServer((_request, response) => {
      response
        .writeHead(isUp() ? 200 : 503, { "content-type": "text/plain" })
        .end(isUp() ? "fine\n" : "out to lunch\n");
    }),
    // Takes the request and says nothing.
    hanging: createHttpServer(() => {}),
    expiring: createHttpsServer({ cert: expiring.certPem, key: expiring.keyPem }, page("<p>renew me</p>")),
    api: asked.api,
    own: asked.own,
  };
  const ports = await Promise.all(Object.values(servers).map((server) => listen(server)));
  const [flappingPort = 0, hangingPort = 0, expiringPort = 0, apiPort = 0, ownPort = 0] = ports;
  const own = await Promise.all(kinds.map(async (kind) => [kind.kind, await startOwn(kind.demo)] as const));
  const byKind = new Map<string, OwnTarget>(own);
  return {
    portOf: (kind) => byKind.get(kind)?.port ?? 0,
    ports: [...ports, ...own.map(([, { port }]) => port)],
    flappingPort,
    hangingPort,
    expiringPort,
    asked,
    apiPort,
    ownPort,
    authorityPem: authority.certPem,
    async close() {
      await Promise.all([...Object.values(servers).map(closeServer), ...own.map(([, { close }]) => close())]);
    },
  };
}

interface OwnTarget {
  readonly port: number;
  close(): Promise<void>;
}

/** What a kind describes for its own target: a TCP server, a UDP one, or none. */
async function startOwn({ serve, answer }: DemoKind["demo"]): Promise<OwnTarget> {
  if (answer !== undefined) return startUdp(answer);
  if (serve === undefined) return { port: 0, close: async () => {} };
  const open = new Set<Socket>();
  const server = createTcpServer((socket) => {
    open.add(socket);
    socket.on("error", () => {}).once("close", () => open.delete(socket));
    serve(socket);
  });
  const port = await listen(server);
  const close = (): Promise<void> => {
    for (const socket of open) socket.destroy();
    return closeServer(server);
  };
  return { port, close };
}

function page(body: string): RequestListener {
  return (_request, response) => {
    response.writeHead(200, { "content-type": "text/html; charset=utf-8" }).end(body);
  };
}

function closeServer(server: Server | TcpServer): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    if ("closeAllConnections" in server) server.closeAllConnections();
  });
}

async function startUdp(answer: (datagram: Uint8Array) => Uint8Array | undefined): Promise<OwnTarget> {
  const socket = createSocket("udp4");
  socket.on("message", (datagram, from) => {
    const said = answer(datagram);
    if (said !== undefined) socket.send(said, from.port, from.address);
  });
  const close = (): Promise<void> => new Promise((resolve) => socket.close(() => resolve()));
  return { port: await bind(socket), close };
}
