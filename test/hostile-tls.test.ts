/** Websites whose TLS is made to cost much: each check ends, and those beside it in the same thread pass. In threads of the built files. */
import { createPrivateKey, generateKeyPairSync } from "node:crypto";
import { existsSync } from "node:fs";
import { createServer, type TlsOptions } from "node:tls";
import { afterAll, beforeAll, expect, it } from "vitest";
import { listen } from "../demo/loopback.ts";
import type { Direct, DirectOptions } from "../engine/direct/direct.ts";
import {
  certificateOf,
  dsaPublic,
  integer,
  oddNumber,
  rsaPublic,
  sequence,
} from "../engine/protocols/keys/hostile-keys.suite.ts";
import { writePem } from "../engine/protocols/keys/pem.ts";
import { chain, LEAF_KEY } from "./hostile-chain.ts";
import { startWebsite, type Website } from "./targets.ts";

const DIRECT = new URL("../dist/engine/direct/direct.js", import.meta.url);
const silent = { info: () => {}, warn: () => {}, error: () => {} };

let direct: Direct;
let site: Website;
beforeAll(async () => {
  if (!existsSync(DIRECT)) throw new Error("dist is missing: run `npm run build` first");
  const { openDirect } = (await import(DIRECT.href)) as { openDirect: (options: DirectOptions) => Promise<Direct> };
  site = await startWebsite();
  direct = await openDirect({
    engine: {
      allowNets: ["127.0.0.0/8"],
      ownEndpoints: [],
      resolvers: [],
      extraCaPem: null,
      rdapBootstrapUrl: null,
      canaries: [],
    },
    workers: 1,
    concurrency: 50,
    log: silent,
    onFatal: (error) => {
      throw error;
    },
  });
});
afterAll(async () => {
  await direct?.close();
  await site?.close();
});

const rsa = generateKeyPairSync("rsa", { modulusLength: 2_048 });

/** Public and private exponent changed places: it signs in no time, and each look at its signature takes as long as signing otherwise. */
function hugeExponent(): TlsOptions {
  const jwk = rsa.privateKey.export({ format: "jwk" });
  const { d = "", e = "" } = jwk;
  const bigint = (text: string): bigint => BigInt(`0x${Buffer.from(text, "base64url").toString("hex")}`);
  const text = (value: bigint): string => {
    const hex = value.toString(16);
    return Buffer.from(hex.padStart(hex.length + (hex.length % 2), "0"), "hex").toString("base64url");
  };
  const [p, q] = [bigint(jwk.p ?? ""), bigint(jwk.q ?? "")];
  const swapped = { ...jwk, e: d, d: e, dp: text(bigint(e) % (p - 1n)), dq: text(bigint(e) % (q - 1n)) };
  const own = createPrivateKey({ key: swapped, format: "jwk" });
  const leaf = certificateOf({
    spki: sequence(
      Buffer.from("300d06092a864886f70d0101010500", "hex"),
      bits(sequence(integer(Buffer.from(jwk.n ?? "", "base64url")), integer(Buffer.from(d, "base64url")))),
    ),
    isAuthority: false,
    signer: own,
  });
  return { cert: writePem("CERTIFICATE", leaf), key: own.export({ type: "pkcs8", format: "pem" }) };
}
const bits = (content: Buffer): Buffer => {
  const body = Buffer.concat([Buffer.alloc(1), content]);
  return Buffer.concat([Buffer.from([3, 0x82, body.length >> 8, body.length & 0xff]), body]);
};

function dhe(groupBits: number): TlsOptions {
  const leaf = certificateOf({
    spki: rsa.publicKey.export({ type: "spki", format: "der" }),
    isAuthority: false,
    signer: rsa.privateKey,
  });
  return {
    cert: writePem("CERTIFICATE", leaf),
    key: rsa.privateKey.export({ type: "pkcs8", format: "pem" }),
    ciphers: "DHE-RSA-AES128-GCM-SHA256",
    maxVersion: "TLSv1.2",
    dhparam: writePem("DH PARAMETERS", sequence(integer(oddNumber(groupBits)), integer(2))),
  };
}

/**
 * OpenSSL goes through 100 kB of a chain before anything can look at it, 0.15 to 0.67 s of these. A busy machine may call itself unfit for that,
 * or take the thread for one that hangs: the check is cancelled then, and those beside it run again in another thread.
 */
const SLOW = ["cert-invalid", "unfit", "cancelled"];
const CASES: readonly (readonly [string, () => TlsOptions, string | readonly string[]])[] = [
  ["a Diffie-Hellman group of 2,048 bits and an unknown authority", () => dhe(2_048), "cert-invalid"],
  ["a Diffie-Hellman group of 8,192 bits", () => dhe(8_192), "handshake-failed"],
  ["a Diffie-Hellman group of 10,000 bits", () => dhe(10_000), "handshake-failed"],
  [
    "ffdhe8192 and nothing else",
    () => ({ ...chain(0, () => LEAF_KEY, "rsa", 2_048), ecdhCurve: "ffdhe8192" }),
    "handshake-failed",
  ],
  ["authorities of RSA with 16,384 bits", () => chain(10, () => rsaPublic(16_384), "rsa", 16_384), "cert-invalid"],
  ["a public exponent of 2,048 bits", hugeExponent, "cert-invalid"],
  [
    "authorities with exponents of 3,072 bits",
    () => chain(60, () => rsaPublic(3_072, oddNumber(3_064)), "rsa", 3_072),
    SLOW,
  ],
  ["authorities of DSA with 10,000 bits", () => chain(16, () => dsaPublic(10_000), "dsa", 256), SLOW],
  ["a chain of 10 MB", () => chain(5_000, () => rsaPublic(8_192), "rsa", 8_192), "handshake-failed"],
];

it.each(CASES)("%s: the check ends, and websites beside it are up", async (_name, optionsOf, verdict) => {
  const server = createServer(optionsOf(), (socket) => socket.on("error", () => {}).end("HTTP/1.1 200 OK\r\n\r\n"));
  server.on("tlsClientError", () => {});
  const port = await listen(server);
  try {
    const [hostile, ...beside] = await Promise.all([
      direct.check({ kind: "http", settings: { url: `https://127.0.0.1:${port}/` }, timeoutMs: 20_000 }),
      ...Array.from({ length: 40 }, () =>
        direct.check({ kind: "http", settings: { url: site.url }, timeoutMs: 20_000 }),
      ),
    ]);
    expect([verdict].flat()).toContain(hostile.verdict);
    expect(beside.map((one) => one.verdict)).toEqual(beside.map(() => "ok"));
  } finally {
    server.close();
  }
});
