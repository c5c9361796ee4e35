/**
 * OpenVPN against the real server: every row of the failure table, held against openvpn.matrix.json. A case without a cell fails, and so does a
 * cell without a case.
 */
import { readFileSync } from "node:fs";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { TunnelFields } from "../../engine/contract/tunnel.ts";
import { temporaryFolder } from "../../testkit/temporary-folder.ts";
import { describeWith } from "../prerequisites.ts";
import { LAB, type Lab, openLab } from "./network.ts";
import { type LabKeys, LOGIN, makeLabKeys, SERVERS, type ServerName, startOpenvpnServers } from "./openvpn-servers.ts";
import { type LabProber, type LabReport, rowOf, startProber } from "./prober.ts";
import { LAB_PATHS, relaysTo, startRelays } from "./relays.ts";

const MATRIX: Readonly<Record<string, string>> = JSON.parse(
  readFileSync(new URL("./openvpn.matrix.json", import.meta.url), "utf8"),
);
const ALL = [`icmp:${LAB.internet}`, `dns:${LAB.internet}`, `tcp:${LAB.internet}:443`];

/** Servers that are asked through paths with faults too, and the ports where these begin. */
const AFAR = { "tls-crypt": 12_000, "tls-crypt-v2": 12_100, plain: 12_200 } as const satisfies Partial<
  Record<ServerName, number>
>;
const WORST = "repeats, delays, reorders and drops";

/** What a case changes of a client that is all right. */
interface Case {
  readonly server: ServerName;
  readonly remote?: string;
  /** Lines instead of those that begin with the same word (a tag with its text is one); an empty text leaves one out. */
  readonly lines?: Readonly<Record<string, string>>;
  readonly fields?: TunnelFields;
  readonly targets?: readonly string[];
}

/** A profile by the first word of its lines. */
function profileOf(server: ServerName, keys: LabKeys): Readonly<Record<string, string>> {
  const inline = (tag: string, name: string) => `<${tag}>\n${keys.text(name)}\n</${tag}>`;
  const certificate = { cert: inline("cert", "client1.crt"), key: inline("key", "client1.key") };
  const common = {
    client: "client",
    dev: "dev tun",
    remote: `remote ${LAB.server} ${SERVERS[server].port} ${SERVERS[server].proto}`,
    "remote-cert-tls": "remote-cert-tls server",
    ca: inline("ca", "lab.crt"),
  };
  const login = { "auth-user-pass": "auth-user-pass" };
  switch (server) {
    case "tls-crypt":
    case "tls-crypt tcp":
      return { ...common, ...login, "tls-crypt": inline("tls-crypt", "crypt.key") };
    case "tls-auth tcp":
      return {
        ...common,
        ...certificate,
        "tls-auth": inline("tls-auth", "auth.key"),
        "key-direction": "key-direction 1",
        auth: "auth SHA256",
        cipher: "cipher AES-256-CBC",
        "data-ciphers": "data-ciphers AES-256-GCM:AES-256-CBC",
        "comp-lzo": "comp-lzo no",
      };
    case "tls-auth":
      return {
        ...common,
        ...certificate,
        "tls-auth": inline("tls-auth", "auth.key"),
        auth: "auth SHA512",
        "data-ciphers": "data-ciphers AES-128-CBC",
      };
    case "tls-crypt-v2":
      return { ...common, ...certificate, "tls-crypt-v2": inline("tls-crypt-v2", "v2-client.key") };
    case "plain":
      return { ...common, ...certificate, fragment: "fragment 1200" };
    case "renewing":
      return { ...common, ...certificate };
  }
}

