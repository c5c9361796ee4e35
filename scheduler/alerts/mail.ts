/** One attempt to send a mail: nodemailer over a connection whose address the guard has judged at this dial. */
import { isIP, type Socket } from "node:net";
import { rootCertificates } from "node:tls";
import { createTransport } from "nodemailer";
import SMTPConnection from "nodemailer/lib/smtp-connection";
import type { Turn } from "../../engine/transport/handshake-gate.ts";
import { FOREIGN_TLS } from "../../engine/transport/tls-bounds.ts";
import type { Transport } from "../../engine/transport/transport.ts";
import { watchedCarrier } from "../../engine/transport/watched-carrier.ts";
import type { SmtpServer } from "../../model/smtp-url.ts";
import type { HandshakeTurns } from "./attempts/turns.ts";
import type { SendOutcome } from "./channels/channel.ts";
import type { Mail } from "./channels/email.ts";
import { tidy } from "./channels/tidy.ts";
import { ATTEMPT_MS, faultOf, withinAttempt } from "./post.ts";

/** RFC 3463 and RFC 5321 section 4.2.1: 5yz will not pass by itself. 552 is a full mailbox, which may, or a mail that is too large. */
const PASSING = 552;
const TOO_LARGE = /\b5\.3\.4\b/;
/** Of a server's words; our choice: a line of a log. */
const LONGEST_WORDS = 300;

/** What a server may say in one attempt, bytes of its replies together; real ones say a tenth of that. */
const MOST_SAID = 16_384;

interface Talk {
  _onData(bytes: Buffer): void;
  _onResponseTooLarge(): void;
}

/**
 * The library bounds one reply, and not how many come unasked: it takes empty lines out of a list one by one, so that a server which sent a few
 * megabytes of them kept the thread busy for many minutes, also after the attempt had ended.
 */
function boundTalk(talk: Talk): void {
  const said = new WeakMap<Talk, number>();
  const { _onData: take } = talk;
  talk._onData = function bounded(bytes) {
    const size = (said.get(this) ?? 0) + bytes.length;
    said.set(this, size);
    if (size > MOST_SAID) this._onResponseTooLarge();
    else take.call(this, bytes);
  };
}
boundTalk(SMTPConnection.prototype as unknown as Talk);

export interface Letter extends Mail {
  readonly from: { readonly name: string; readonly address: string };
  readonly to: readonly string[];
  readonly cc: readonly string[];
  /** Who of them has not got it yet; null: all. */
  readonly left: readonly string[] | null;
}

type Outcome = SendOutcome & { readonly openedBy: string | null };
export type MailOut = (
  server: SmtpServer,
  letter: Letter,
  /** Of Caller. */
  projectId: number,
  signal: AbortSignal,
) => Promise<Outcome>;

export function createMailOut(transport: Transport, turns: HandshakeTurns): MailOut {
  return async (server, letter, projectId, signal) => {
    const turn: Turn = (read) => turns.ask(projectId, read);
    // Those that were left may have been taken out of the channel since.
    if (readersOf(letter).length === 0) return taken(letter, null);
    try {
      return await withinAttempt(signal, (ending) => sent(transport, server, letter, { signal: ending, turn }));
    } catch (error) {
      return failed(error);
    }
  };
}

interface Sending {
  readonly signal: AbortSignal;
  readonly turn: Turn;
}

