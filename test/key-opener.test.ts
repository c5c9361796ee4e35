/** Foreign keys opened in a process of its own, from dist: what takes too long is ended, what stands beside it is not harmed, and nothing stays. */
import { execFileSync, spawn } from "node:child_process";
import { generateKeyPairSync } from "node:crypto";
import { once } from "node:events";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterEach, beforeAll, describe, expect, it } from "vitest";
import { makeAuthority, makeCertificate } from "../demo/certificates.ts";
import { openOpenvpnServer } from "../demo/tunnels/openvpn-server.ts";
import type { Direct, DirectOptions } from "../engine/direct/direct.ts";
import { keyOpenerMetrics } from "../engine/key-opener/metrics.ts";
import type { KeyOpenerProcess, OpenerOptions } from "../engine/key-opener/opener-process.ts";
import {
  certificateOf,
  LARGE_KEY,
  type Pkcs12,
  pkcs12Of,
  rsaPrivate,
} from "../engine/protocols/keys/hostile-keys.suite.ts";
import { readPem, writePem } from "../engine/protocols/keys/pem.ts";
import { temporaryFolder } from "../testkit/temporary-folder.ts";
import { describeWith } from "./prerequisites.ts";
import { startWebsite } from "./targets.ts";

const OPENER = new URL("../dist/engine/key-opener/opener-process.js", import.meta.url);
const DIRECT = new URL("../dist/engine/direct/direct.js", import.meta.url);
const silent = { info: () => {}, warn: () => {}, error: () => {} };

let Opener: new (options: OpenerOptions) => KeyOpenerProcess;
let openDirect: (options: DirectOptions) => Promise<Direct>;
beforeAll(async () => {
  if (!existsSync(OPENER)) throw new Error("dist is missing: run `npm run build` first");
  ({ KeyOpenerProcess: Opener } = await import(OPENER.href));
  ({ openDirect } = await import(DIRECT.href));
});

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

function opener(options: Partial<OpenerOptions> = {}): KeyOpenerProcess {
  const made = new Opener({ log: silent, ...options });
  closers.push(() => made.close());
  return made;
}

const pair = generateKeyPairSync("ec", { namedCurve: "P-256" });
const own = {
  key: pair.privateKey.export({ type: "pkcs8", format: "der" }),
  certificates: [
    certificateOf({ spki: pair.publicKey.export({ type: "spki", format: "der" }), signer: pair.privateKey }),
  ],
};
const pkcs12 = (overrides: Partial<Pkcs12> = {}) => ({
  kind: "pkcs12" as const,
  bytes: pkcs12Of({ ...own, ...overrides }),
});
/** Within the bounds, and seconds of work: it is never opened, because its digest is of fewer rounds. */
const slow = (macRounds: number) => pkcs12({ macRounds });

const isGone = (pid: number): boolean => {
  try {
    return /^\d+ \(.*\) [ZX]/s.test(readFileSync(`/proc/${pid}/stat`, "latin1"));
  } catch {
    return true;
  }
};
async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 10));
}

