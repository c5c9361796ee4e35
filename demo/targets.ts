/** Local targets of every uptime kind, each on a free port of loopback: what the demo watches. */
import { createSocket } from "node:dgram";
import { createServer as createHttpServer, type RequestListener, type Server } from "node:http";
import { createServer as createHttpsServer } from "node:https";
import { type AddressInfo, createServer as createTcpServer, type Server as TcpServer } from "node:net";
import dnsPacket from "dns-packet";
import { makeAuthority, makeCertificate } from "./certificates.ts";

const LOOPBACK = "127.0.0.1";
const DAY_MS = 86_400_000;
/** The flapping site's rhythm, ms: short enough that an incident opens and closes within the first minute. */
const FLAP_UP_MS = 20_000;
const FLAP_DOWN_MS = 14_000;

export interface DemoTargets {
  readonly websitePort: number;
  readonly keywordPort: number;
  readonly tcpPort: number;
  readonly dnsPort: number;
  readonly flappingPort: number;
  readonly hangingPort: number;
  readonly expiringPort: number;
  /** PEM of the authority that the expiring certificate comes from. */
  readonly authorityPem: string;
  close(): Promise<void>;
}

export async function startTargets(): Promise<DemoTargets> {
  const authority = makeAuthority("Sonde demo authority");
  const expiring = makeCertificate({
    commonName: "localhost",
    names: ["localhost", LOOPBACK],
    issuer: authority,
    notAfterMs: Date.now() + 3 * DAY_MS,
  });
  const startedAtMs = Date.now();
  const isUp = (): boolean => (Date.now() - startedAtMs) % (FLAP_UP_MS + FLAP_DOWN_MS) < FLAP_UP_MS;
  const servers = {
    website: createHttpServer(page("<h1>Welcome</h1>")),
    keyword: createHttpServer(page("<p>Twelve kettles: In stock</p>")),
    tcp: createTcpServer((socket) => socket.on("error", () => {}).end("220 ready\r\n")),
    flapping: createHttpServer((_request, response) => {
      response
        .writeHead(isUp() ? 200 : 503, { "content-type": "text/plain" })
        .end(isUp() ? "fine\n" : "out to lunch\n");
    }),
    // Takes the request and says nothing.
    hanging: createHttpServer(() => {}),
    expiring: createHttpsServer({ cert: expiring.certPem, key: expiring.keyPem }, page("<p>renew me</p>")),
  };
  const ports = await Promise.all(Object.values(servers).map(listen));
  const [websitePort = 0, keywordPort = 0, tcpPort = 0, flappingPort = 0, hangingPort = 0, expiringPort = 0] = ports;
  const dns = await startDns();
  return {
    websitePort,
    keywordPort,
    tcpPort,
    dnsPort: dns.port,
    flappingPort,
    hangingPort,
    expiringPort,
    authorityPem: authority.certPem,
    async close() {
      dns.close();
      await Promise.all(Object.values(servers).map(closeServer));
    },
  };
}

function page(body: string): RequestListener {
  return (_request, response) => {
    response.writeHead(200, { "content-type": "text/html; charset=utf-8" }).end(body);
  };
}

function listen(server: Server | TcpServer): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, LOOPBACK, () => resolve((server.address() as AddressInfo).port));
  });
}

function closeServer(server: Server | TcpServer): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    if ("closeAllConnections" in server) server.closeAllConnections();
  });
}

/** Answers every question about A and AAAA with one address each. */
function startDns(): Promise<{ readonly port: number; close(): void }> {
  const socket = createSocket("udp4");
  socket.on("message", (datagram, from) => {
    const answer = answerTo(datagram);
    if (answer !== undefined) socket.send(answer, from.port, from.address);
  });
  return new Promise((resolve, reject) => {
    socket.once("error", reject);
    socket.bind(0, LOOPBACK, () => resolve({ port: socket.address().port, close: () => socket.close() }));
  });
}

function answerTo(datagram: Buffer): Buffer | undefined {
  try {
    const { id = 0, questions = [] } = dnsPacket.decode(datagram);
    const [question] = questions;
    if (question === undefined) return undefined;
    const data = question.type === "AAAA" ? "2001:db8::7" : "192.0.2.7";
    const answers =
      question.type === "A" || question.type === "AAAA"
        ? [{ type: question.type, name: question.name, ttl: 60, data }]
        : [];
    return dnsPacket.encode({ type: "response", id, flags: dnsPacket.AUTHORITATIVE_ANSWER, questions, answers });
  } catch {
    return undefined;
  }
}
