import type { Socket } from "node:net";
import { createSecureContext, type SecureContextOptions, TLSSocket } from "node:tls";
import { describe, expect, it } from "vitest";
import { type MadeCertificate, makeCertificate } from "../../demo/certificates.ts";
import type { Outcome } from "../contract/probe.ts";
import { classify } from "../net/classify.ts";
import type { StarttlsProtocol } from "../protocols/starttls/turns.ts";
import { closedPort, makeCheck } from "../transport/peers.suite.ts";
import { tls } from "./tls.ts";
import { authority, serveTcp, transport, valid } from "./tls-peers.suite.ts";

const other = makeCertificate({
  commonName: "other.dev",
  names: ["other.dev", "xn--bcher-kva.dev"],
  issuer: authority,
});
const expired = makeCertificate({
  commonName: "localhost",
  names: ["localhost"],
  issuer: authority,
  notBeforeMs: 0,
  notAfterMs: 1_000,
});
const expiredIssuer = makeCertificate({
  commonName: "Between",
  issuer: authority,
  ca: true,
  notBeforeMs: 0,
  notAfterMs: 1_000,
});
const below = makeCertificate({ commonName: "localhost", names: ["localhost"], issuer: expiredIssuer });
const probe = await tls.load();

interface Script {
  readonly certificate?: MadeCertificate;
  readonly options?: SecureContextOptions;
  /** What it says first, and after each command; TLS begins after the last. Empty: at once. */
  readonly says?: readonly (string | Buffer)[];
}

/** A server by a script. @returns its port, what it heard in the clear, and the names that it was asked for in TLS */
async function serve({ certificate = valid, options = {}, says = [] }: Script) {
  const heard: Buffer[] = [];
  const names: (string | false | null)[] = [];
  const secureContext = createSecureContext({ cert: certificate.certPem, key: certificate.keyPem, ...options });
  const secure = (socket: Socket): void => {
    const secured = new TLSSocket(socket, { isServer: true, secureContext, SNICallback });
    secured.on("error", () => {});
    secured.resume();
  };
  const SNICallback = (name: string, done: (error: null) => void): void => {
    names.push(name);
    done(null);
  };
  const port = await serveTcp((socket) => {
    if (says.length === 0) return secure(socket);
    const left = [...says];
    const say = (): void => {
      const next = left.shift();
      if (next !== undefined && next.length > 0) socket.write(next);
      if (left.length > 0) return;
      socket.removeAllListeners("data");
      secure(socket);
    };
    socket.on("data", (bytes) => {
      heard.push(bytes);
      say();
    });
    if (says[0] !== WAITS) say();
    else left.shift();
  });
  return { port, heard, names };
}
/** In the place of a greeting: the client speaks first. */
const WAITS = "";

async function check(port: number, settings: Readonly<Record<string, unknown>> = {}) {
  const rig = makeCheck(transport);
  try {
    const body = { host: "localhost", ip_version: "ipv4", port, ...settings };
    return { ...(await probe.run(tls.settings.parse(body), rig.context)), phases: rig.phases };
  } catch (error) {
    return { ...classify(error, rig.phases.at(-1) ?? null), phases: rig.phases } as Outcome & { phases: string[] };
  }
}

const seen = (isValid: boolean) => ({ valid: isValid, expiresAtMs: expect.any(Number) });

describe("a TLS port", () => {
  it("is healthy with a certificate for its name, with the time to the end of the handshake as latency", async () => {
    const { port, names } = await serve({});
    const outcome = await check(port);
    expect(outcome).toMatchObject({ verdict: "ok", certificate: seen(true), latencyMs: expect.any(Number) });
    expect(outcome.phases).toEqual(["resolve", "connect", "handshake"]);
    expect(names).toEqual(["localhost"]);
  });

  it.each<[string, Script, Record<string, unknown>, Partial<Outcome>]>([
    ["for another name", { certificate: other }, {}, { verdict: "cert-invalid", peer: expect.any(String) }],
    [
      "that has expired",
      { certificate: expired },
      {},
      { verdict: "cert-invalid", certificate: { valid: false, expiresAtMs: 1_000 } },
    ],
    [
      "below one that has expired",
      { certificate: { ...below, certPem: below.certPem + expiredIssuer.certPem } },
      {},
      {
        verdict: "cert-invalid",
        message: expect.stringMatching(
          /^A certificate that the server's depends on has expired; the server's own is valid/,
        ),
      },
    ],
    ["for no address", {}, { host: "127.0.0.1" }, { verdict: "cert-invalid", certificate: seen(false) }],
  ])("with a certificate %s is not healthy, and the certificate is told", async (_name, script, settings, outcome) => {
    const { port } = await serve(script);
    expect(await check(port, settings)).toMatchObject({ certificate: seen(false), ...outcome });
  });

  it("is asked for another name than the host's", async () => {
    const { port, names } = await serve({ certificate: other });
    expect(await check(port, { servername: "other.dev" })).toMatchObject({ verdict: "ok" });
    expect(await check(port, { servername: "Bücher.dev" })).toMatchObject({ verdict: "ok" });
    expect(await check(port, { host: "127.0.0.1", servername: "third.dev" })).toMatchObject({
      verdict: "cert-invalid",
    });
    expect(names).toEqual(["other.dev", "xn--bcher-kva.dev", "third.dev"]);
  });

  it("whose version of TLS is older than wanted is rejected", async () => {
    const { port } = await serve({ options: { maxVersion: "TLSv1.2" } });
    expect(await check(port, { min_version: "1.2" })).toMatchObject({ verdict: "ok" });
    expect(await check(port, { min_version: "1.3" })).toMatchObject({
      verdict: "rejected",
      message: "The server chooses TLS 1.2, older than TLS 1.3",
      certificate: seen(true),
    });
  });

  it("that has only versions which are not offered is rejected where one is wanted", async () => {
    const options = { minVersion: "TLSv1", maxVersion: "TLSv1.1", ciphers: "DEFAULT@SECLEVEL=0" } as const;
    const { port } = await serve({ options });
    expect(await check(port)).toMatchObject({ verdict: "handshake-failed" });
    expect(await check(port, { min_version: "1.2" })).toMatchObject({ verdict: "rejected" });
  });

  it("that refuses, closes, or speaks no TLS is not healthy", async () => {
    expect(await check(await closedPort())).toMatchObject({ verdict: "refused" });
    const closing = await serveTcp((socket) => void socket.resume().end());
    const plain = await serveTcp((socket) => void socket.resume().write("220 mail.dev ready\r\n"));
    expect((await check(closing)).verdict).toMatch(/^(closed|handshake-failed)$/);
    expect(await check(plain)).toMatchObject({ verdict: "handshake-failed" });
  });
});