function casesOf(keys: LabKeys): Readonly<Record<string, Case>> {
  const inline = (tag: string, name: string) => `<${tag}>\n${keys.text(name)}\n</${tag}>`;
  const without = (...names: readonly string[]) => Object.fromEntries(names.map((name) => [name, ""]));
  const otherClient = { cert: inline("cert", "client2.crt"), key: inline("key", "client2.key") };
  const login = (username: string, password: string = LOGIN.password): TunnelFields => ({ username, password });
  const at = (server: ServerName, host: string) => `remote ${host} ${SERVERS[server].port} ${SERVERS[server].proto}`;
  return {
    "all right, tls-crypt, password, long push": { server: "tls-crypt" },
    "all right, AES-128-GCM": { server: "tls-crypt", lines: { "data-ciphers": "data-ciphers AES-128-GCM" } },
    "all right, ChaCha20-Poly1305": {
      server: "tls-crypt",
      lines: { "data-ciphers": "data-ciphers CHACHA20-POLY1305" },
    },
    "all right, tcp, tls-auth, certificate, AES-256-CBC, comp-lzo": { server: "tls-auth tcp" },
    "all right, tcp, tls-crypt, password": { server: "tls-crypt tcp" },
    "all right, tls-auth without direction, AES-128-CBC, stub-v2": { server: "tls-auth" },
    "all right, tls-crypt-v2 with cookies, ChaCha20-Poly1305": { server: "tls-crypt-v2" },
    "all right, no protection, fragment, TLS 1.2": { server: "plain" },
    "all right, keys renewed meanwhile, TLS 1.3": {
      server: "renewing",
      // The first question wakes the wish for other keys, a later one is answered.
      targets: [`icmp:${LAB.cutOff}`, `dns:${LAB.internet}`],
    },
    "all right, outside over IPv6": { server: "tls-crypt", lines: { remote: at("tls-crypt", LAB.serverV6) } },
    "all right, inside over IPv6": { server: "tls-crypt", targets: [`icmp:${LAB.internetV6}`] },
    "all right, DNS server that is pushed": { server: "tls-crypt", targets: [`icmp:${LAB.cutOff}`] },
    "all right, login in the file": {
      server: "tls-crypt",
      lines: { "auth-user-pass": `<auth-user-pass>\n${LOGIN.username}\n${LOGIN.password}\n</auth-user-pass>` },
      fields: {},
    },
    "all right, fingerprint instead of an authority": {
      server: "tls-crypt",
      lines: { ca: "", "peer-fingerprint": `peer-fingerprint ${keys.fingerprint}` },
    },
    "all right, name of the certificate": {
      server: "plain",
      lines: { "verify-x509-name": "verify-x509-name vpn.test name" },
    },
    "all right, an empty revocation list": {
      server: "plain",
      lines: { "crl-verify": inline("crl-verify", "empty-crl.pem") },
    },
    "all right, second remote": {
      server: "tls-crypt",
      lines: { remote: `${at("tls-crypt", LAB.blackHole)}\n${at("tls-crypt", LAB.server)}` },
    },
    "all right, second connection block": {
      server: "tls-crypt",
      lines: {
        remote: `<connection>\nremote ${LAB.server} 9 udp\n</connection>\n<connection>\nremote ${LAB.server} ${SERVERS["tls-crypt tcp"].port} tcp\n</connection>`,
      },
    },
    "all right, tcp4-client": {
      server: "tls-crypt tcp",
      lines: { remote: `remote ${LAB.server} ${SERVERS["tls-crypt tcp"].port} tcp4-client` },
    },
    "all right, routes and DNS of the server left out": {
      server: "tls-crypt",
      lines: { "pull-filter": 'pull-filter ignore "dhcp-option DNS"\npull-filter ignore route' },
    },
    "an option of the server that the profile rejects": {
      server: "tls-crypt",
      lines: { "pull-filter": 'pull-filter reject "dhcp-option DNS"' },
    },
    "a family that the address is not of": {
      server: "plain",
      lines: { remote: `remote ${LAB.server} ${SERVERS.plain.port} udp6` },
    },
    "all right, scripts of the file not run": {
      server: "plain",
      lines: { up: "script-security 2\nup /bin/false\nplugin /nowhere.so" },
    },
    "wrong password": { server: "tls-crypt", fields: login("alice", "another") },
    "wrong password, tcp": { server: "tls-crypt tcp", fields: login("alice", "another") },
    "wrong password, repeated by the server": { server: "tls-crypt", fields: login("talkative") },
    "a second factor": { server: "tls-crypt", fields: login("challenged") },
    "a login in a browser": { server: "tls-crypt", fields: login("browser") },
    "accepted, and no options for the tunnel": { server: "tls-crypt", fields: login("waiting") },
    "refused for now": { server: "tls-crypt", fields: login("later") },
    "no login": { server: "tls-crypt", lines: without("auth-user-pass"), fields: {} },
    "no login, tcp": { server: "tls-crypt tcp", lines: without("auth-user-pass"), fields: {} },
    "another's client certificate": { server: "tls-crypt-v2", lines: otherClient },
    "another's client certificate, TLS 1.2": { server: "plain", lines: otherClient },
    "another's client certificate, tcp": { server: "tls-auth tcp", lines: otherClient },
    "a client certificate that has expired": {
      server: "plain",
      lines: { cert: inline("cert", "client3.crt"), key: inline("key", "client3.key") },
    },
    "no client certificate": { server: "plain", lines: without("cert", "key") },
    "unknown authority": { server: "tls-crypt", lines: { ca: inline("ca", "untrusted.crt") } },
    "another name": { server: "plain", lines: { "verify-x509-name": "verify-x509-name other.test name" } },
    "another fingerprint": {
      server: "plain",
      lines: {
        "peer-fingerprint": `peer-fingerprint ${keys.fingerprint.replace(/^../, (byte) => (byte === "00" ? "01" : "00"))}`,
      },
    },
    "another purpose": {
      server: "plain",
      lines: { "remote-cert-eku": 'remote-cert-eku "TLS Web Client Authentication"' },
    },
    "a revoked certificate": { server: "plain", lines: { "crl-verify": inline("crl-verify", "crl.pem") } },
    "another tls-crypt key": { server: "tls-crypt", lines: { "tls-crypt": inline("tls-crypt", "other.key") } },
    "another tls-crypt key, tcp": { server: "tls-crypt tcp", lines: { "tls-crypt": inline("tls-crypt", "other.key") } },
    "another tls-crypt-v2 key": {
      server: "tls-crypt-v2",
      lines: { "tls-crypt-v2": inline("tls-crypt-v2", "v2-other.key") },
    },
    "no tls-crypt": { server: "tls-crypt", lines: without("tls-crypt") },
    "another key-direction, tcp": { server: "tls-auth tcp", lines: { "key-direction": "key-direction 0" } },
    "another digest of tls-auth": { server: "tls-auth", lines: { auth: "auth SHA256" } },
    "no cipher in common": { server: "tls-crypt", lines: { "data-ciphers": "data-ciphers AES-256-CBC" } },
    "cipher alone": { server: "tls-auth tcp", lines: without("data-ciphers") },
    "no TLS version in common": { server: "plain", lines: { "tls-version-min": "tls-version-min 1.3" } },
    "no TLS version in common, 1.3 alone": { server: "renewing", lines: { "tls-version-max": "tls-version-max 1.2" } },
    "no fragment": { server: "plain", lines: without("fragment") },
    "compression that the server does not have": { server: "tls-crypt", lines: { compress: "comp-lzo" } },
    "a black hole": { server: "tls-crypt", lines: { remote: at("tls-crypt", LAB.blackHole) } },
    "a black hole, tcp": { server: "tls-crypt tcp", lines: { remote: at("tls-crypt tcp", LAB.blackHole) } },
    "a firewall that forbids": { server: "tls-crypt", lines: { remote: at("tls-crypt", LAB.prohibited) } },
    "a closed port": { server: "tls-crypt", lines: { remote: `remote ${LAB.server} 9 udp` } },
    "a closed port, tcp": { server: "tls-crypt tcp", lines: { remote: `remote ${LAB.server} 9 tcp` } },
    "a cut inner network": { server: "tls-crypt-v2", targets: [`icmp:${LAB.cutOff}`] },
    "a key that cannot be read": { server: "plain", lines: { key: "<key>\nnothing\n</key>" } },
    "an authority that cannot be read": { server: "plain", lines: { ca: "<ca>\nnothing\n</ca>" } },
    "no authority": { server: "plain", lines: without("ca") },
  };
}

