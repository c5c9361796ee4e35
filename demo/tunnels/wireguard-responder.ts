/** The other side, for the demo and tests: a WireGuard server's handshake and data, on the portable backend, with the faults a test asks for. */

import { xchacha20poly1305 } from "@noble/ciphers/chacha.js";
import { deriveKeys, KEY_BYTES } from "../../engine/protocols/wireguard/crypto.ts";
import { portableCrypto as crypto } from "../../engine/protocols/wireguard/crypto-portable.ts";
import { DataSession } from "../../engine/protocols/wireguard/data.ts";
import {
  COOKIE_REPLY,
  INITIATION,
  RESPONSE,
  setUint32,
  TRANSPORT,
  uint32At,
} from "../../engine/protocols/wireguard/message.ts";
import { admit } from "./kept.ts";

const EMPTY = new Uint8Array(0);

export interface ResponderOptions {
  readonly privateKey: Uint8Array;
  /** Public keys of clients with their preshared keys. */
  readonly clients: readonly { readonly publicKey: Uint8Array; readonly presharedKey?: Uint8Array }[];
  readonly ephemeralSeed: Uint8Array;
  /** Answers every initiation without a right mac2 with this cookie. */
  readonly cookie?: Uint8Array;
  readonly responseHeader?: number;
  readonly transportHeader?: number;
}

export class Responder {
  readonly publicKey: Uint8Array;
  readonly #options: ResponderOptions;
  readonly #own;
  readonly #sessions = new Map<number, DataSession>();
  /** Each client's newest timestamp: a server compares a client's initiation with those of that client only (WireGuard paper, 5.1). */
  readonly #latestTimestamps = new Map<string, string>();
  #nextIndex = 0x1000;

  constructor(options: ResponderOptions) {
    this.#options = options;
    this.#own = crypto.privateKey(options.privateKey);
    this.publicKey = this.#own.publicBytes;
  }

  /** @returns the response or cookie reply; undefined where a server is silent */
  answer(initiation: Uint8Array): Uint8Array | undefined {
    if (initiation.length !== INITIATION.bytes) return undefined;
    const mac1Key = crypto.hash(Buffer.from("mac1----"), this.publicKey);
    const mac1 = crypto.mac(mac1Key, initiation.subarray(0, INITIATION.mac1));
    if (!Buffer.from(mac1).equals(initiation.subarray(INITIATION.mac1, INITIATION.mac2))) return undefined;
    const { cookie } = this.#options;
    if (cookie !== undefined) {
      const mac2 = crypto.mac(cookie, initiation.subarray(0, INITIATION.mac2));
      if (!Buffer.from(mac2).equals(initiation.subarray(INITIATION.mac2)))
        return this.#cookieReply(initiation, cookie, mac1);
    }
    return this.#respond(initiation);
  }

  /** The inner packet of a transport message; undefined when it cannot be read. */
  open(message: Uint8Array): Uint8Array | undefined {
    const opened = this.#sessions.get(uint32At(message, TRANSPORT.receiver))?.open(message);
    return opened?.kind === "packet" ? opened.packet : opened?.kind === "keepalive" ? EMPTY : undefined;
  }

