/**
 * WireGuard and AmneziaWG against the real servers: every row of the failure tables, held against wireguard.matrix.json. A case without a
 * cell fails, and so does a cell without a case.
 */
import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { temporaryFolder } from "../../testkit/temporary-folder.ts";
import { describeWith } from "../prerequisites.ts";
import {
  buildGo,
  GO_SERVERS,
  type GoServer,
  type Key,
  type KeyPair,
  keyOf,
  makeKeys,
  startGoServer,
} from "./go-server.ts";
import { LAB, type Lab, openLab } from "./network.ts";
import { type LabOrder, type LabProber, type LabReport, rowOf, startProber } from "./prober.ts";
import { LAB_PATHS, relaysTo, startRelays } from "./relays.ts";

const MATRIX: Readonly<Record<string, Readonly<Record<string, string>>>> = JSON.parse(
  readFileSync(new URL("./wireguard.matrix.json", import.meta.url), "utf8"),
);

const ALL = [`icmp:${LAB.internet}`, `dns:${LAB.internet}`, `tcp:${LAB.internet}:443`];

/** What a case changes of a client that is all right. */
interface Case {
  readonly kind?: "wireguard" | "amneziawg";
  readonly endpoint?: string;
  /** Lines of [Interface] and [Peer], instead of those of a right client; an empty text leaves one out. */
  readonly own?: Readonly<Record<string, string>>;
  readonly peer?: Readonly<Record<string, string>>;
  readonly isUnknown?: boolean;
  readonly hasPresharedKey?: boolean;
  readonly targets?: readonly string[];
  readonly clockMs?: number;
  /** A first check with the right clock, so that the server knows a later time. */
  readonly isSecond?: boolean;
  /**
   * wireguard-go 0.0.20250522 answers IPv6 clients at a wrong address once it has answered one over IPv4: conn/bind_std.go copies the 16 bytes
   * into a pooled slice that was cut to four, so `fd00:77::2` becomes `fd00:77::`.
   */
  readonly isBeforeOthers?: boolean;
}

const SERVER_PORT = 51_820;
/** Where the paths with faults to the first server begin, and those to the next a hundred further on. */
const FIRST_RELAY = 12_000;
/** Nothing is behind it: all that it answers is what it is sent. */
const MIRROR = 11_999;
const NOTHING = 9;
/** Where a tenth is dropped, the first datagram of each way is. */
const FIRST_LOST = 45;
/** Their first answers come too late or not at all, so that a client has to ask again. */
const NEEDS_RETRY = ["drops a tenth of the datagrams", "delays every datagram by 600 ms"];

/** The failure table of WireGuard. */
const WIREGUARD_CASES: Readonly<Record<string, Case>> = {
  "all right": {},
  "all right, outside over IPv6": { endpoint: `[${LAB.serverV6}]:${SERVER_PORT}`, isBeforeOthers: true },
  "all right, inside over IPv6": {
    own: { Address: "fd00:66::N/128" },
    targets: [`icmp:${LAB.internetV6}`],
  },
  "all right, DNS alone": { targets: [`dns:${LAB.internet}`] },
  "all right, TCP alone": { targets: [`tcp:${LAB.internet}:443`] },
  "all right, DNS server of the file": { own: { DNS: LAB.internet }, targets: [`icmp:${LAB.cutOff}`] },
  "all right, preshared key": { hasPresharedKey: true },
  "all right, as AmneziaWG": { kind: "amneziawg", own: { Jc: "3", Jmin: "20", Jmax: "40" } },
  "a mirror": { endpoint: `${LAB.server}:${MIRROR}` },
  "another preshared key": { hasPresharedKey: true, peer: { PresharedKey: keyOf(randomBytes(32)).base64 } },
  "no preshared key": { hasPresharedKey: true, peer: { PresharedKey: "" } },
  "another server key": { peer: { PublicKey: makeKeys().publicKey.base64 } },
  "a client key that the server does not know": { isUnknown: true },
  "an old time stamp": { isSecond: true, clockMs: -3_600_000 },
  "a black hole": { endpoint: `${LAB.blackHole}:${SERVER_PORT}` },
  "an unreachable host": { endpoint: `${LAB.unreachable}:${SERVER_PORT}` },
  "a firewall that forbids": { endpoint: `${LAB.prohibited}:${SERVER_PORT}` },
  "a closed port": { endpoint: `${LAB.server}:9` },
  "a cut inner network": { targets: [`icmp:${LAB.cutOff}`, `dns:${LAB.cutOff}`] },
  "an inner address that the server does not allow": { own: { Address: "10.66.200.200/32" } },
  "no way to what is asked": { peer: { AllowedIPs: "192.168.0.0/24" }, own: { Address: "192.168.0.1/32" } },
  "a disguise that the server does not have": { kind: "amneziawg", own: { S1: "20", S2: "20", H1: "101", H2: "102" } },
};

type Disguise = Readonly<Record<string, string>>;