/** Those that pass whatever the path does, and refusals that are known for what they are. */
function casesAfar(keys: LabKeys): Readonly<Record<string, Case>> {
  const through = (server: keyof typeof AFAR, path: keyof typeof LAB_PATHS) => ({
    server,
    remote: `remote ${LAB.server} ${AFAR[server] + Object.keys(LAB_PATHS).indexOf(path)} udp`,
  });
  const names = Object.keys(LAB_PATHS) as (keyof typeof LAB_PATHS)[];
  const cases = casesOf(keys);
  const good = (Object.keys(AFAR) as (keyof typeof AFAR)[]).flatMap((server) =>
    names.map((path) => {
      const { remote } = through(server, path);
      return [`all right, ${server}, through a path that ${path}`, { server, lines: { remote } }] as const;
    }),
  );
  const bad = ["wrong password", "another's client certificate", "another name", "a cut inner network"].map((name) => {
    const { server, lines, ...rest } = cases[name] ?? { server: "plain" };
    const { remote } = through(server as keyof typeof AFAR, WORST);
    return [`${name}, through a path that ${WORST}`, { ...rest, server, lines: { ...lines, remote } }] as const;
  });
  return Object.fromEntries([...good, ...bad]);
}

describeWith(["network namespaces", "setpriv", "openvpn"], "OpenVPN servers", () => {
  let lab: Lab;
  let prober: LabProber;
  const folder = temporaryFolder();
  beforeAll(async () => {
    lab = await openLab();
    prober = startProber(lab);
  });
  afterAll(async () => {
    await lab?.close();
  });

  it("give every case the verdict of the matrix", { timeout: 600_000 }, async () => {
    const keys = makeLabKeys(folder);
    const log = await startOpenvpnServers(lab, folder);
    const relays = Object.entries(AFAR).flatMap(([name, firstPort]) =>
      relaysTo(SERVERS[name as ServerName].port, firstPort),
    );
    await startRelays(lab, folder, relays);
    const reports = new Map<string, LabReport>();
    await Promise.all(
      Object.entries({ ...casesOf(keys), ...casesAfar(keys) }).map(
        async ([name, { server, lines = {}, fields, targets = ALL }]) => {
          const profile = { ...profileOf(server, keys), ...lines };
          const report = await prober.check({
            kind: "openvpn",
            settings: {
              config: `${Object.values(profile).join("\n")}\n`,
              ...(fields ?? ("auth-user-pass" in profile ? LOGIN : {})),
            },
            targets,
            timeoutMs: 20_000,
          });
          reports.set(name, report);
        },
      ),
    );
    console.info(`\n${[...reports].map(([name, report]) => rowOf("openvpn", name, report)).join("\n")}\n`);
    const found = Object.fromEntries(
      [...reports].map(([name, { outcome, category }]) => [name, `${outcome.verdict} ${category ?? "-"}`]),
    );
    const goodAfar = Object.keys(found).filter((name) => name.startsWith("all right") && name.includes("a path that"));
    expect(goodAfar).toHaveLength(Object.keys(AFAR).length * Object.keys(LAB_PATHS).length);
    expect(found).toEqual({ ...MATRIX, ...Object.fromEntries(goodAfar.map((name) => [name, "ok -"])) });
    expect(log("renewing")).toContain("soft reset");
    const secrets = [
      LOGIN.password,
      "secret-of-this-session",
      "BEGIN PRIVATE KEY",
      keys.text("crypt.key").slice(200, 232),
    ];
    for (const { outcome } of reports.values()) {
      for (const secret of secrets) expect(JSON.stringify(outcome)).not.toContain(secret);
    }
  });
});
