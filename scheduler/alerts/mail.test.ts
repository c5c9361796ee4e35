/** Mail to a real SMTP server, with STARTTLS and passwords. */
import { type AddressInfo, createServer, type Socket } from "node:net";
import type { Duplex } from "node:stream";
import { createServer as createTlsServer, TLSSocket } from "node:tls";
import { SMTPServer, type SMTPServerOptions } from "smtp-server";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { type MadeCertificate, makeAuthority, makeCertificate } from "../../demo/certificates.ts";
import type { Message } from "../../model/alert-message.ts";
import { attemptsHere } from "./attempts/attempts.ts";
import type { SendContext } from "./channels/channel.ts";
import { HOSTILE_NAMES, hostile } from "./channels/messages.suite.ts";
import { createSendToChannel } from "./channels/send.ts";

const ENGINE = { publicAllowNets: [], ownEndpoints: [], resolvers: [], rdapBootstrapUrl: null, canaries: null };
const MESSAGE: Message = {
  reason: "opened",
  severity: "critical",
  title: "Berlin 3 <script> ist gestört\r\nBcc: eve@test-site.org",
  summary: "nothing comes back through the tunnel",
  facts: [["why", "a & b < c"]],
  items: [],
  more: 0,
  link: "https://sonde.test-site.org/#/incidents/inc_9",
  acknowledge: "https://sonde.test-site.org/ack/abc",
  groupKey: "rule 1 host a",
  at: "2026-11-26T03:00:05.000Z",
};
const CONTEXT: SendContext = { notificationId: "41", nowMs: 0, previous: null, projectId: 1 };
const NEVER = new AbortController().signal;

interface Letter {
  readonly from: string;
  readonly to: readonly string[];
  readonly isSecure: boolean;
  readonly user: string | undefined;
  readonly text: string;
}

let authority: MadeCertificate;
let own: MadeCertificate;
beforeAll(() => {
  authority = makeAuthority("Test Authority");
  own = makeCertificate({ commonName: "127.0.0.1", names: ["127.0.0.1"], issuer: authority });
});

const servers: SMTPServer[] = [];
const letters: Letter[] = [];
afterEach(async () => {
  letters.length = 0;
  for (const server of servers.splice(0)) await new Promise<void>((resolve) => server.close(() => resolve()));
});
afterAll(() => expect(servers).toHaveLength(0));

async function listen(options: SMTPServerOptions = {}): Promise<number> {
  const server = new SMTPServer({
    key: own.keyPem,
    cert: own.certPem,
    onAuth({ username, password }, _session, done) {
      if (username === "ada" && password === "verysecret") done(null, { user: "ada" });
      else done(new Error("5.7.8 verysecret is not the password"));
    },
    onData(stream, { envelope, secure, user }, done) {
      const pieces: Buffer[] = [];
      stream.on("data", (piece: Buffer) => void pieces.push(piece));
      stream.on("end", () => {
        const from = envelope.mailFrom === false ? "" : envelope.mailFrom.address;
        const to = envelope.rcptTo.map(({ address }) => address);
        letters.push({
          from,
          to,
          isSecure: secure,
          user: user as string | undefined,
          text: Buffer.concat(pieces).toString(),
        });
        done();
      });
    },
    ...options,
  });
  // A client that leaves in the middle is no fault of ours.
  server.on("error", () => {});
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", () => resolve()));
  return (server.server.address() as AddressInfo).port;
}

function sender(
  mail: { smtpUrl: string | null; from: string | null },
  more: { allowNets?: string[]; extraCaPem?: string | null } = {},
) {
  const { allowNets = ["127.0.0.0/8"], extraCaPem = authority.certPem } = more;
  const clocks = { monotonicNowMs: () => performance.now() };
  return createSendToChannel({
    attempts: attemptsHere({ ...ENGINE, allowNets, extraCaPem }),
    mail,
    version: "test",
    clocks,
  });
}

const CHANNEL = { kind: "email", settings: { to: ["ada@test-site.org"], cc: ["bob@test-site.org"] } };
const service = (url: string) => ({ smtpUrl: url, from: "Sonde <sonde@test-site.org>" });

