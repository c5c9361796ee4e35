import type { Socket } from "node:net";
import type { TLSSocket } from "node:tls";
import { z } from "zod";
import { defineUptime } from "../contract/kind.ts";
import type { Outcome, ProbeContext } from "../contract/probe.ts";
import { NetworkFault } from "../net/fault.ts";
import { hostText } from "../net/host-text.ts";
import { offers, readReply, type SmtpReply } from "../protocols/smtp/reply.ts";
import { Conversation, ownNameOf } from "../transport/conversation.ts";
import { endSocket } from "../transport/end-socket.ts";
import { type CertificateSeen, secured, tlsOptionsOf, withCertificate } from "../transport/server-certificate.ts";
import { verifyCertificateField } from "../web/judge-fields.ts";
import { expiryDays } from "../web/settings.ts";
import { hostField, ipVersionField, keywordField, portField, readHostAndPort } from "./target-fields.ts";

declare module "../../model/kind.ts" {
  interface AddedKinds {
    smtp: true;
  }
}

const SECURITIES = ["auto", "starttls", "tls", "none"] as const;
const SECURITY_MESSAGE = "security must be auto, starttls, tls or none.";

const settings = z
  .object({
    host: hostField.describe("Name or address of the mail server"),
    port: portField
      .default(25)
      .describe("TCP port: 25 between servers, 587 for submission, 465 with TLS from the first byte"),
    security: z
      .enum(SECURITIES, { error: SECURITY_MESSAGE })
      .default("auto")
      .describe(
        "auto: STARTTLS where the server offers it; starttls: required; tls: TLS from the first byte; none: in the clear",
      ),
    verify_certificate: verifyCertificateField,
    keyword: keywordField.describe("Text that the greeting or the answer to EHLO must contain"),
    ip_version: ipVersionField,
    ssl_expiration: expiryDays("ssl_expiration", "certificate"),
  })
  .superRefine(({ security, ssl_expiration }, context) => {
    if (typeof ssl_expiration !== "number" || security !== "none") return;
    const message = "ssl_expiration needs TLS: security must not be none.";
    context.addIssue({ code: "custom", path: ["ssl_expiration"], message, input: ssl_expiration });
  });
type SmtpSettings = z.infer<typeof settings>;

/**
 * A mail server: ok when it greets and answers EHLO, after TLS where it is wanted (RFC 5321 section 3.1, RFC 3207, RFC 8314 section 3.3). Latency
 * is the time from the start of the connect to the last answer to EHLO.
 */
export const smtp = defineUptime(
  {
    kind: "smtp",
    summary: "Mail server (SMTP): greeting, EHLO, STARTTLS and its certificate",
    settings,
    example: { host: "www.test-site.org", port: 587, security: "starttls" },
    target: ({ host, port }) => ({ host: hostText(host), port }),
    seesCertificate: ({ security }) => security !== "none",
    address: {
      schemes: ["smtp", "smtps"],
      read(address) {
        const isTls = /^smtps:/i.test(address);
        const read = readHostAndPort(address, isTls ? 465 : 25);
        return read && { ...read, settings: { ...read.settings, ...(isTls && { security: "tls" }) } };
      },
    },
    demo: {
      name: "Mail server",
      serve: serveMail,
      settings: ({ host, port }) => ({ host, port, security: "none" }),
    },
  },
  checkMail,
);

/** What one check has learned so far. */
interface Visit extends CertificateSeen {
  readonly settings: SmtpSettings;
  readonly context: ProbeContext;
  /** The connection, from above: TLS once it was begun. */
  socket: Socket | null;
}

async function checkMail(settings: SmtpSettings, context: ProbeContext): Promise<Outcome> {
  const visit: Visit = { settings, context, certificate: null, socket: null };
  try {
    return await withCertificate(visit, converse);
  } finally {
    // RFC 5321 section 4.1.1.10.
    if (visit.socket !== null) endSocket(visit.socket, "QUIT\r\n");
  }
}

async function converse(visit: Visit): Promise<Outcome> {
  const { settings: mail, context } = visit;
  const { transport } = context;
  context.phase("resolve");
  const addresses = await transport.resolve(mail.host, mail.port, mail.ip_version ?? "both", context);
  const startedAt = context.now();
  context.phase("connect");
  const options = tlsOptionsOf(mail.host);
  const socket =
    mail.security === "tls"
      ? judged(await transport.connectTls(addresses, mail.port, options, context), visit)
      : await transport.connectTcp(addresses, mail.port, context);
  visit.socket = socket;
  context.phase("request");
  let talk = new Conversation(socket, context, "SMTP");
  const greeting = await ask(talk, "", visit);
  refuseUnless(greeting, 220, "The mail server refuses to serve");
  const hello = `EHLO ${ownNameOf(socket)}\r\n`;
  let answer = await ask(talk, hello, visit);
  refuseUnless(answer, 250, "The mail server refuses EHLO");
  if (wantsStartTls(mail, answer)) {
    refuseUnless(await ask(talk, "STARTTLS\r\n", visit), 220, "The mail server refuses STARTTLS");
    // startTls() ends it when TLS fails.
    visit.socket = null;
    const tls = judged(await transport.startTls(talk.releaseForTls(), options, context), visit);
    visit.socket = tls;
    context.phase("request");
    talk = new Conversation(tls, context, "SMTP");
    answer = await ask(talk, hello, visit);
    refuseUnless(answer, 250, "The mail server refuses EHLO after STARTTLS");
  }
  return outcomeOf(mail, [greeting, answer], context.now() - startedAt);
}

function judged(socket: TLSSocket, visit: Visit): TLSSocket {
  const { host, verify_certificate } = visit.settings;
  return secured(socket, host, visit, verify_certificate);
}

function outcomeOf({ keyword }: SmtpSettings, replies: readonly SmtpReply[], latencyMs: number): Outcome {
  const text = replies.flatMap(({ lines }) => lines).join("\n");
  if (keyword !== null && !text.includes(keyword)) {
    const message = "The keyword is not in the greeting or the answer to EHLO";
    return { verdict: "rejected", message, peer: text, latencyMs };
  }
  return { verdict: "ok", latencyMs };
}

function wantsStartTls({ security }: SmtpSettings, answer: SmtpReply): boolean {
  if (security !== "auto" && security !== "starttls") return false;
  if (offers(answer, "STARTTLS")) return true;
  if (security === "auto") return false;
  throw rejected("The mail server does not offer STARTTLS", answer, "security: auto takes a server without it");
}

async function ask(talk: Conversation, command: string, { context }: Visit): Promise<SmtpReply> {
  const reply = await talk.ask(command, readReply);
  context.answered();
  return reply;
}

function refuseUnless(reply: SmtpReply, code: number, words: string): void {
  if (reply.code !== code) throw rejected(words, reply);
}

function rejected(words: string, { code, lines }: SmtpReply, hint?: string): NetworkFault {
  const detail = { peerAnswered: true, peer: `${code} ${lines.join(" ")}`, ...(hint !== undefined && { hint }) };
  return new NetworkFault("rejected", `${words} (${code})`, detail);
}

/** The demo's mail server. */
function serveMail(socket: Socket): void {
  socket.write("220 mail.demo ready\r\n");
  socket.on("data", (bytes) => {
    const command = bytes.toString("latin1").slice(0, 4).toUpperCase();
    if (command === "QUIT") socket.end("221 bye\r\n");
    else socket.write(command === "EHLO" ? "250-mail.demo\r\n250 SIZE 1000000\r\n" : "502 not here\r\n");
  });
}
