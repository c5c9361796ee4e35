/** EAP as the peer of a gateway: identity, MSCHAPv2, MD5 (RFC 3748, draft-kamath-pppext-eap-mschapv2). Pure. */
import { createHash, timingSafeEqual } from "node:crypto";
import { NetworkFault } from "../../net/fault.ts";
import { IkeFormatError } from "./message.ts";
import { type MschapProof, proveMschap } from "./mschap.ts";

const CODE = { request: 1, response: 2, success: 3, failure: 4 } as const;
const TYPE = { identity: 1, notification: 2, nak: 3, md5: 4, mschap: 26 } as const;
const OPCODE = { challenge: 1, response: 2, success: 3, failure: 4 } as const;

/** What others ask for, for words (registry "EAP Method Types"). */
const METHODS: ReadonlyMap<number, string> = new Map([
  [5, "one-time password"],
  [6, "token card"],
  [13, "TLS"],
  [18, "SIM"],
  [21, "TTLS"],
  [23, "AKA"],
  [25, "PEAP"],
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
  readonly password: string;
}

/** `isDone` with a key to prove the login with, or null when the method made none (RFC 7296 section 2.16). */
export type EapStep =
  | { readonly isDone: false; readonly reply: Buffer }
  | { readonly isDone: true; readonly masterSessionKey: Buffer | null };

/** One login. */
export class EapPeer {
  readonly #login: Login;
  readonly #random: (sizeBytes: number) => Uint8Array;
  #proof: MschapProof | undefined;
  #method: "none" | "md5" | "mschap" = "none";
  /** The server has proven that it knows the password, or the method has no such proof. */
  #isProven = false;
  #refused: string | undefined;
  #failure: NetworkFault | undefined;
  #isRefused = false;
  #last: { readonly request: Buffer; readonly reply: Buffer } | undefined;

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
    if (this.#last?.request.equals(bytes) !== true) this.#last = { request: bytes, reply: this.#answer(packet) };
    return { isDone: false, reply: this.#last.reply };
  }

  #answer(packet: EapPacket): Buffer {
    const { identifier, type } = packet;
    if (type === TYPE.identity) return encodeResponse(identifier, type, Buffer.from(this.#login.username));
    if (type === TYPE.notification) return encodeResponse(identifier, type, Buffer.alloc(0));
    if (type === TYPE.md5) return this.#answerMd5(packet);
    if (type === TYPE.mschap) return this.#answerMschap(packet);
    this.#refused ??= METHODS.get(type) ?? `method ${type}`;
    return encodeResponse(identifier, TYPE.nak, Buffer.from([TYPE.mschap, TYPE.md5]));
  }

  /** RFC 3748 section 5.4, RFC 1994 section 4.1. */
  #answerMd5({ identifier, data }: EapPacket): Buffer {
    const sizeBytes = data[0] ?? 0;
    if (sizeBytes === 0 || data.length < 1 + sizeBytes) throw new IkeFormatError("an MD5 challenge is cut off");
    this.#method = "md5";
    this.#isProven = true;
    const digest = createHash("md5")
      .update(Buffer.from([identifier]))
      .update(this.#login.password)
      .update(data.subarray(1, 1 + sizeBytes))
      .digest();
    return encodeResponse(identifier, TYPE.md5, Buffer.concat([Buffer.from([digest.length]), digest]));
  }

  #answerMschap({ identifier, data }: EapPacket): Buffer {
    const opcode = data[0];
    if (data.length < 4) throw new IkeFormatError("an MSCHAPv2 packet is cut off");
    if (opcode === OPCODE.challenge) return encodeResponse(identifier, TYPE.mschap, this.#respond(data));
    const words = data.subarray(4).toString("latin1");
    if (opcode === OPCODE.success) this.#check(words);
    else if (opcode === OPCODE.failure) this.#failure = failureOf(words.replaceAll(this.#login.password, "…"));
    else throw new IkeFormatError("an unknown MSCHAPv2 packet");
    return encodeResponse(identifier, TYPE.mschap, Buffer.from([opcode]));
  }

  #respond(data: Buffer): Buffer {
    if (data[4] !== CHALLENGE_BYTES || data.length < 5 + CHALLENGE_BYTES) {
      throw new IkeFormatError("an MSCHAPv2 challenge of a wrong length");
    }
    this.#method = "mschap";
    const { username, password } = this.#login;
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
    return {
      isDone: true,
      masterSessionKey: this.#method === "mschap" ? (this.#proof?.masterSessionKey ?? null) : null,
    };
  }

  #refusal(): NetworkFault {
    if (this.#method === "none" && this.#refused !== undefined) {
      return new NetworkFault(
        "misconfigured",
        `The gateway wants to log in by EAP ${this.#refused}, which is not supported`,
        {
          hint: "Passwords are sent by EAP-MSCHAPv2 or EAP-MD5",
        },
      );
    }
    return new NetworkFault("auth-failed", "The gateway refused the username or password");
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