async function sent(transport: Transport, server: SmtpServer, letter: Letter, sending: Sending): Promise<Outcome> {
  const { signal } = sending;
  const { socket, end, fault } = await dial(transport, server, sending);
  const mailer = createTransport({
    host: server.host,
    port: server.port,
    secure: server.isTls,
    // A password never goes over a line that others can read; a relay without one may have no TLS.
    ...(server.user !== null && !server.isTls && { requireTLS: true }),
    ...(server.user !== null && { auth: { user: server.user, pass: server.password } }),
    name: letter.from.address.slice(letter.from.address.lastIndexOf("@") + 1),
    getSocket: (
      _options: unknown,
      done: (error: Error | null, options: { connection: Socket; secured: boolean }) => void,
    ) => done(null, { connection: socket, secured: server.isTls }),
    tls: {
      ...FOREIGN_TLS,
      ...(isIP(server.host) === 0 && { servername: server.host }),
      ...(transport.extraCaPem !== null && { ca: [...rootCertificates, transport.extraCaPem] }),
    },
    connectionTimeout: ATTEMPT_MS,
    greetingTimeout: ATTEMPT_MS,
    socketTimeout: ATTEMPT_MS,
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  try {
    const info = await mailer.sendMail({
      envelope: { from: letter.from.address, to: [...readersOf(letter)] },
      from: letter.from,
      to: [...letter.to],
      cc: [...letter.cc],
      subject: letter.subject,
      text: letter.text,
      html: letter.html,
      messageId: letter.messageId,
      references: letter.references,
      inReplyTo: letter.references,
      // RFC 3834 section 5: no answering machine answers it.
      headers: { "Auto-Submitted": "auto-generated", "X-Auto-Response-Suppress": "All" },
      signal,
    });
    return partly(letter, codeOf(info.response), info.rejectedErrors ?? []);
  } catch (error) {
    throw fault() ?? error;
  } finally {
    mailer.close();
    end();
  }
}

/** Each once. */
function readersOf({ to, cc, left }: Letter): readonly string[] {
  const all = [...new Set([...to, ...cc])];
  if (left === null) return all;
  // The library writes domains in lower case.
  const wanted = new Set(left.map((reader) => reader.toLowerCase()));
  return all.filter((reader) => wanted.has(reader.toLowerCase()));
}

function taken(letter: Letter, statusCode: number | null) {
  return { delivered: true as const, statusCode, reference: letter.messageId, openedBy: null };
}

/** Servers answer for each reader. Who is refused for now gets it by a later attempt, and the others not once more. */
function partly(letter: Letter, statusCode: number | null, refusals: readonly SmtpFault[]): Outcome {
  const passing = refusals.filter((one) => !isPermanent(one));
  const [first = refusals[0]] = passing;
  if (first === undefined) return taken(letter, statusCode);
  const words = tidy(
    refusals.map((one) => `${one.recipient}: ${one.response ?? one.message}`).join("; "),
    LONGEST_WORDS,
  );
  if (passing.length === 0) return { ...taken(letter, statusCode), refusal: words };
  return {
    delivered: false,
    statusCode: first.responseCode ?? null,
    error: words,
    retryAfterMs: null,
    permanent: false,
    left: passing.flatMap(({ recipient }) => recipient ?? []).join("\n"),
    openedBy: null,
  };
}

interface Line {
  /** For the library, which begins TLS over it by itself where the server is not spoken to by TLS at once. */
  readonly socket: Socket;
  end(): void;
  /** Why it has ended, where that is known better than by its end. */
  fault(): Error | null;
}

async function dial(transport: Transport, { host, port, isTls }: SmtpServer, sending: Sending): Promise<Line> {
  const context = { ...sending, phase() {}, tried() {}, answered() {} };
  const addresses = await transport.resolve(host, port, "both", context);
  if (!isTls) return startable(await transport.connectTcp(addresses, port, context), sending.turn);
  const name = isIP(host) === 0 ? { servername: host } : { host };
  const socket = await transport.connectTls(addresses, port, name, context);
  return { socket, end: () => socket.destroy(), fault: () => null };
}

function startable(below: Socket, turn: Turn): Line {
  let cause: Error | null = null;
  let isOver = false;
  const ended = (fault: Error | undefined): void => {
    cause ??= fault ?? null;
    below.destroy();
    if (isOver || carrier.destroyed) return;
    isOver = true;
    // To destroy what carries TLS, and then TLS, ends the process (stream.ts).
    carrier.push(null);
  };
  const carrier = watchedCarrier(below, ended, turn);
  // The attempt has a deadline, and needs none between two replies.
  const socket = Object.assign(carrier, {
    setTimeout: () => carrier,
    setKeepAlive: () => carrier,
  }) as unknown as Socket;
  return { socket, end: () => below.destroy(), fault: () => cause };
}

function codeOf(response: unknown): number | null {
  const [, code] = /^(\d{3})/.exec(String(response ?? "")) ?? [];
  return code === undefined ? null : Number(code);
}

interface SmtpFault {
  readonly recipient?: string | undefined;
  readonly responseCode?: number | undefined;
  readonly response?: string | undefined;
  readonly code?: string | undefined;
  readonly message?: string;
}

function isPermanent({ responseCode: code = 0, response = "" }: SmtpFault): boolean {
  return code >= 500 && (code !== PASSING || TOO_LARGE.test(response));
}

function failed(error: unknown): Outcome {
  const { responseCode, response, code, message } = error as SmtpFault;
  if (responseCode !== undefined) {
    const words = tidy(response ?? message ?? "", LONGEST_WORDS);
    return {
      delivered: false,
      statusCode: responseCode,
      error: words === "" ? `SMTP ${responseCode}` : words,
      retryAfterMs: null,
      permanent: isPermanent(error as SmtpFault),
      openedBy: null,
    };
  }
  // nodemailer's own codes say less than its words.
  const isOurs =
    code !== undefined &&
    /^E(TLS|AUTH|NOAUTH|ENVELOPE|MESSAGE|PROTOCOL|SOCKET|CONNECTION|REQUIRETLS|TIMEDOUT)$/.test(code);
  const {
    error: words,
    isRefused,
    openedBy,
  } = isOurs ? { error: tidy(message ?? code, LONGEST_WORDS), isRefused: false, openedBy: null } : faultOf(error);
  return {
    delivered: false,
    statusCode: null,
    error: words,
    retryAfterMs: null,
    permanent: isRefused || code === "EAUTH" || code === "ENOAUTH",
    openedBy,
  };
}