const OLD: Disguise = {
  Jc: "4",
  Jmin: "20",
  Jmax: "60",
  S1: "33",
  S2: "57",
  H1: "1001",
  H2: "1002",
  H3: "1003",
  H4: "1004",
};
/** Of each generation: what server and client share. */
const DISGUISES: Readonly<Record<Exclude<GoServer, "wireguard-go">, Disguise>> = {
  "amneziawg-go-1.0": OLD,
  "amneziawg-go-1.5": { ...OLD, I1: "<b 0xc0ffee><r 30><t><c>", J1: "<r 20>", Itime: "60" },
  "amneziawg-go-2.0": {
    ...OLD,
    S3: "21",
    S4: "19",
    H1: "1000-1999",
    H2: "2000-2999",
    H3: "3000-3999",
    H4: "4000-4999",
    I1: "<b 0xdeadbeef><rc 12><rd 5><t>",
    I3: "<r 40>",
  },
};

function amneziaCases(server: GoServer, shared: Disguise): Readonly<Record<string, Case>> {
  const changed = (changes: Disguise): Case => ({ kind: "amneziawg", own: { ...shared, ...changes } });
  const isNew = server === "amneziawg-go-2.0";
  return {
    "all right": changed({}),
    "all right, preshared key": { ...changed({}), hasPresharedKey: true },
    "all right, other junk": changed({ Jc: "0", Jmin: "", Jmax: "", I1: "", I3: "", J1: "", Itime: "" }),
    "another S1": changed({ S1: "34" }),
    "another H1": changed({ H1: "77777" }),
    "another S2": changed({ S2: "40" }),
    "another H2": changed({ H2: "77778" }),
    "another H4": changed({ H4: "77779" }),
    ...(isNew && { "another S4": changed({ S4: "3" }) }),
    "another preshared key": {
      ...changed({}),
      hasPresharedKey: true,
      peer: { PresharedKey: keyOf(randomBytes(32)).base64 },
    },
    "another server key": { ...changed({}), peer: { PublicKey: makeKeys().publicKey.base64 } },
    "no disguise": { kind: "wireguard" },
    "a mirror": { ...changed({}), endpoint: `${LAB.server}:${MIRROR}` },
    "a cut inner network": { ...changed({}), targets: [`icmp:${LAB.cutOff}`] },
  };
}

/** What must pass whatever the path does. */
function casesAfar(server: GoServer, like: Case): Readonly<Record<string, Case>> {
  return Object.fromEntries(
    Object.keys(LAB_PATHS).map((path, at) => [
      `all right, through a path that ${path}`,
      { ...like, endpoint: `${LAB.server}:${relaysOf(server) + at}` },
    ]),
  );
}

function withPaths(server: Exclude<GoServer, "wireguard-go">): Readonly<Record<string, Case>> {
  const shared = DISGUISES[server];
  return { ...amneziaCases(server, shared), ...casesAfar(server, { kind: "amneziawg", own: shared }) };
}

const CASES: Readonly<Record<GoServer, Readonly<Record<string, Case>>>> = {
  "wireguard-go": { ...WIREGUARD_CASES, ...casesAfar("wireguard-go", {}) },
  "amneziawg-go-1.0": withPaths("amneziawg-go-1.0"),
  "amneziawg-go-1.5": withPaths("amneziawg-go-1.5"),
  "amneziawg-go-2.0": withPaths("amneziawg-go-2.0"),
};
const UNDER_LOAD = { "under load": "all right", "under load, a client key that the server does not know": "unknown" };

interface Client {
  readonly keys: KeyPair;
  readonly presharedKey: Key;
  readonly number: number;
}

