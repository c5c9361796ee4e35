/**
 * A provider of share links: sing-box as a server of all six protocols on loopback, a list of links to it, and the page that is asked through them.
 * Where no sing-box is found there is none.
 */
import { randomBytes, randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import { createServer as createTcpServer } from "node:net";
import { boundsHere, spawnBound } from "../engine/cores/core-process.ts";
import { type CorePaths, findCore, PROGRAMS } from "../engine/cores/program.ts";
import { makeCertificate } from "./certificates.ts";
import { LOOPBACK, listen } from "./loopback.ts";

/** Of the servers that the list names, each with an address of its own: a monitor watches an address. */
const SERVERS_NET = "127.0.1";
/** What is asked through a link: answers with the token that the question has. */
const VERIFY_PATH = "/verify";
const LIST_PATH = "/list";
const SECRET_BYTES = 16;
/** Before a sing-box that does not end is killed, ms. */
const END_MS = 2_000;

export interface DemoLinks {
  /** Addresses and ports that are dialled, as SONDE_ALLOW_NETS has them. */
  readonly openings: readonly string[];
  /** Of the list. */
  readonly subscriptionUrl: string;
  /** An entry of SONDE_VERIFY_URLS. */
  readonly verifyUrl: string;
  close(): Promise<void>;
}

type Json = Readonly<Record<string, unknown>>;

interface Inbound {
  readonly inbound: Json;
  /** A link of that protocol to a host and port. */
  link(to: string): string;
}

/** @returns null without sing-box on this machine */
export async function startLinks(paths: CorePaths): Promise<DemoLinks | null> {
  const found = findCore("singbox", paths);
  if (found === undefined) return null;
  const inbounds = inboundsOf();
  const ports = await freePorts(inbounds.length);
  const config = {
    log: { disabled: true },
    inbounds: inbounds.map(({ inbound }, index) => ({
      ...inbound,
      tag: `in-${index}`,
      listen: hostOf(index),
      listen_port: ports[index] ?? 0,
    })),
    outbounds: [{ type: "direct" }],
  };
  const child = spawnBound(found.path, PROGRAMS.singbox.run, boundsHere().includes("bound") ? [] : null, {
    env: {},
    cwd: "/",
    stdio: ["pipe", "ignore", "ignore"],
  });
  child.on("error", (error) => process.stderr.write(`demo: sing-box does not run: ${error.message}\n`));
  child.stdin?.on("error", () => {});
  child.stdin?.end(JSON.stringify(config));
  const places = ports.map((port, index) => `${hostOf(index)}:${port}`);
  const links = inbounds.map(({ link }, index) => link(places[index] ?? "")).join("\n");
  const provider = createProvider(Buffer.from(links).toString("base64"));
  const port = await listen(provider);
  const base = `http://${LOOPBACK}:${port}`;
  return {
    openings: [...places, `${LOOPBACK}:${port}`].map((place) => place.replace(":", "/32:")),
    subscriptionUrl: `${base}${LIST_PATH}`,
    verifyUrl: `${base}${VERIFY_PATH}#token`,
    close: async () => {
      provider.closeAllConnections();
      provider.close();
      await end(child);
    },
  };
}

function createProvider(list: string): Server {
  return createServer(({ url = "/" }, response) => {
    const { pathname, searchParams } = new URL(url, "http://demo");
    const text = pathname === LIST_PATH ? list : pathname === VERIFY_PATH ? searchParams.get("token") : null;
    response.writeHead(text === null ? 404 : 200, { "content-type": "text/plain" }).end(text ?? "");
  });
}

/** All six protocols, each with secrets of its own. */
function inboundsOf(): readonly Inbound[] {
  const { certPem, keyPem } = makeCertificate({ commonName: "proxy.demo", names: [LOOPBACK] });
  const lines = (pem: string): readonly string[] => pem.trim().split("\n");
  const tls = { enabled: true, certificate: lines(certPem), key: lines(keyPem) };
  const quic = { ...tls, alpn: ["h3"] };
  const [uuid, password] = [randomUUID(), randomBytes(SECRET_BYTES).toString("hex")];
  const shadowsocks = Buffer.from(`aes-256-gcm:${password}`).toString("base64url");
  const users = [{ uuid }];
  return [
    { inbound: { type: "vless", users }, link: (to) => `vless://${uuid}@${to}?type=tcp#Oslo` },
    { inbound: { type: "vmess", users }, link: (to) => `vmess://${vmess(uuid, to)}` },
    {
      inbound: { type: "trojan", users: [{ password }], tls },
      link: (to) => `trojan://${password}@${to}?security=tls&allowInsecure=1#Lima`,
    },
    {
      inbound: { type: "shadowsocks", method: "aes-256-gcm", password },
      link: (to) => `ss://${shadowsocks}@${to}#Cairo`,
    },
    {
      inbound: { type: "hysteria2", users: [{ password }], tls: quic },
      link: (to) => `hysteria2://${password}@${to}?insecure=1#Seoul`,
    },
    {
      inbound: { type: "tuic", users: [{ uuid, password }], congestion_control: "cubic", tls: quic },
      link: (to) => `tuic://${uuid}:${password}@${to}?congestion_control=cubic&alpn=h3&allow_insecure=1#Quito`,
    },
  ];
}

function hostOf(index: number): string {
  return `${SERVERS_NET}.${index + 1}`;
}

function vmess(id: string, to: string): string {
  const [add, port] = to.split(":");
  const link = { v: "2", ps: "Paris", add, port, id, aid: "0", net: "tcp", type: "none" };
  return Buffer.from(JSON.stringify(link)).toString("base64");
}

/** Free a moment ago, all at once, so that they differ. */
async function freePorts(count: number): Promise<readonly number[]> {
  const servers = Array.from({ length: count }, () => createTcpServer());
  const ports = await Promise.all(servers.map((server) => listen(server)));
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  return ports;
}

async function end(child: ReturnType<typeof spawnBound>): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, "exit");
  child.kill("SIGTERM");
  const timer = setTimeout(() => child.kill("SIGKILL"), END_MS);
  await ended;
  clearTimeout(timer);
}
