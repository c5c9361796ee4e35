/** EAP as the peer of a gateway: identity, MSCHAPv2, MD5, TLS (RFC 3748, draft-kamath-pppext-eap-mschapv2, RFC 5216). Pure. */
import { createHash, timingSafeEqual } from "node:crypto";
import { NetworkFault } from "../../net/fault.ts";
import { EapTlsFraming } from "./eap-tls.ts";
import { IkeFormatError } from "./message.ts";
import { type MschapProof, proveMschap } from "./mschap.ts";

const CODE = { request: 1, response: 2, success: 3, failure: 4 } as const;
const TYPE = { identity: 1, notification: 2, nak: 3, md5: 4, tls: 13, mschap: 26 } as const;
const OPCODE = { challenge: 1, response: 2, success: 3, failure: 4 } as const;

/** What is asked for, for words (registry "EAP Method Types"). */
const METHODS: ReadonlyMap<number, string> = new Map([
  [4, "MD5"],
  [5, "one-time password"],
  [6, "token card"],
  [13, "TLS"],
  [18, "SIM"],
  [21, "TTLS"],
  [23, "AKA"],
  [25, "PEAP"],
  [26, "MSCHAPv2"],
  [43, "FAST"],
  [52, "PWD"],
]);

/** RFC 2759 section 6. */
const FAILURES: ReadonlyMap<number, string> = new Map([
  [646, "logins are restricted at this hour"],
  [647, "the account is disabled"],
  [648, "the password has expired"],
  [649, "the account may not dial in"],
  [691, "wrong username or password"],
  [709, "the password must be changed"],
]);

const CHALLENGE_BYTES = 16;
const RESPONSE_VALUE_BYTES = 49;

interface EapPacket {
  readonly code: number;
  readonly identifier: number;
  /** 0 for Success and Failure. */
  readonly type: number;
  readonly data: Buffer;
}

/** @throws IkeFormatError */
export function decodeEap(bytes: Buffer): EapPacket {
  if (bytes.length < 4 || bytes.readUInt16BE(2) !== bytes.length)
    throw new IkeFormatError("an EAP packet's length is wrong");
  const code = bytes.readUInt8(0);
  const isTyped = code === CODE.request || code === CODE.response;
  if (isTyped && bytes.length < 5) throw new IkeFormatError("an EAP packet is cut off");
  const type = isTyped ? bytes.readUInt8(4) : 0;
  return { code, identifier: bytes.readUInt8(1), type, data: bytes.subarray(isTyped ? 5 : 4) };
}

function encodeResponse(identifier: number, type: number, data: Uint8Array): Buffer {
  const header = Buffer.from([CODE.response, identifier, 0, 0, type]);
  header.writeUInt16BE(header.length + data.length, 2);
  return Buffer.concat([header, data]);
}

export interface Login {
  readonly username: string;
  /** null: a certificate instead, by EAP-TLS. */
  readonly password: string | null;
}

/**
 * Without a reply it is TLS's turn: it gets the records, none of them at its beginning, and takeFlight() makes the reply of what it says.
 * `isDone` with a key to prove the login with, or null when the method made none (RFC 7296 section 2.16).
 */
export type EapStep =
  | { readonly isDone: false; readonly reply: Buffer }
  | { readonly isDone: false; readonly reply: null; readonly records: Buffer }
  | { readonly isDone: true; readonly masterSessionKey: Buffer | null };

/** What TLS says to the records of a login server. */
export interface TlsFlight {
  readonly kind: "flight";
  /** Empty: nothing. */
  readonly records: Buffer;
  /** null: TLS is not up yet. */
  readonly secured: TlsSecured | null;
}

export interface TlsSecured {
  /** 64 bytes (RFC 5216 section 2.3, RFC 9190 section 2.3). */
  readonly masterSessionKey: Buffer;
  /** DER as the login server sent them, its own first. */
  readonly chain: readonly Buffer[];
}

/** One login. */
export class EapPeer {
  readonly #login: Login;
  readonly #random: (sizeBytes: number) => Uint8Array;
  readonly #framing = new EapTlsFraming();
  #proof: MschapProof | undefined;
  #tlsKey: Buffer | undefined;
  #method: "none" | "md5" | "mschap" | "tls" = "none";
  /** The server has proven that it knows the password, or the method has no such proof. */
  #isProven = false;
  #refused: string | undefined;
  #failure: NetworkFault | undefined;
  #isRefused = false;
  #last: { readonly request: Buffer; readonly reply: Buffer } | undefined;
  /** A request that TLS is to answer. */
  #asked: { readonly request: Buffer; readonly identifier: number } | undefined;