describe("the process that opens keys", () => {
  it("opens PKCS #12 and tries out large keys, each once, all in one process", async () => {
    const keys = opener();
    const [file, again, large] = await Promise.all([
      keys.open(pkcs12()),
      keys.open(pkcs12()),
      keys.open({ kind: "key", pem: LARGE_KEY }),
    ]);
    expect(file).toMatchObject({ type: "opened", opened: { keyPem: writePem("PRIVATE KEY", own.key) } });
    expect(again).toEqual(file);
    expect(large).toMatchObject({ type: "opened", opened: { certificatePems: [] } });
    expect(keys.stats).toMatchObject({ started: 1, killed: 0, opened: 3 - 1 });
  });

  it("has nothing of ours in its environment", async () => {
    const keys = opener();
    await keys.open(pkcs12());
    const names = readFileSync(`/proc/${keys.pid}/environ`, "latin1")
      .split("\0")
      .map((entry) => entry.split("=")[0]);
    expect(names.filter((name) => name !== "" && !name?.startsWith("NODE_CHANNEL_"))).toEqual([]);
  });

  it("is ended by a key that takes too long, which is told of the key; what waits behind it is opened by the next", async () => {
    const keys = opener({ withinMs: 300 });
    const [bad, good] = await Promise.all([keys.open(slow(990_000)), keys.open(pkcs12())]);
    expect(bad).toEqual({
      type: "refused",
      refusal: { verdict: "misconfigured", words: "takes too long to open or to sign with" },
    });
    expect(good.type).toBe("opened");
    expect(keys.stats).toMatchObject({ started: 2, killed: 1 });
    const metrics = (await keyOpenerMetrics(keys.stats)).split("\n").filter((line) => /^sonde_/.test(line));
    expect(metrics).toEqual([
      "sonde_key_openers_started_total 2",
      "sonde_key_openers_killed_total 1",
      `sonde_keys_opened_total ${keys.stats.opened}`,
      "sonde_keys_waiting 0",
    ]);
    // Known by now: asked again, it costs nothing.
    expect(await keys.open(slow(990_000))).toEqual(bad);
    expect(keys.stats).toMatchObject({ started: 2, killed: 1 });
  });

  it("that is killed by something else opens the key after all; one that it dies of twice is refused", async () => {
    const keys = opener();
    await keys.open(pkcs12());
    const first = keys.pid ?? 0;
    const answer = keys.open(slow(500_000));
    process.kill(first, "SIGKILL");
    expect(await answer).toMatchObject({ refusal: { words: expect.stringContaining("with a password") } });
    expect(keys.stats.started).toBe(2);
    const deadly = keys.open(slow(600_000));
    for (let deaths = 0; deaths < 2; deaths++) {
      const { started } = keys.stats;
      await until(() => keys.isAtWork);
      process.kill(keys.pid ?? 0, "SIGKILL");
      if (deaths === 0) await until(() => keys.stats.started > started);
    }
    expect(await deadly).toMatchObject({
      refusal: { verdict: "misconfigured", words: "ends the process that opens it" },
    });
  });

  it("has a bounded queue, and says that it is our own fault", async () => {
    const keys = opener();
    const all = Array.from({ length: 400 }, (_, index) => keys.open(pkcs12({ macRounds: 100 + index })));
    const answers = await Promise.all(all);
    const busy = answers.filter((answer) => answer.type === "refused");
    expect(busy.length).toBeGreaterThan(0);
    expect(new Set(busy.map((answer) => (answer.type === "refused" ? answer.refusal.verdict : "")))).toEqual(
      new Set(["unfit"]),
    );
    expect(answers.filter(({ type }) => type === "opened").length).toBeGreaterThanOrEqual(256);
  });

  it("ends with us, also when we are killed while it computes", async () => {
    const file = pkcs12Of({ ...own, macRounds: 990_000 }).toString("base64");
    const code = `
      const { KeyOpenerProcess } = await import(${JSON.stringify(OPENER.href)});
      const keys = new KeyOpenerProcess({ log: { warn() {} } });
      keys.open({ kind: "pkcs12", bytes: Buffer.from(${JSON.stringify(file)}, "base64") });
      const look = setInterval(() => {
        if (!keys.isAtWork) return;
        clearInterval(look);
        console.log(keys.pid);
      }, 5);`;
    const parent = spawn(process.execPath, ["--input-type=module", "-e", code], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    const [line] = await once(createInterface(parent.stdout), "line");
    const pid = Number(line);
    expect(isGone(pid)).toBe(false);
    parent.kill("SIGKILL");
    await until(() => isGone(pid));
  });
});

describe("checks with hostile keys", () => {
  it("end as misconfigured, and a website beside them and a tunnel with PKCS #12 are checked", async () => {
    const site = await startWebsite();
    const authority = makeAuthority();
    const certificate = makeCertificate({ commonName: "vpn.rig", issuer: authority });
    const client = makeCertificate({ commonName: "client.rig", issuer: authority });
    const server = await openOpenvpnServer({ tls: { cert: certificate.certPem, key: certificate.keyPem } });
    const direct = await openDirect({
      engine: {
        allowNets: ["127.0.0.0/8"],
        ownEndpoints: [],
        resolvers: [],
        extraCaPem: null,
        rdapBootstrapUrl: null,
        canaries: [],
        tunnelTargets: ["icmp:1.1.1.1"],
      },
      workers: 1,
      concurrency: 50,
      log: silent,
      onFatal: (error) => {
        throw error;
      },
    });
    closers.push(
      () => direct.close(),
      () => server.close(),
      () => site.close(),
    );
    const openvpn = (...files: readonly (readonly [string, string])[]) => {
      const text = [["ca", authority.certPem] as const, ...files].map(([tag, body]) => `<${tag}>\n${body}\n</${tag}>`);
      const config = [`client\nremote 127.0.0.1 ${server.port}`, ...text].join("\n");
      return direct.check({ kind: "openvpn", settings: { config }, timeoutMs: 30_000 });
    };
    const base64 = (bytes: Buffer): string => bytes.toString("base64").replace(/.{64}/g, "$&\n");
    const derOf = (pem: string): Buffer => readPem(pem)[0]?.der ?? Buffer.alloc(0);
    const sound = pkcs12Of({
      key: client.key.export({ type: "pkcs8", format: "der" }),
      certificates: [derOf(client.certPem)],
    });
    const hostile = await Promise.all([
      openvpn(["pkcs12", base64(pkcs12Of({ ...own, macRounds: 150_000_000 }))]),
      openvpn(["pkcs12", base64(pkcs12Of({ ...own, macRounds: 1_000_000 - 4_096 }))]),
      openvpn(["pkcs12", base64(pkcs12Of({ ...own, keyScheme: { kind: "pbkdf2", rounds: 150_000_000 } }))]),
      openvpn(["cert", client.certPem], ["key", writePem("RSA PRIVATE KEY", rsaPrivate(16_384))]),
      openvpn(["cert", client.certPem], ["key", writePem("RSA PRIVATE KEY", rsaPrivate(8_192))]),
    ]);
    const beside = await Promise.all([
      ...Array.from({ length: 50 }, () =>
        direct.check({ kind: "http", settings: { url: site.url }, timeoutMs: 10_000 }),
      ),
      openvpn(["pkcs12", base64(sound)]),
    ]);
    expect(hostile.map(({ verdict }) => verdict)).toEqual(hostile.map(() => "misconfigured"));
    expect(hostile[0]?.message).toContain("<pkcs12> holds a key derivation of 150000000 rounds; at most 1000000");
    expect(hostile[3]?.message).toContain("<key> holds an RSA modulus of 16384 bits; at most 8192");
    expect(beside.map(({ verdict }) => verdict)).toEqual(beside.map(() => "ok"));
  }, 120_000);
});

describeWith(["openssl"], "files of the openssl command", () => {
  it.each<[string, readonly string[]]>([
    ["its standard", []],
    ["3DES", ["-keypbe", "PBE-SHA1-3DES", "-certpbe", "PBE-SHA1-3DES", "-macalg", "sha1"]],
    [
      "AES-128, certificates in the clear, SHA-512",
      ["-keypbe", "AES-128-CBC", "-certpbe", "NONE", "-macalg", "sha512"],
    ],
    ["no MAC", ["-nomac"]],
    ["100,000 rounds", ["-iter", "100000"]],
  ])("are opened: %s", async (_name, options) => {
    const folder = temporaryFolder();
    const authority = makeAuthority();
    const client = makeCertificate({ commonName: "client.rig", issuer: authority });
    const path = (name: string, text: string): string => {
      writeFileSync(join(folder, name), text);
      return join(folder, name);
    };
    const out = join(folder, "out.p12");
    const made = ["-in", path("cert.pem", client.certPem), "-inkey", path("key.pem", client.keyPem)];
    const chain = ["-certfile", path("ca.pem", authority.certPem), "-out", out];
    execFileSync("openssl", ["pkcs12", "-export", "-passout", "pass:", ...options, ...made, ...chain]);
    const answer = await opener().open({ kind: "pkcs12", bytes: readFileSync(out) });
    expect(answer).toMatchObject({ type: "opened" });
    if (answer.type !== "opened") return;
    expect(answer.opened.certificatePems).toEqual([client.certPem, authority.certPem]);
    expect(answer.opened.keyPem).toBe(client.keyPem);
  });
});