describeWith(["network namespaces", "setpriv", "go"], "WireGuard servers", () => {
  let lab: Lab;
  let prober: LabProber;
  const folder = temporaryFolder();
  beforeAll(async () => {
    lab = await openLab();
    prober = startProber(lab);
    const servers = Object.keys(GO_SERVERS) as GoServer[];
    const listen = { host: LAB.server, port: MIRROR };
    await startRelays(lab, folder, [
      ...servers.flatMap((server) => relaysTo(portOf(server), relaysOf(server), FIRST_LOST)),
      { server: { host: LAB.server, port: NOTHING }, faults: { isMirror: true }, listen },
    ]);
  });
  afterAll(async () => {
    await lab?.close();
  });

  describe.each(Object.keys(GO_SERVERS) as GoServer[])("%s", (server) => {
    it("gives every case the verdict of the matrix", { timeout: 600_000 }, async () => {
      const serverKeys = makeKeys();
      const cases = CASES[server];
      const clients = new Map(
        [...Object.keys(cases), ...Object.keys(UNDER_LOAD)].map((name, index): [string, Client] => [
          name,
          { keys: makeKeys(), presharedKey: keyOf(randomBytes(32)), number: index + 2 },
        ]),
      );
      await startGoServer(lab, {
        server,
        program: await buildGo(server, folder),
        device: `son${process.pid % 100_000}${Object.keys(GO_SERVERS).indexOf(server)}`,
        port: portOf(server),
        keys: serverKeys,
        clients: [...clients].flatMap(([name, { keys, presharedKey, number }]) =>
          isKnown(cases, name)
            ? [
                {
                  publicKey: keys.publicKey,
                  ...(cases[name]?.hasPresharedKey === true && { presharedKey }),
                  allowed: [`10.66.${index(server)}.${number}/32`, `fd00:66::${number.toString(16)}/128`],
                },
              ]
            : [],
        ),
        addresses: [`10.66.${index(server)}.1/24`, ...(server === "wireguard-go" ? ["fd00:66::1/64"] : [])],
        disguise: server === "wireguard-go" ? [] : uapiOf(DISGUISES[server]),
      });
      const reports = new Map<string, LabReport>();
      const runCase = async (name: string, each: Case, flood?: LabOrder["flood"]) => {
        const client = clients.get(name);
        if (client === undefined) throw new Error(`no client of ${name}`);
        const order: LabOrder = {
          kind: each.kind ?? "wireguard",
          settings: { config: configOf(each, client, server, serverKeys) },
          targets: each.targets ?? ALL,
        };
        if (each.isSecond === true) await prober.check(order);
        const { clockMs } = each;
        reports.set(
          name,
          await prober.check({
            ...order,
            ...(clockMs !== undefined && { clockMs }),
            ...(flood !== undefined && { flood }),
          }),
        );
      };
      for (const isBefore of [true, false]) {
        const some = Object.entries(cases).filter(([, each]) => (each.isBeforeOthers === true) === isBefore);
        await Promise.all(some.map(([name, each]) => runCase(name, each)));
      }
      if (server === "wireguard-go") {
        const flood = { address: LAB.server, port: SERVER_PORT, serverKey: serverKeys.publicKey.base64 };
        for (const name of Object.keys(UNDER_LOAD)) await runCase(name, {}, flood);
        // The server asked for a proof of our address, and got it.
        expect(reports.get("under load")?.cookies).toBeGreaterThan(0);
      }
      for (const path of NEEDS_RETRY) {
        // It had to ask again: the path was bad indeed.
        const retried = reports.get(`all right, through a path that ${path}`);
        expect(retried?.outcome.connectMs).toBeGreaterThanOrEqual(700);
      }
      console.info(`\n${[...reports].map(([name, report]) => rowOf(server, name, report)).join("\n")}\n`);
      const found = Object.fromEntries(
        [...reports].map(([name, { outcome, category }]) => [name, `${outcome.verdict} ${category ?? "-"}`]),
      );
      const afar = Object.keys(casesAfar(server, {})).map((name) => [name, "ok -"]);
      expect(found).toEqual({ ...MATRIX[server], ...Object.fromEntries(afar) });
      for (const { outcome } of reports.values()) {
        for (const { keys, presharedKey } of clients.values()) {
          expect(JSON.stringify(outcome)).not.toContain(keys.privateKey.base64);
          expect(JSON.stringify(outcome)).not.toContain(presharedKey.base64);
        }
      }
    });
  });
});

it("the matrix has no server that is not tried", () => {
  expect(Object.keys(MATRIX)).toEqual(Object.keys(GO_SERVERS));
});

function isKnown(cases: Readonly<Record<string, Case>>, name: string): boolean {
  return cases[name]?.isUnknown !== true && UNDER_LOAD[name as keyof typeof UNDER_LOAD] !== "unknown";
}

function index(server: GoServer): number {
  return Object.keys(GO_SERVERS).indexOf(server);
}

function relaysOf(server: GoServer): number {
  return FIRST_RELAY + 100 * index(server);
}

function portOf(server: GoServer): number {
  return SERVER_PORT + index(server);
}

function configOf(each: Case, client: Client, server: GoServer, serverKeys: KeyPair): string {
  const own = {
    PrivateKey: client.keys.privateKey.base64,
    Address: `10.66.${index(server)}.${client.number}/32`,
    ...each.own,
  };
  const peer = {
    PublicKey: serverKeys.publicKey.base64,
    ...(each.hasPresharedKey === true && { PresharedKey: client.presharedKey.base64 }),
    Endpoint: each.endpoint ?? `${LAB.server}:${portOf(server)}`,
    AllowedIPs: "0.0.0.0/0, ::/0",
    ...each.peer,
  };
  const lines = (section: Readonly<Record<string, string>>) =>
    Object.entries(section)
      .filter(([, value]) => value !== "")
      .map(([key, value]) => `${key} = ${value.replace("fd00:66::N", `fd00:66::${client.number.toString(16)}`)}`);
  return ["[Interface]", ...lines(own), "[Peer]", ...lines(peer), ""].join("\n");
}

/** Of the control protocol: the same names in lower case. */
function uapiOf(disguise: Disguise): readonly string[] {
  return Object.entries(disguise).map(([key, value]) => `${key.toLowerCase()}=${value}`);
}