  constructor(login: Login, random: (sizeBytes: number) => Uint8Array) {
    this.#login = login;
    this.#random = random;
  }

  /** What the gateway has said of the password, before it ends the login. */
  get failure(): NetworkFault | undefined {
    return this.#failure;
  }

  /** The gateway has ended the login without success. */
  get isRefused(): boolean {
    return this.#isRefused;
  }

  /** @throws NetworkFault `auth-failed`, `misconfigured`, `protocol-error`; IkeFormatError */
  step(bytes: Buffer): EapStep {
    const packet = decodeEap(bytes);
    if (packet.code === CODE.failure) {
      this.#isRefused = true;
      throw this.#failure ?? this.#refusal();
    }
    if (packet.code === CODE.success) return this.#succeed();
    if (packet.code !== CODE.request) throw new IkeFormatError("an EAP packet that is no request");
    // A login server that repeats its request wants the same reply: a new one would fit another challenge (RFC 3748 section 4.1).
    if (this.#last?.request.equals(bytes) === true) return { isDone: false, reply: this.#last.reply };
    const answer = this.#isTls(packet) ? this.#answerTls(packet) : this.#answer(packet);
    if (!Buffer.isBuffer(answer)) {
      this.#asked = { request: bytes, identifier: packet.identifier };
      return { isDone: false, reply: null, records: answer.records };
    }
    this.#last = { request: bytes, reply: answer };
    return { isDone: false, reply: answer };
  }

  /** What TLS says to the records of the last step; the login server has been judged. @returns the reply */
  takeFlight({ records, secured }: TlsFlight): Buffer {
    const asked = this.#asked;
    if (asked === undefined) throw new Error("it is not TLS's turn");
    this.#asked = undefined;
    if (secured !== null) {
      this.#tlsKey = secured.masterSessionKey;
      this.#isProven = true;
    }
    const reply = encodeResponse(asked.identifier, TYPE.tls, this.#framing.send(records));
    this.#last = { request: asked.request, reply };
    return reply;
  }

  get #isByCertificate(): boolean {
    return this.#login.password === null;
  }

  #isTls({ type }: EapPacket): boolean {
    return type === TYPE.tls && this.#isByCertificate;
  }

  /** @returns the reply, or what TLS is to answer */
  #answerTls({ identifier, data }: EapPacket): Buffer | { readonly records: Buffer } {
    this.#method = "tls";
    const heard = this.#framing.receive(data);
    switch (heard.kind) {
      case "start":
        return { records: Buffer.alloc(0) };
      case "flight":
        return { records: heard.records };
      default:
        return encodeResponse(identifier, TYPE.tls, this.#framing.next());
    }
  }

  #answer(packet: EapPacket): Buffer {
    const { identifier, type } = packet;
    if (type === TYPE.identity) return encodeResponse(identifier, type, Buffer.from(this.#login.username));
    if (type === TYPE.notification) return encodeResponse(identifier, type, Buffer.alloc(0));
    const { password } = this.#login;
    if (type === TYPE.md5 && password !== null) return this.#answerMd5(packet, password);
    if (type === TYPE.mschap && password !== null) return this.#answerMschap(packet, password);
    this.#refused ??= METHODS.get(type) ?? `method ${type}`;
    const known = this.#isByCertificate ? [TYPE.tls] : [TYPE.mschap, TYPE.md5];
    return encodeResponse(identifier, TYPE.nak, Buffer.from(known));
  }

  /** RFC 3748 section 5.4, RFC 1994 section 4.1. */
  #answerMd5({ identifier, data }: EapPacket, password: string): Buffer {
    const sizeBytes = data[0] ?? 0;
    if (sizeBytes === 0 || data.length < 1 + sizeBytes) throw new IkeFormatError("an MD5 challenge is cut off");
    this.#method = "md5";
    this.#isProven = true;
    const digest = createHash("md5")
      .update(Buffer.from([identifier]))
      .update(password)
      .update(data.subarray(1, 1 + sizeBytes))
      .digest();
    return encodeResponse(identifier, TYPE.md5, Buffer.concat([Buffer.from([digest.length]), digest]));
  }