  /** @param answered a transport message of the session that the packet goes back through */
  seal(answered: Uint8Array, packet: Uint8Array): Uint8Array | undefined {
    const session = this.#sessions.get(uint32At(answered, TRANSPORT.receiver));
    return session?.seal(packet, this.#options.transportHeader ?? 4, 1_420);
  }

  #respond(initiation: Uint8Array): Uint8Array | undefined {
    const chaining = crypto.hash(Buffer.from("Noise_IKpsk2_25519_ChaChaPoly_BLAKE2s"));
    let hash = crypto.hash(chaining, Buffer.from("WireGuard v1 zx2c4 Jason@zx2c4.com"));
    const ephemeral = initiation.slice(INITIATION.ephemeral, INITIATION.staticKey);
    hash = crypto.hash(crypto.hash(hash, this.publicKey), ephemeral);
    const [c1] = deriveKeys(crypto, chaining, ephemeral, 1);
    const [c2, staticKey] = deriveKeys(crypto, c1, this.#agree(ephemeral), 2);
    const sealedStatic = initiation.subarray(INITIATION.staticKey, INITIATION.timestamp);
    const client = crypto.open(staticKey, 0, sealedStatic, hash);
    const known = this.#options.clients.find((each) => client !== null && Buffer.from(each.publicKey).equals(client));
    if (client === null || known === undefined) return undefined;
    hash = crypto.hash(hash, sealedStatic);
    const [c3, timestampKey] = deriveKeys(crypto, c2, this.#agree(client), 2);
    const sealedTimestamp = initiation.subarray(INITIATION.timestamp, INITIATION.mac1);
    const timestamp = crypto.open(timestampKey, 0, sealedTimestamp, hash);
    if (timestamp === null || !this.#isNewer(client, timestamp)) return undefined;
    hash = crypto.hash(hash, sealedTimestamp);

    const own = crypto.privateKey(this.#options.ephemeralSeed);
    hash = crypto.hash(hash, own.publicBytes);
    const [c4] = deriveKeys(crypto, c3, own.publicBytes, 1);
    const [c5] = deriveKeys(crypto, c4, own.agree(crypto.publicKey(ephemeral)) ?? EMPTY, 1);
    const [c6] = deriveKeys(crypto, c5, own.agree(crypto.publicKey(client)) ?? EMPTY, 1);
    const [c7, mixed, key] = deriveKeys(crypto, c6, known.presharedKey ?? new Uint8Array(KEY_BYTES), 3);
    hash = crypto.hash(hash, mixed);
    const [receive, send] = deriveKeys(crypto, c7, EMPTY, 2);

    const index = this.#nextIndex++;
    const message = new Uint8Array(RESPONSE.bytes);
    setUint32(message, 0, this.#options.responseHeader ?? 2);
    setUint32(message, RESPONSE.sender, index);
    setUint32(message, RESPONSE.receiver, uint32At(initiation, INITIATION.sender));
    message.set(own.publicBytes, RESPONSE.ephemeral);
    message.set(crypto.seal(key, 0, EMPTY, hash), RESPONSE.nothing);
    const mac1Key = crypto.hash(Buffer.from("mac1----"), client);
    message.set(crypto.mac(mac1Key, message.subarray(0, RESPONSE.mac1)), RESPONSE.mac1);
    const peerIndex = uint32At(initiation, INITIATION.sender);
    admit(this.#sessions, index, new DataSession(crypto, { send, receive, peerIndex }));
    return message;
  }

  #cookieReply(initiation: Uint8Array, cookie: Uint8Array, mac1: Uint8Array): Uint8Array {
    const nonce = new Uint8Array(24).fill(7);
    const key = crypto.hash(Buffer.from("cookie--"), this.publicKey);
    const message = new Uint8Array(COOKIE_REPLY.bytes);
    setUint32(message, 0, 3);
    setUint32(message, COOKIE_REPLY.receiver, uint32At(initiation, INITIATION.sender));
    message.set(nonce, COOKIE_REPLY.nonce);
    message.set(xchacha20poly1305(key, nonce, mac1).encrypt(cookie), COOKIE_REPLY.cookie);
    return message;
  }

  #agree(publicKey: Uint8Array): Uint8Array {
    return this.#own.agree(crypto.publicKey(publicKey)) ?? EMPTY;
  }

  #isNewer(client: Uint8Array, timestamp: Uint8Array): boolean {
    const name = Buffer.from(client).toString("hex");
    const text = Buffer.from(timestamp).toString("hex");
    if (text <= (this.#latestTimestamps.get(name) ?? "")) return false;
    this.#latestTimestamps.set(name, text);
    return true;
  }
}
