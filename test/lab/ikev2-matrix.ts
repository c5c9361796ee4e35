/** What must come of each case at the gateway of strongswan.ts: reference rows of RFC 7296's errors, and of what networks do. */

import { randomBytes } from "node:crypto";
import { createSocket } from "node:dgram";
import { rootCertificates } from "node:tls";
import type { TunnelFields } from "../../engine/contract/tunnel.ts";
import { Initiator } from "../../engine/protocols/ikev2/initiator.ts";
import { createAnchors } from "../../engine/protocols/ikev2/trust.ts";
import type { ErrorCategory, Verdict } from "../../model/verdict.ts";
import { type ConnectionsOptions, LOGIN, PRE_SHARED_KEY } from "./ikev2-gateway.ts";
import type { Gateway } from "./strongswan.ts";

export interface Row {
  readonly name: string;
  readonly fields: (gateway: Gateway) => TunnelFields;
  readonly verdict: Verdict;
  readonly category: ErrorCategory | null;
  /** What its message says. */
  readonly said?: RegExp;
  readonly gateway?: ConnectionsOptions;
  readonly options?: Parameters<Gateway["load"]>[1];
  /** Rules of the gateway's firewall. */
  readonly filter?: readonly string[];
  /** @returns undoes it */
  readonly prepare?: (gateway: Gateway) => Promise<() => Promise<void>>;
  readonly timeoutMs?: number;
}

const shared =
  (changes: Partial<TunnelFields> = {}) =>
  (gateway: Gateway): TunnelFields => ({
    host: gateway.namespace.serverIp,
    psk: PRE_SHARED_KEY,
    remote_id: "psk.test",
    ...changes,
  });
const login =
  (changes: Partial<TunnelFields> = {}) =>
  (gateway: Gateway): TunnelFields => ({
    host: gateway.namespace.serverIp,
    ...LOGIN,
    ca: gateway.authority.pem,
    ...changes,
  });
const certified =
  (name: Parameters<Gateway["client"]>[0], changes: Partial<TunnelFields> = {}) =>
  (gateway: Gateway): TunnelFields => ({
    host: gateway.namespace.serverIp,
    ...gateway.client(name),
    ca: gateway.authority.pem,
    remote_id: "cert.test",
    ...changes,
  });

/** A login by certificate. */
const tls = (name: Parameters<Gateway["client"]>[0], changes: Partial<TunnelFields> = {}) =>
  certified(name, { username: "laptop@branch.test", remote_id: "tls.test", ...changes });

const ok = { verdict: "ok", category: null } as const;
const refused = { verdict: "auth-failed", category: "auth_failed" } as const;
const distrusted = { verdict: "cert-invalid", category: "cert_error" } as const;
const misconfigured = { verdict: "misconfigured", category: "config_error" } as const;