  #answerMschap({ identifier, data }: EapPacket, password: string): Buffer {
    const opcode = data[0];
    if (data.length < 4) throw new IkeFormatError("an MSCHAPv2 packet is cut off");
    if (opcode === OPCODE.challenge) return encodeResponse(identifier, TYPE.mschap, this.#respond(data, password));
    const words = data.subarray(4).toString("latin1");
    if (opcode === OPCODE.success) this.#check(words);
    else if (opcode === OPCODE.failure) this.#failure = failureOf(words.replaceAll(password, "…"));
    else throw new IkeFormatError("an unknown MSCHAPv2 packet");
    return encodeResponse(identifier, TYPE.mschap, Buffer.from([opcode]));
  }

  #respond(data: Buffer, password: string): Buffer {
    if (data[4] !== CHALLENGE_BYTES || data.length < 5 + CHALLENGE_BYTES) {
      throw new IkeFormatError("an MSCHAPv2 challenge of a wrong length");
    }
    this.#method = "mschap";
    const { username } = this.#login;
    const authenticator = data.subarray(5, 5 + CHALLENGE_BYTES);
    const peer = Buffer.from(this.#random(CHALLENGE_BYTES));
    this.#proof = proveMschap(username, password, { peer, authenticator });
    const value = Buffer.concat([peer, Buffer.alloc(8), this.#proof.response, Buffer.alloc(1)]);
    const name = Buffer.from(username);
    const header = Buffer.from([OPCODE.response, data.readUInt8(1), 0, 0, RESPONSE_VALUE_BYTES]);
    header.writeUInt16BE(header.length + value.length + name.length, 2);
    return Buffer.concat([header, value, name]);
  }

  #check(words: string): void {
    const expected = this.#proof?.expected ?? "";
    const said = words.slice(0, expected.length);
    if (
      expected === "" ||
      said.length !== expected.length ||
      !timingSafeEqual(Buffer.from(said, "latin1"), Buffer.from(expected))
    ) {
      throw new NetworkFault("cert-invalid", "The gateway does not know the password: it may be a different gateway");
    }
    this.#isProven = true;
  }

  #succeed(): EapStep {
    if (this.#method === "none" || !this.#isProven) {
      throw new NetworkFault("protocol-error", "The gateway ended the login before it was complete");
    }
    return { isDone: true, masterSessionKey: this.#key };
  }

  get #key(): Buffer | null {
    if (this.#method === "tls") return this.#tlsKey ?? null;
    return this.#method === "mschap" ? (this.#proof?.masterSessionKey ?? null) : null;
  }

  #refusal(): NetworkFault {
    if (this.#method === "none" && this.#refused !== undefined) {
      return new NetworkFault(
        "misconfigured",
        `The gateway wants to log in by EAP ${this.#refused}, ${this.#isPossible ? "and these fields are for another login" : "which is not supported"}`,
        { hint: this.#hint },
      );
    }
    const what = this.#isByCertificate ? "username or certificate" : "username or password";
    return new NetworkFault("auth-failed", `The gateway refused the ${what}`);
  }

  /** With other fields. */
  get #isPossible(): boolean {
    return [TYPE.md5, TYPE.tls, TYPE.mschap].some((type) => METHODS.get(type) === this.#refused);
  }

  get #hint(): string {
    if (this.#isByCertificate)
      return "With username, cert and key the login is by EAP-TLS; with a password instead it is another";
    if (this.#refused === METHODS.get(TYPE.tls))
      return "With cert and key instead of a password the login is by EAP-TLS";
    return "Passwords are sent by EAP-MSCHAPv2 or EAP-MD5";
  }
}

/** `E=691 R=1 C=<hex> V=3 M=<text>`: the number says why, the text may say anything. */
function failureOf(words: string): NetworkFault {
  const code = Number(/(?:^|\s)E=([0-9]{1,10})/.exec(words)?.[1] ?? Number.NaN);
  const reason = FAILURES.get(code) ?? "the login failed";
  const message = /(?:^|\s)M=(.*)$/s.exec(words)?.[1] ?? "";
  return new NetworkFault("auth-failed", `The gateway refused the login: ${reason}`, {
    peer: `${Number.isNaN(code) ? "" : `E=${code} `}${message}`.trim(),
  });
}