describe("mail", () => {
  it("goes out after STARTTLS and a password, escaped, in the thread of its problem", async () => {
    const port = await listen();
    const send = sender(service(`smtp://ada:verysecret@127.0.0.1:${port}`));
    const outcome = await send(CHANNEL, MESSAGE, CONTEXT, NEVER);
    expect(outcome).toMatchObject({ delivered: true, statusCode: 250 });
    expect(outcome.sent).not.toContain("verysecret");
    await send(CHANNEL, { ...MESSAGE, reason: "recovered" }, { ...CONTEXT, notificationId: "42" }, NEVER);
    const [first, second] = letters;
    const to = ["ada@test-site.org", "bob@test-site.org"];
    expect(first).toMatchObject({ from: "sonde@test-site.org", to, isSecure: true, user: "ada" });
    const heads = letters.map(({ text }) => text.slice(0, text.indexOf("\r\n\r\n")));
    expect(heads[0]).toMatch(/^From: "?Sonde"? <sonde@test-site\.org>$/m);
    expect(heads[0]).toMatch(/^Auto-Submitted: auto-generated$/m);
    // The line end in a name begins no header.
    expect(heads[0]).not.toMatch(/^Bcc:/m);
    const thread = heads.map((head) => /^References: (<[0-9a-f]{32}@test-site\.org>)$/m.exec(head)?.[1]);
    expect(thread[0]).toBeDefined();
    expect(thread[1]).toBe(thread[0]);
    const ids = heads.map((head) => /^Message-ID: (<.+>)$/m.exec(head)?.[1]);
    expect(new Set(ids).size).toBe(2);
    expect(second?.text).not.toContain("<script>");
    expect(first?.text).toContain("a &amp; b &lt; c");
  });

  it("goes once more to those who were refused for now, to them alone, and says who was refused for good", async () => {
    const [ada, bob, eve] = ["ada@test-site.org", "Bob@test-site.org", "eve@test-site.org"];
    const refusals = new Map([
      [bob, { responseCode: 450, message: "4.7.1 come back later" }],
      [eve, { responseCode: 550, message: "5.1.1 no such user" }],
    ]);
    const port = await listen({
      authOptional: true,
      onRcptTo({ address }, _session, done) {
        const refusal = refusals.get(address);
        if (refusal === undefined) done();
        else done(Object.assign(new Error(refusal.message), refusal));
      },
    });
    const send = sender(service(`smtp://127.0.0.1:${port}`));
    const channel = { kind: "email", settings: { to: [ada, "Bob@Test-Site.org"], cc: [eve] } };
    expect(await send(channel, MESSAGE, CONTEXT, NEVER)).toMatchObject({
      ...{ delivered: false, statusCode: 450, permanent: false, left: bob },
      error: `${bob}: 450 4.7.1 come back later; ${eve}: 550 5.1.1 no such user`,
    });
    refusals.delete(bob);
    const again = await send(channel, MESSAGE, { ...CONTEXT, left: bob }, NEVER);
    expect(again).toMatchObject({ delivered: true, statusCode: 250 });
    expect(again).not.toHaveProperty("refusal");
    expect(letters.map(({ to }) => to)).toEqual([[ada], [bob]]);
    expect(letters[1]?.text).toMatch(/^To: ada@test-site\.org, Bob@test-site\.org$/m);
    const next = await send(channel, MESSAGE, CONTEXT, NEVER);
    expect(next).toMatchObject({ delivered: true, refusal: `${eve}: 550 5.1.1 no such user` });
    // Who was left has been taken out of the channel.
    expect(await send(CHANNEL, MESSAGE, { ...CONTEXT, left: eve }, NEVER)).toMatchObject({ delivered: true });
    expect(letters).toHaveLength(3);
  });

  it("is taken whatever stands in names", async () => {
    const port = await listen({ authOptional: true, hideSTARTTLS: true, disabledCommands: ["STARTTLS"] });
    const send = sender(service(`smtp://127.0.0.1:${port}`));
    for (const [index, name] of HOSTILE_NAMES.entries()) {
      const context = { ...CONTEXT, notificationId: `${index}` };
      expect(await send(CHANNEL, hostile(name), context, NEVER), name.slice(0, 40)).toMatchObject({ delivered: true });
    }
    expect(letters).toHaveLength(HOSTILE_NAMES.length);
    for (const { text, to } of letters) {
      expect(to).toEqual(["ada@test-site.org", "bob@test-site.org"]);
      expect(text.slice(0, text.indexOf("\r\n\r\n"))).not.toMatch(/^X-Injected/m);
      expect(text.slice(text.indexOf("Content-Type: text/html"))).not.toContain("<script");
    }
  });

  it("goes out over TLS from the first byte, by a server of the channel's own", async () => {
    const port = await listen({ secure: true });
    const own = {
      ...CHANNEL.settings,
      smtp_url: `smtps://ada:verysecret@127.0.0.1:${port}`,
      from: "ops@test-site.org",
    };
    const outcome = await sender({ smtpUrl: null, from: null })(
      { kind: "email", settings: own },
      MESSAGE,
      CONTEXT,
      NEVER,
    );
    expect(outcome).toMatchObject({ delivered: true });
    expect(letters[0]).toMatchObject({ from: "ops@test-site.org", isSecure: true, user: "ada" });
  });

  it("tells a wrong password in the server's words, without the password", async () => {
    const port = await listen();
    const outcome = await sender(service(`smtp://eve:otherother@127.0.0.1:${port}`))(CHANNEL, MESSAGE, CONTEXT, NEVER);
    expect(outcome).toMatchObject({ delivered: false, statusCode: 535, permanent: true });
    expect(outcome).toMatchObject({ error: expect.stringContaining("5.7.8") });
  });

  it("sends no password where there is no TLS, and none to a certificate that no known authority has signed", async () => {
    const plain = await listen({ hideSTARTTLS: true, disabledCommands: ["STARTTLS"], allowInsecureAuth: true });
    const without = await sender(service(`smtp://ada:verysecret@127.0.0.1:${plain}`))(CHANNEL, MESSAGE, CONTEXT, NEVER);
    expect(without).toMatchObject({ delivered: false });
    const port = await listen();
    const url = `smtp://ada:verysecret@127.0.0.1:${port}`;
    const unsigned = await sender(service(url), { extraCaPem: null })(CHANNEL, MESSAGE, CONTEXT, NEVER);
    expect(unsigned).toMatchObject({ delivered: false, error: expect.stringMatching(/certificate/i) });
    expect(letters).toHaveLength(0);
  });

  it("says what a mailbox that is not there, or is full, means", async () => {
    const refusing = (code: number, words: string): SMTPServerOptions => ({
      authOptional: true,
      onRcptTo: (_address, _session, done) => done(Object.assign(new Error(words), { responseCode: code })),
    });
    for (const [code, words, permanent] of [
      [550, "mailbox trouble", true],
      [450, "mailbox trouble", false],
      [552, "mailbox trouble", false],
      [552, "5.3.4 message file too big", true],
    ] as const) {
      const port = await listen(refusing(code, words));
      const outcome = await sender(service(`smtp://127.0.0.1:${port}`))(CHANNEL, MESSAGE, CONTEXT, NEVER);
      expect(outcome).toMatchObject({ delivered: false, statusCode: code, permanent });
      expect(outcome).toMatchObject({ error: expect.stringContaining(words) });
    }
  });

  it.each(["smtp", "smtps", "smtp with STARTTLS"])(
    "ends with a server over %s that never stops talking",
    async (how) => {
      const flood = Buffer.alloc(65_536, "\n");
      const talk = (socket: Duplex): void => {
        const more = (): void => {
          while (!socket.destroyed && socket.write(flood));
        };
        socket.on("drain", more).on("error", () => {});
        socket.write("220 hello\r\n");
        more();
      };
      const secrets = { key: own.keyPem, cert: own.certPem };
      const upgrade = (socket: Socket): void => {
        socket.on("error", () => {}).write("220 hello\r\n");
        socket.on("data", function hear(bytes: Buffer) {
          if (!bytes.toString().startsWith("STARTTLS")) return void socket.write("250-hello\r\n250 STARTTLS\r\n");
          socket.off("data", hear);
          socket.write("220 go on\r\n");
          talk(new TLSSocket(socket, { isServer: true, ...secrets }));
        });
      };
      const server = how === "smtps" ? createTlsServer(secrets, talk) : createServer(how === "smtp" ? talk : upgrade);
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", () => resolve()));
      const { port } = server.address() as AddressInfo;
      const send = sender(service(`${how.split(" ")[0]}://127.0.0.1:${port}`));
      expect(await send(CHANNEL, MESSAGE, CONTEXT, NEVER)).toMatchObject({
        delivered: false,
        error: "Server response exceeds maximum allowed size",
      });
      await new Promise((resolve) => server.close(resolve));
    },
  );

  it("asks the guard, and ends with its caller", async () => {
    const port = await listen();
    const send = sender(service(`smtp://ada:verysecret@127.0.0.1:${port}`), { allowNets: [] });
    const refused = await send(CHANNEL, MESSAGE, CONTEXT, NEVER);
    expect(refused).toMatchObject({ delivered: false, permanent: true });
    expect(refused).toMatchObject({ error: expect.stringContaining(`SONDE_ALLOW_NETS=127.0.0.1:${port} opens it`) });
    let isAsked: () => void = () => {};
    const asked = new Promise<void>((resolve) => {
      isAsked = resolve;
    });
    const silent = await listen({ authOptional: true, onMailFrom: () => isAsked() });
    const stop = new AbortController();
    const pending = sender(service(`smtp://127.0.0.1:${silent}`))(CHANNEL, MESSAGE, CONTEXT, stop.signal);
    await asked;
    stop.abort();
    expect(await pending).toMatchObject({ delivered: false, statusCode: null });
    expect(letters).toHaveLength(0);
  });
});
