/**
 * What of the demo is asked more than a plain GET: two local websites that answer only to who asks as they want it, and the monitors that do,
 * each with other settings that a website check or a DNS check can have.
 */
import { createServer as createHttpServer, type RequestListener, type Server } from "node:http";
import { createServer as createHttpsServer } from "node:https";
import type { TLSSocket } from "node:tls";
import { makeCertificate } from "./certificates.ts";

const TOKEN = "demo-token";
const USER = "ada";
const PASSWORD = "demo";
/** A local website that takes longer is on a machine that does nothing in time. */
const SLOW_MS = 10_000;
const QUEUE = JSON.stringify({ state: "up", queue: { length: 3 } });

export interface AskedSites {
  readonly api: Server;
  /** Its certificate is its own, and it wants one of its client. */
  readonly own: Server;
  readonly clientCertificate: string;
  readonly clientKey: string;
}

export function askedSites(): AskedSites {
  const own = makeCertificate({ commonName: "own.demo.sonde.net", names: ["own.demo.sonde.net"] });
  const client = makeCertificate({ commonName: "Sonde demo client" });
  const asksBack = { requestCert: true, rejectUnauthorized: false };
  return {
    api: createHttpServer(answerApi),
    own: createHttpsServer({ cert: own.certPem, key: own.keyPem, ...asksBack }, (request, response) => {
      const { fingerprint256 = "" } = (request.socket as TLSSocket).getPeerCertificate();
      response.writeHead(fingerprint256 === "" ? 403 : 200, { "content-type": "text/plain" }).end("hello\n");
    }),
    clientCertificate: client.certPem,
    clientKey: client.keyPem,
  };
}

const answerApi: RequestListener = ({ method, url, headers: { authorization = "" } }, response) => {
  const isUser = authorization === `Basic ${Buffer.from(`${USER}:${PASSWORD}`).toString("base64")}`;
  if (url === "/queue" && method === "POST" && authorization === `Bearer ${TOKEN}`)
    response.writeHead(200, { "content-type": "application/json" }).end(QUEUE);
  else if (url === "/old" && isUser) response.writeHead(301, { location: "/new" }).end();
  else response.writeHead(authorization === "" && url === "/admin" ? 403 : 404).end();
};

interface Targets {
  readonly host: string;
  readonly apiPort: number;
  readonly ownPort: number;
  readonly dnsPort: number;
}

/** Bodies of POST /servers. */
export function askingMonitors(sites: AskedSites, { host, apiPort, ownPort, dnsPort }: Targets): readonly object[] {
  const api = `http://${host}:${apiPort}`;
  return [
    {
      type: "http",
      name: "Queue",
      url: `${api}/queue`,
      method: "POST",
      body: '{"of":"mail"}',
      bearer_token: TOKEN,
      json_query: 'queue.length < 10 and state = "up"',
      json_expected: "true",
      max_response_time: SLOW_MS,
    },
    {
      type: "http",
      name: "Old address",
      url: `${api}/old`,
      accepted_statuscodes: ["301"],
      max_redirects: 0,
      basic_auth_username: USER,
      basic_auth_password: PASSWORD,
    },
    { type: "http", name: "Closed door", url: `${api}/admin`, invert: true },
    {
      type: "http",
      name: "Own certificate",
      url: `https://${host}:${ownPort}/`,
      verify_certificate: false,
      client_certificate: sites.clientCertificate,
      client_key: sites.clientKey,
      body_regex: "^hel+o\\b",
    },
    {
      type: "dns",
      name: "Mail records",
      domain: "demo.sonde.net",
      host,
      port: dnsPort,
      record_type: "MX",
      expected: ["10 mx.demo.sonde.net"],
    },
  ];
}
