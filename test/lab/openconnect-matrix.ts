/** What must come of each case at the servers of ocserv.ts: rows of the protocol's failures, and of what networks do. */
import type { TunnelFields } from "../../engine/contract/tunnel.ts";
import type { ErrorCategory, Verdict } from "../../model/verdict.ts";
import { LOGIN, OTHER_LOGIN, PORT, type VpnServer } from "./ocserv.ts";

export interface Row {
  readonly name: string;
  readonly fields: (server: VpnServer) => TunnelFields;
  readonly verdict: Verdict;
  readonly category: ErrorCategory | null;
  /** What its message says. */
  readonly said?: RegExp;
  /** Rules of the servers' firewall. */
  readonly filter?: readonly string[];
  readonly timeoutMs?: number;
}

const login =
  (changes: Partial<TunnelFields> = {}) =>
  (server: VpnServer): TunnelFields => ({
    host: server.namespace.serverIp,
    port: PORT.password,
    ...LOGIN,
    ca: server.authority.pem,
    ...changes,
  });
/** Without an authority. */
const pinned =
  (pin: (server: VpnServer) => string) =>
  (server: VpnServer): TunnelFields => ({
    host: server.namespace.serverIp,
    port: PORT.password,
    ...LOGIN,
    pin: pin(server),
  });

const ok = { verdict: "ok", category: null } as const;
const refused = { verdict: "auth-failed", category: "auth_failed" } as const;
const distrusted = { verdict: "cert-invalid", category: "cert_error" } as const;
const misconfigured = { verdict: "misconfigured", category: "config_error" } as const;

export const MATRIX: readonly Row[] = [
  { name: "username and password", fields: login(), ...ok },
  {
    name: "host:port, as people paste it",
    fields: (server) => {
      const { port, ...fields } = login()(server);
      return { ...fields, host: `https://${server.namespace.serverIp}:${port}/` };
    },
    ...ok,
  },
  {
    name: "a name, and the address that it stands for",
    fields: (server) => ({ ...login()(server), host: "oc.test", ip: server.namespace.serverIp }),
    ...ok,
  },
  { name: "group by its name", fields: login({ port: PORT.groups, group: "staff" }), ...ok },
  { name: "group by its label", fields: login({ port: PORT.groups, group: "Staff & friends" }), ...ok },
  { name: "group that the server has no list for", fields: login({ group: "staff" }), ...ok },
  { name: "only a network of its own behind the server", fields: login({ port: PORT.split }), ...ok },
  { name: "pin of the server's key", fields: pinned(({ pin }) => pin), ...ok },
  {
    name: "pin, and a name that the certificate does not have",
    fields: (server) => ({ ...pinned(({ pin }) => pin)(server), host: server.otherIp }),
    ...ok,
  },
  {
    name: "wrong password",
    fields: login({ password: "wrong" }),
    ...refused,
    said: /refused the username or password/,
  },
  {
    name: "unknown user",
    fields: login({ username: "mallory" }),
    ...refused,
    said: /refused the username or password/,
  },
  {
    name: "group of others",
    fields: login({ port: PORT.groups, group: "staff", ...OTHER_LOGIN }),
    ...refused,
    said: /refused the username, the password or the group/,
  },
  {
    name: "group that is not there",
    fields: login({ port: PORT.groups, group: "admins" }),
    ...misconfigured,
    said: /no group of that name/,
  },
  {
    name: "no address left for the tunnel",
    fields: login({ port: PORT.full }),
    ...refused,
    said: /accepts the login and refuses the session/,
  },
  { name: "one-time code", fields: login({ port: PORT.otp }), ...refused, said: /needs a person/ },
  {
    name: "client certificate",
    fields: login({ port: PORT.certificate }),
    ...misconfigured,
    said: /wants a client certificate/,
  },
  {
    name: "authority unknown to us",
    fields: (server) => ({ ...login()(server), ca: server.untrusted.pem }),
    ...distrusted,
    said: /issuer is unknown|incomplete/,
  },
  {
    name: "public authorities only",
    fields: (server) => ({ host: server.namespace.serverIp, port: PORT.password, ...LOGIN }),
    ...distrusted,
    said: /issuer is unknown|incomplete/,
  },
  {
    name: "name that the certificate does not have",
    fields: (server) => ({ ...login()(server), host: server.otherIp }),
    ...distrusted,
    said: /for another name than/,
  },
  {
    name: "another pin",
    fields: pinned(() => `pin-sha256:${"A".repeat(43)}=`),
    ...distrusted,
    said: /not the one that was pinned/,
  },
  {
    name: "cut behind the server",
    fields: login(),
    filter: ["ip daddr 1.1.1.1 drop"],
    verdict: "stuck",
    category: "internet_stuck",
    said: /nothing comes back/,
  },
  {
    name: "page of the server that is none for logins",
    fields: (server) => ({
      ...login()(server),
      host: `https://${server.namespace.serverIp}:${PORT.password}/elsewhere`,
    }),
    ...misconfigured,
    said: /not an OpenConnect/,
  },
  {
    name: "black hole",
    fields: login(),
    filter: [`tcp dport ${PORT.password} drop`],
    verdict: "timeout",
    category: "server_not_connected",
    said: /No connection to the server/,
  },
  {
    name: "closed port",
    fields: login({ port: 8_499 }),
    verdict: "refused",
    category: "server_not_connected",
    said: /refused/,
  },
  {
    name: "port closed by a firewall",
    fields: login(),
    filter: [`tcp dport ${PORT.password} reject with icmpx type admin-prohibited`],
    verdict: "unreachable",
    category: "server_not_connected",
  },
];