const AGREED: Readonly<Record<StarttlsProtocol, readonly [says: readonly string[], heard: string]>> = {
  smtp: [["220 mail.dev\r\n", "250-a\r\n250 STARTTLS\r\n", "220 go\r\n"], "EHLO [127.0.0.1]\r\nSTARTTLS\r\n"],
  imap: [["* OK ready\r\n", "a1 OK go\r\n"], "a1 STARTTLS\r\n"],
  pop3: [["+OK ready\r\n", "+OK go\r\n"], "STLS\r\n"],
  ftp: [["220-Hello\r\n there\r\n220 ready\r\n", "234 go\r\n"], "AUTH TLS\r\n"],
  postgres: [[WAITS, "S"], "\0\0\0\b\x04\xd2\x16/"],
};

describe.each(Object.entries(AGREED))("TLS that is agreed on by %s", (starttls, [says, sent]) => {
  it("is healthy", async () => {
    const { port, heard } = await serve({ says });
    const outcome = await check(port, { starttls });
    expect(outcome).toMatchObject({ verdict: "ok", certificate: seen(true) });
    expect(outcome.phases).toEqual(["resolve", "connect", "request", "handshake"]);
    expect(Buffer.concat(heard).toString("latin1")).toBe(sent);
  });

  it("has its certificate judged", async () => {
    const { port } = await serve({ says, certificate: other });
    expect(await check(port, { starttls })).toMatchObject({ verdict: "cert-invalid", certificate: seen(false) });
  });

  it("is refused when the server says more in the clear (RFC 3207 section 6)", async () => {
    const { port } = await serve({ says: [...says.slice(0, -1), `${says.at(-1)}250 injected\r\n`] });
    expect(await check(port, { starttls })).toMatchObject({
      verdict: "protocol-error",
      message: "The server sends more in the clear after it agreed to TLS",
    });
  });

  it("is rejected when the server does not agree", async () => {
    const no = { smtp: "454 no\r\n", imap: "a1 NO\r\n", pop3: "-ERR\r\n", ftp: "502 no\r\n", postgres: "N" }[starttls];
    const { port } = await serve({ says: [...says.slice(0, -1), no ?? ""] });
    expect(await check(port, { starttls })).toMatchObject({
      verdict: "rejected",
      message: "The server does not agree to TLS",
      peer: expect.stringContaining(no?.trim() ?? ""),
    });
  });

  it("is a protocol error when the server speaks another one, and closed when it leaves", async () => {
    const { port } = await serve({ says: ["HTTP/1.1 400 Bad Request\r\n", ""] });
    expect(await check(port, { starttls })).toMatchObject({ verdict: "protocol-error" });
    const closing = await serveTcp((socket) => void socket.resume().end());
    expect(await check(closing, { starttls })).toMatchObject({ verdict: "closed" });
  });
});

it("a server that never answers ends with the check", async () => {
  const port = await serveTcp();
  const rig = makeCheck(transport);
  const body = { host: "127.0.0.1", port, starttls: "imap" };
  const running = probe.run(tls.settings.parse(body), rig.context);
  await expect.poll(() => rig.phases).toContain("request");
  rig.expire();
  await expect(running).rejects.toThrow("deadline");
});

describe("settings of a TLS port", () => {
  it("have defaults", () => {
    expect(tls.settings.parse({ host: "a.dev" })).toEqual({
      host: "a.dev",
      port: 443,
      ...{ starttls: null, servername: null, min_version: null, ip_version: null },
    });
  });

  it.each([
    [{ starttls: "ssh" }, "starttls must be smtp, imap, pop3, ftp, postgres or null."],
    [{ servername: "a b" }, "servername must be a name, an address or null."],
    [{ servername: 1 }, "servername must be a name, an address or null."],
    [{ min_version: "1.1" }, "min_version must be 1.2, 1.3 or null."],
    [{ ssl_expiration: 5 }, "ssl_expiration must be one of 0, 1, 2, 3, 7, 14, 30, 60 or null."],
  ])("%j", (settings, message) => {
    const result = tls.settings.safeParse({ host: "a.dev", ...settings });
    expect(result.error?.issues.map((issue) => issue.message)).toEqual([message]);
  });
});