export const MATRIX: readonly Row[] = [
  { name: "pre-shared key", fields: shared(), ...ok },
  {
    name: "pre-shared key as password without username",
    fields: (gateway) => ({ host: gateway.namespace.serverIp, password: PRE_SHARED_KEY, remote_id: "psk.test" }),
    ...ok,
  },
  { name: "EAP-MSCHAPv2, RSA certificate in fragments, identity by address", fields: login(), ...ok },
  { name: "EAP-MSCHAPv2, remote_id", fields: login({ remote_id: "gw.test" }), ...ok },
  { name: "EAP-MSCHAPv2, ECDSA certificate", fields: login({ remote_id: "curve.test" }), ...ok },
  { name: "EAP-MD5", fields: login({ remote_id: "md5.test" }), ...ok },
  {
    name: "pre-shared key, our identity a name",
    fields: shared({ remote_id: "name.test", local_id: "branch.test" }),
    ...ok,
  },
  {
    name: "pre-shared key, our identity a key id",
    fields: shared({ remote_id: "keyid.test", local_id: "keyid:branch" }),
    ...ok,
  },
  {
    name: "pre-shared key, another identity than the gateway knows",
    fields: shared({ remote_id: "name.test" }),
    ...refused,
    said: /refused the credentials/,
  },
  {
    name: "EAP-MSCHAPv2, another IKE identity",
    fields: login({ remote_id: "laptop.test", local_id: "laptop@branch.test" }),
    ...ok,
  },
  { name: "our certificate, RSA", fields: certified("laptop-rsa"), ...ok },
  { name: "our certificate, ECDSA", fields: certified("laptop-curve"), ...ok },
  {
    name: "our certificate, our identity its e-mail address",
    fields: certified("laptop-rsa", { remote_id: "certid.test", local_id: "laptop@branch.test" }),
    ...ok,
  },
  {
    name: "our certificate, its subject where the gateway wants the e-mail address",
    fields: certified("laptop-rsa", { remote_id: "certid.test" }),
    ...refused,
    said: /refused the credentials/,
  },
  {
    name: "our certificate, the gateway with a pre-shared key",
    fields: certified("laptop-curve", { remote_id: "mixed.test", psk: PRE_SHARED_KEY }),
    ...ok,
  },
  {
    name: "our certificate, of an authority that the gateway does not know",
    fields: certified("laptop-foreign"),
    ...refused,
    said: /refused the credentials/,
  },
  {
    name: "our certificate, expired",
    fields: certified("laptop-old"),
    ...refused,
    said: /certificate has expired: .* refused the credentials/,
  },
  {
    name: "EAP-TLS, our certificate expired",
    fields: tls("laptop-old"),
    ...refused,
    said: /certificate has expired/,
  },
  {
    name: "our certificate where a login is wanted",
    fields: certified("laptop-rsa", { remote_id: "gw.test" }),
    ...refused,
    said: /refused the credentials/,
  },
  {
    name: "our certificate, RSA-PSS alone is taken",
    fields: certified("laptop-rsa", { remote_id: "pss.test" }),
    ...ok,
  },
  { name: "our certificate, its key for RSA-PSS alone", fields: certified("laptop-pss"), ...ok },
  {
    name: "our certificate, ECDSA where RSA-PSS alone is taken",
    fields: certified("laptop-curve", { remote_id: "pss.test" }),
    ...refused,
    said: /refused the credentials/,
  },
  { name: "EAP-TLS, RSA", fields: tls("laptop-rsa"), ...ok },
  { name: "EAP-TLS, ECDSA", fields: tls("laptop-curve"), ...ok },
  {
    name: "EAP-TLS, our identity the subject",
    fields: tls("laptop-rsa", { username: "CN=laptop-rsa" }),
    ...ok,
  },
  {
    name: "EAP-TLS alone proves the gateway",
    fields: tls("laptop-rsa", { remote_id: "tls-alone.test" }),
    ...ok,
  },
  {
    name: "EAP-TLS alone, an authority unknown to us",
    fields: (gateway) => ({
      ...tls("laptop-rsa", { remote_id: "tls-alone.test" })(gateway),
      ca: gateway.untrusted.pem,
    }),
    ...distrusted,
    said: /login server's certificate is signed by an unknown authority/,
  },
  {
    name: "EAP-TLS, TLS too old",
    fields: tls("laptop-rsa"),
    options: { tlsVersion: "1.1" },
    ...misconfigured,
    said: /TLS/,
  },
  {
    name: "EAP-TLS, our certificate of an authority that the gateway does not know",
    fields: tls("laptop-foreign"),
    ...refused,
    said: /refused (our|the username or) certificate/,
  },
  {
    name: "EAP-TLS, a name that our certificate does not have",
    fields: tls("laptop-rsa", { username: "mallory@branch.test" }),
    ...refused,
    said: /refused/,
  },
  {
    name: "EAP-TLS where a password is wanted",
    fields: tls("laptop-rsa", { remote_id: "gw.test" }),
    ...misconfigured,
    said: /EAP MSCHAPv2/,
  },
  {
    name: "a password where EAP-TLS is wanted",
    fields: login({ remote_id: "tls.test" }),
    ...misconfigured,
    said: /EAP TLS/,
  },
  { name: "everything on port 4500", fields: shared({ port: 4_500 }), ...ok },
  { name: "port 500 blocked, 4500 open", fields: shared(), filter: ["udp dport 500 drop"], ...ok },
  { name: "port 500 refused, 4500 open", fields: shared(), filter: ["udp dport 500 reject"], ...ok },
  { name: "only a branch network behind the gateway", fields: shared({ remote_id: "split.test" }), ...ok },
  { name: "IPv6 inside the tunnel", fields: shared({ remote_id: "six.test" }), ...ok },
  { name: "INVALID_KE_PAYLOAD", fields: shared(), gateway: { proposals: "aes256-sha256-modp2048" }, ...ok },
  { name: "cookie under load", fields: shared(), prepare: halfOpen(4), ...ok },
  { name: "wrong pre-shared key", fields: shared({ psk: "another key" }), ...refused, said: /refused the credentials/ },
  { name: "wrong password", fields: login({ password: "wrong" }), ...refused, said: /wrong username or password/ },
  {
    name: "unknown user",
    fields: login({ username: "mallory@lab.test" }),
    ...refused,
    said: /wrong username or password/,
  },
  {
    name: "unknown user whose long name makes our request come in fragments",
    fields: (gateway) => ({
      ...login()(gateway),
      username: `${"m".repeat(900)}@lab.test`,
      ca: [gateway.authority.pem, ...rootCertificates.slice(0, 15)].join("\n"),
    }),
    ...refused,
    said: /username or password/,
  },
  {
    name: "identity that no connection has",
    fields: login({ remote_id: "unknown.test" }),
    ...refused,
    said: /refused the credentials/,
  },
  {
    name: "authority unknown to us",
    fields: (gateway) => ({ ...login()(gateway), ca: gateway.untrusted.pem }),
    ...distrusted,
    said: /unknown authority/,
  },
  {
    name: "public authorities only",
    fields: (gateway) => ({ host: gateway.namespace.serverIp, ...LOGIN }),
    ...distrusted,
    said: /unknown authority|no certificate/,
  },
  {
    name: "name that the certificate does not have",
    fields: (gateway) => ({ ...login()(gateway), host: gateway.otherIp }),
    ...distrusted,
    said: /for another name than/,
  },
  {
    name: "certificate of a client",
    fields: login({ remote_id: "client.test" }),
    ...distrusted,
    said: /not for servers/,
  },
  {
    name: "NO_PROPOSAL_CHOSEN",
    fields: shared(),
    gateway: { proposals: "aes192-sha256-modp1536" },
    ...misconfigured,
    said: /none of the algorithms/,
  },
  {
    name: "NO_PROPOSAL_CHOSEN for the tunnel",
    fields: shared({ remote_id: "esp.test" }),
    ...misconfigured,
    said: /for the tunnel's data/,
  },
  {
    name: "TS_UNACCEPTABLE",
    fields: shared({ remote_id: "narrow.test" }),
    ...misconfigured,
    said: /no traffic from us/,
  },
  { name: "no address for us", fields: shared({ remote_id: "nopool.test" }), ...misconfigured, said: /no address/ },
  {
    name: "cut behind the gateway",
    fields: shared(),
    filter: ["ip daddr 1.1.1.1 drop"],
    verdict: "stuck",
    category: "internet_stuck",
    said: /nothing comes back/,
  },
  {
    name: "black hole",
    fields: shared(),
    filter: ["udp dport { 500, 4500 } drop"],
    verdict: "timeout",
    category: "server_not_connected",
    said: /No answer on UDP port 500 and 4500/,
  },
  {
    name: "port 4500 blocked",
    fields: shared(),
    filter: ["udp dport 4500 drop"],
    timeoutMs: 6_000,
    verdict: "timeout",
    category: "timeout",
    said: /silent since/,
  },
  {
    name: "port 4500 refused",
    fields: shared(),
    filter: ["udp dport 4500 reject"],
    verdict: "refused",
    category: "server_not_connected",
    said: /its port 4500 is closed/,
  },
  {
    name: "both ports refused",
    fields: shared(),
    filter: ["udp dport { 500, 4500 } reject"],
    verdict: "refused",
    category: "server_not_connected",
  },
  { name: "closed port", fields: shared({ port: 5_555 }), verdict: "refused", category: "server_not_connected" },
];

