import type { Socket } from "node:net";
import { createSecureContext, TLSSocket } from "node:tls";
import { describe, expect, it } from "vitest";
import { makeCertificate } from "../../demo/certificates.ts";
import type { Outcome } from "../contract/probe.ts";
import { classify } from "../net/classify.ts";
import { makeCheck } from "../transport/peers.suite.ts";
import { smtp } from "./smtp.ts";
import { authority, serveTcp, transport, valid } from "./tls-peers.suite.ts";

const other = makeCertificate({ commonName: "other.dev", names: ["other.dev"], issuer: authority });
const probe = await smtp.load();

interface Script {
  readonly greeting?: string;
  /** Answers by command; what is missing is answered 502. */
  readonly answers?: Readonly<Record<string, string>>;
  readonly certificate?: { readonly certPem: string; readonly keyPem: string };
  readonly isTlsFirst?: boolean;
}

/** A mail server by a script. @returns its port, and what it heard in its order */
async function serve(script: Script): Promise<{ readonly port: number; readonly heard: string[] }> {
  const heard: string[] = [];
  const { greeting = "220 mail.dev ready\r\n", certificate = valid } = script;
  const answers: Readonly<Record<string, string>> = {
    EHLO: "250-mail.dev\r\n250 STARTTLS\r\n",
    STARTTLS: "220 go\r\n",
    ...script.answers,
  };
  const secure = (socket: Socket): TLSSocket => {
    const secureContext = createSecureContext({ cert: certificate.certPem, key: certificate.keyPem });
    const secured = new TLSSocket(socket, { isServer: true, secureContext });
    secured.on("error", () => {});
    return secured;
  };
  const talk = (socket: Socket): void => {
    socket.on("data", (bytes) => {
      const [command = ""] = bytes.toString().trim().split(" ");
      heard.push(bytes.toString().trim());
      const answer = answers[command] ?? "502 what\r\n";
      socket.write(answer);
      if (command !== "STARTTLS" || !answer.startsWith("220")) return;
      socket.removeAllListeners("data");
      talk(secure(socket));
    });
  };
  const port = await serveTcp((socket) => {
    const stream = script.isTlsFirst ? secure(socket) : socket;
    stream.write(greeting);
    talk(stream);
  });
  return { port, heard };
}

async function check(port: number, settings: Readonly<Record<string, unknown>> = {}): Promise<Outcome> {
  const rig = makeCheck(transport);
  try {
    return await probe.run(
      smtp.settings.parse({ host: "localhost", ip_version: "ipv4", port, ...settings }),
      rig.context,
    );
  } catch (error) {
    return classify(error, "request");
  }
}