/** IKE and ESP: every algorithm that is offered comes at least once. */
export const SUITES: readonly (readonly [string, string])[] = [
  ["aes256gcm16-prfsha384-ecp384", "aes256gcm16"],
  ["aes128gcm16-prfsha256-x25519", "aes128gcm16"],
  ["chacha20poly1305-prfsha512-ecp521", "chacha20poly1305"],
  ["aes128gcm16-prfsha1-ecp256", "aes256-sha1"],
  ["aes256-sha256-modp2048", "aes128-sha256"],
  ["aes128-sha384-modp3072", "aes256-sha384"],
  ["aes256-sha512-modp4096", "aes128-sha512"],
  ["aes128-sha1-modp1024", "aes128-sha1"],
];

/** First messages of clients that never go on. */
function halfOpen(count: number) {
  return async (gateway: Gateway): Promise<() => Promise<void>> => {
    const socket = createSocket("udp4");
    let answers = 0;
    const all = new Promise<void>((resolve) => {
      socket.on("message", () => {
        answers += 1;
        if (answers === count) resolve();
      });
    });
    for (let each = 0; each < count; each++) socket.send(firstMessage(), 500, gateway.namespace.serverIp);
    await all;
    return async () => {
      socket.close();
    };
  };
}

function firstMessage(): Buffer {
  const talk = new Initiator(
    {
      identity: () => ({ type: 2, data: Buffer.from("half-open") }),
      wantedIdentity: null,
      gateway: "psk.test",
      login: null,
      certificate: null,
      sharedKey: PRE_SHARED_KEY,
      anchors: () => createAnchors([]),
      remote: { address: Buffer.alloc(4), port: 500 },
    },
    { randomBytes, wallNowMs: () => Date.now() },
  ).open();
  const first = talk.next();
  return first.done || first.value.stage === "tls" ? Buffer.alloc(0) : (first.value.datagrams[0] ?? Buffer.alloc(0));
}