describe("a mail server", () => {
  it("is healthy when it greets and answers EHLO, and is left with QUIT", async () => {
    const { port, heard } = await serve({ answers: { EHLO: "250 mail.dev\r\n" } });
    expect(await check(port)).toEqual({ verdict: "ok", latencyMs: expect.any(Number), certificate: null });
    await expect.poll(() => heard).toEqual(["EHLO [127.0.0.1]", "QUIT"]);
  });

  it("that offers STARTTLS is greeted again inside TLS, and its certificate is seen", async () => {
    const { port, heard } = await serve({});
    const outcome = await check(port);
    expect(outcome).toMatchObject({ verdict: "ok", certificate: { valid: true, expiresAtMs: expect.any(Number) } });
    await expect.poll(() => heard).toEqual(["EHLO [127.0.0.1]", "STARTTLS", "EHLO [127.0.0.1]", "QUIT"]);
  });

  it("speaks TLS from the first byte", async () => {
    const { port, heard } = await serve({ isTlsFirst: true, answers: { EHLO: "250 mail.dev\r\n" } });
    expect(await check(port, { security: "tls" })).toMatchObject({ verdict: "ok", certificate: { valid: true } });
    expect(heard).not.toContain("STARTTLS");
  });

  it("is spoken to in the clear when that is wanted", async () => {
    const { port, heard } = await serve({});
    expect(await check(port, { security: "none" })).toMatchObject({ verdict: "ok", certificate: null });
    expect(heard).not.toContain("STARTTLS");
  });

  it.each<[name: string, script: Script, given: Record<string, unknown>, outcome: Partial<Outcome>]>([
    [
      "refuses to serve",
      { greeting: "554 no service here\r\n" },
      {},
      { verdict: "rejected", peer: "554 no service here" },
    ],
    ["is busy", { greeting: "421 try later\r\n" }, {}, { verdict: "rejected" }],
    ["refuses EHLO", { answers: { EHLO: "550 who are you\r\n" } }, {}, { verdict: "rejected" }],
    [
      "does not offer the STARTTLS that is wanted",
      { answers: { EHLO: "250 x\r\n" } },
      { security: "starttls" },
      { verdict: "rejected" },
    ],
    ["offers STARTTLS and refuses it", { answers: { STARTTLS: "454 not now\r\n" } }, {}, { verdict: "rejected" }],
    ["speaks another protocol", { greeting: "SSH-2.0-OpenSSH_9.2\r\n" }, {}, { verdict: "protocol-error" }],
    [
      "has a certificate for another name",
      { certificate: other },
      {},
      { verdict: "cert-invalid", certificate: expect.objectContaining({ valid: false }) },
    ],
    [
      "has one where that is allowed",
      { certificate: other },
      { verify_certificate: false },
      { verdict: "ok", certificate: expect.objectContaining({ valid: false }) },
    ],
    [
      "adds a reply in the clear to its agreement (RFC 3207 section 6)",
      { answers: { STARTTLS: "220 go\r\n250-evil\r\n250 x\r\n" } },
      {},
      { verdict: "protocol-error" },
    ],
    ["has the text that is looked for", {}, { keyword: "mail.dev" }, { verdict: "ok" }],
    ["has it not", {}, { keyword: "postfix" }, { verdict: "rejected" }],
  ])("that %s", async (_name, script, settings, outcome) => {
    const { port } = await serve(script);
    expect(await check(port, settings)).toMatchObject(outcome);
  });

  it("that closes before it greets is not healthy", async () => {
    const port = await serveTcp((socket) => void socket.resume().end());
    expect(await check(port)).toMatchObject({ verdict: "closed" });
  });

  it("that floods is refused at the bound", async () => {
    const { port } = await serve({ greeting: `220-${"a".repeat(1_000)}\r\n`.repeat(64) });
    expect(await check(port)).toMatchObject({ verdict: "protocol-error" });
  });

  it("that sends single bytes is refused at a number of pieces", async () => {
    const port = await serveTcp((socket) => {
      socket.setNoDelay(true);
      let sent = 0;
      const next = (): void => {
        if (!socket.destroyed) socket.write(sent++ < 4 ? ("220-"[sent - 1] ?? "") : "a", () => setImmediate(next));
      };
      next();
    });
    expect(await check(port)).toMatchObject({
      verdict: "protocol-error",
      message: expect.stringMatching(/pieces|bytes/),
    });
  });

  it("that never greets ends with the check", async () => {
    const port = await serveTcp();
    const rig = makeCheck(transport);
    const running = probe.run(smtp.settings.parse({ host: "127.0.0.1", port }), rig.context);
    await expect.poll(() => rig.phases).toContain("request");
    rig.expire();
    await expect(running).rejects.toThrow("deadline");
  });
});

describe("settings of a mail server", () => {
  it.each([
    [{ security: "none", ssl_expiration: 7 }, "ssl_expiration needs TLS: security must not be none."],
    [{ security: "ssl" }, "security must be auto, starttls, tls or none."],
    [{ keyword: "a".repeat(256) }, "keyword must be at most 255 characters."],
  ])("%j", (settings, message) => {
    const result = smtp.settings.safeParse({ host: "mail.dev", ...settings });
    expect(result.error?.issues.map((issue) => issue.message)).toEqual([message]);
  });

  it.each([
    ["smtp://mail.dev", { host: "mail.dev", port: 25 }],
    ["smtp://mail.dev:587", { host: "mail.dev", port: 587 }],
    ["smtps://[::1]", { host: "::1", port: 465, security: "tls" }],
  ])("of the address %s", (address, settings) => {
    expect(smtp.address?.read(address)?.settings).toEqual(settings);
  });
});
