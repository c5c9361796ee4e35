/**
 * Node's own OpenSSL by FFI, for handshakes by the thousand a second: node:crypto wraps each digest, each cipher and each key into objects
 * and streams that cost several times the arithmetic, and then again in the garbage collector. Arguments lie in one piece of memory and go
 * over as numbers, because a call with typed arrays costs ten times one with numbers. Digests, MACs and ciphers are the EVP functions that
 * OpenSSL's manual documents. X25519 is what stands behind them (crypto/ec/curve25519.c): through EVP a fresh key costs a third more than
 * its arithmetic, in looking up names. It is called of OpenSSL 3 only, and only once it has given the answers of RFC 7748.
 */
import { createRequire } from "node:module";

export interface Openssl {
  /** The public half of 32 bytes (RFC 7748, clamped there). */
  x25519Public(privateKey: Uint8Array): Uint8Array;
  /** @returns null for a peer key of low order (a shared secret of zeros) */
  x25519(privateKey: Uint8Array, peerKey: Uint8Array): Uint8Array | null;
  /** BLAKE2s-256, of the second behind the first where there are two. */
  blake2s(bytes: Uint8Array, more?: Uint8Array): Uint8Array;
  /** HKDF with HMAC-BLAKE2s and no info (RFC 5869). @param salt at most 64 bytes; @param count outputs of 32 bytes */
  hkdfBlake2s(salt: Uint8Array, input: Uint8Array, count: number): Uint8Array[];
  /** Keyed BLAKE2s of 16 bytes. @param key at most 32 bytes */
  macBlake2s(key: Uint8Array, bytes: Uint8Array): Uint8Array;
  /** ChaCha20-Poly1305 (RFC 8439), the tag at the end. @param counter the nonce's last 8 bytes, little-endian, behind four zeros */
  sealChacha(key: Uint8Array, counter: number, plain: Uint8Array, associated: Uint8Array): Uint8Array;
  /** @returns null when it was not sealed so */
  openChacha(key: Uint8Array, counter: number, sealed: Uint8Array, associated: Uint8Array): Uint8Array | null;
}

/** Of a struct of OpenSSL's, or of bytes: below 2^53 on every 64-bit Linux, so that koffi gives a number; 0 is null. */
type Pointer = number | bigint;

/** Names of parameters as in the manual; all of them numbers, see above. */
interface Functions {
  ossl_x25519(shared: number, privateKey: number, peerKey: number): number;
  ossl_x25519_public_from_private(publicKey: number, privateKey: number): void;
  EVP_MD_fetch(library: 0, name: string, properties: null): Pointer;
  EVP_Digest(bytes: number, sizeBytes: number, digest: number, digestBytes: 0, kind: Pointer, engine: 0): number;
  EVP_MAC_fetch(library: 0, name: string, properties: null): Pointer;
  EVP_MAC_CTX_new(kind: Pointer): Pointer;
  EVP_MAC_CTX_set_params(context: Pointer, parameters: number): number;
  EVP_MAC_init(context: Pointer, key: number, keyBytes: number, parameters: 0): number;
  EVP_MAC_update(context: Pointer, bytes: number, sizeBytes: number): number;
  EVP_MAC_final(context: Pointer, mac: number, macBytes: number, roomBytes: number): number;
  EVP_CIPHER_fetch(library: 0, name: string, properties: null): Pointer;
  EVP_CIPHER_CTX_new(): Pointer;
  EVP_CipherInit_ex(context: Pointer, kind: Pointer, engine: 0, key: number, nonce: number, encrypts: number): number;
  EVP_CipherUpdate(context: Pointer, out: number, outBytes: number, bytes: number, sizeBytes: number): number;
  EVP_CipherFinal_ex(context: Pointer, out: number, outBytes: number): number;
  EVP_CIPHER_CTX_ctrl(context: Pointer, what: number, sizeBytes: number, bytes: number): number;
  ERR_clear_error(): void;
}

const SIGNATURES: Readonly<Record<keyof Functions, string>> = {
  ossl_x25519: "int ossl_x25519(uintptr_t, uintptr_t, uintptr_t)",
  ossl_x25519_public_from_private: "void ossl_x25519_public_from_private(uintptr_t, uintptr_t)",
  EVP_MD_fetch: "uintptr_t EVP_MD_fetch(uintptr_t, const char *, const char *)",
  EVP_Digest: "int EVP_Digest(uintptr_t, size_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t)",
  EVP_MAC_fetch: "uintptr_t EVP_MAC_fetch(uintptr_t, const char *, const char *)",
  EVP_MAC_CTX_new: "uintptr_t EVP_MAC_CTX_new(uintptr_t)",
  EVP_MAC_CTX_set_params: "int EVP_MAC_CTX_set_params(uintptr_t, uintptr_t)",
  EVP_MAC_init: "int EVP_MAC_init(uintptr_t, uintptr_t, size_t, uintptr_t)",
  EVP_MAC_update: "int EVP_MAC_update(uintptr_t, uintptr_t, size_t)",
  EVP_MAC_final: "int EVP_MAC_final(uintptr_t, uintptr_t, uintptr_t, size_t)",
  EVP_CIPHER_fetch: "uintptr_t EVP_CIPHER_fetch(uintptr_t, const char *, const char *)",
  EVP_CIPHER_CTX_new: "uintptr_t EVP_CIPHER_CTX_new()",
  EVP_CipherInit_ex: "int EVP_CipherInit_ex(uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t, int)",
  EVP_CipherUpdate: "int EVP_CipherUpdate(uintptr_t, uintptr_t, uintptr_t, uintptr_t, int)",
  EVP_CipherFinal_ex: "int EVP_CipherFinal_ex(uintptr_t, uintptr_t, uintptr_t)",
  EVP_CIPHER_CTX_ctrl: "int EVP_CIPHER_CTX_ctrl(uintptr_t, int, int, uintptr_t)",
  ERR_clear_error: "void ERR_clear_error()",
};

/** EVP_CTRL_AEAD_GET_TAG and _SET_TAG (evp.h), OSSL_PARAM_UNSIGNED_INTEGER (core.h). */
const GET_TAG = 0x10;
const SET_TAG = 0x11;
const UNSIGNED_INTEGER = 2;
const KEY_BYTES = 32;
const HASH_BYTES = 32;
const MAC_BYTES = 16;
const TAG_BYTES = 16;
/** Of HMAC and BLAKE2s: RFC 2104 section 2, RFC 7693 section 2.1. */
const BLOCK_BYTES = 64;
const INNER_PAD = 0x36;
const OUTER_PAD = 0x5c;

/** Where things lie in the memory; each part of those of a fixed size has 64 or 128 bytes. */
const KEY = 0;
const PEER = 64;
const NONCE = 128;
const SIZE = 192;
const OUT = 256;
/** A padded key and what is hashed behind it, and the outer one of HMAC. */
const INNER = 320;
const OUTER = 512;
const PARAMETERS = 640;
const TEXT = 1_024;
/** Texts that are longer make it anew; at most a datagram's length. */
const MEMORY_BYTES = 8_192;
/** Behind the padded key, in front of OUTER. */
const INNER_ROOM_BYTES = OUTER - INNER - BLOCK_BYTES;

let loaded: Openssl | null | undefined;

/** Null where koffi does not load, or this Node's OpenSSL lacks something (FIPS, another library, a shared one). */
export function loadOpenssl(): Openssl | null {
  if (loaded === undefined) loaded = load();
  return loaded;
}

function load(): Openssl | null {
  const isKnown = process.arch === "x64" || process.arch === "arm64";
  if (process.platform !== "linux" || !isKnown || !process.versions.openssl.startsWith("3.")) return null;
  try {
    const koffi = createRequire(import.meta.url)("koffi") as typeof import("koffi");
    const library = koffi.load(null);
    const calls = Object.entries(SIGNATURES).map(([name, signature]) => [name, library.func(signature)]);
    const opened = new NodesOpenssl(Object.fromEntries(calls) as Functions, (buffer) => Number(koffi.address(buffer)));
    return agreesAsPublished(opened) ? opened : null;
  } catch {
    return null;
  }
}

/** RFC 7748 section 6.1: what Bob makes of his key and of Alice's. */
function agreesAsPublished(openssl: Openssl): boolean {
  const bob = Buffer.from("5dab087e624a8a4b79e17f8b83800ee66f3bb1292618b6fd1c2f8b27ff88e0eb", "hex");
  const alicesPublic = Buffer.from("8520f0098930a754748b7ddcb43ef75a0dbf3a0d26381af4eba4a98eaa9b4e6a", "hex");
  const publicKey = Buffer.from(openssl.x25519Public(bob)).toString("hex");
  const shared = Buffer.from(openssl.x25519(bob, alicesPublic) ?? []).toString("hex");
  return (
    publicKey === "de9edb7d7b7dc1b4d35b61c2ece435373f8343c85b78674dadfc7e146f882b4f" &&
    shared === "4a5d9d5ba4ce2de1728e3bf480350f25e07e21c947d19e3376f09b3c1e161742" &&
    openssl.x25519(bob, new Uint8Array(KEY_BYTES)) === null
  );
}

class NodesOpenssl implements Openssl {
  readonly #calls: Functions;
  readonly #addressOf: (buffer: Buffer) => number;
  readonly #digest: Pointer;
  readonly #mac: Pointer;
  readonly #seals: Pointer;
  readonly #opens: Pointer;
  /** So large that V8 never moves it. */
  #memory: Buffer = Buffer.alloc(MEMORY_BYTES);
  /** Of the memory. */
  #at: number;

  /** @throws when something is missing */
  constructor(calls: Functions, addressOf: (buffer: Buffer) => number) {
    this.#calls = calls;
    this.#addressOf = addressOf;
    this.#at = addressOf(this.#memory);
    this.#digest = there(calls.EVP_MD_fetch(0, "BLAKE2S-256", null));
    this.#mac = there(calls.EVP_MAC_CTX_new(there(calls.EVP_MAC_fetch(0, "BLAKE2SMAC", null))));
    writeSizeParameter(this.#memory, this.#at, MAC_BYTES);
    done(calls.EVP_MAC_CTX_set_params(this.#mac, this.#at + PARAMETERS));
    const cipher = there(calls.EVP_CIPHER_fetch(0, "ChaCha20-Poly1305", null));
    this.#seals = there(calls.EVP_CIPHER_CTX_new());
    this.#opens = there(calls.EVP_CIPHER_CTX_new());
    done(calls.EVP_CipherInit_ex(this.#seals, cipher, 0, 0, 0, 1));
    done(calls.EVP_CipherInit_ex(this.#opens, cipher, 0, 0, 0, 0));
  }

  x25519Public(privateKey: Uint8Array): Uint8Array {
    this.#put(privateKey, KEY);
    this.#calls.ossl_x25519_public_from_private(this.#at + OUT, this.#at + KEY);
    this.#wipe(KEY, KEY_BYTES);
    return this.#taken(OUT, KEY_BYTES);
  }

  x25519(privateKey: Uint8Array, peerKey: Uint8Array): Uint8Array | null {
    this.#put(privateKey, KEY);
    this.#put(peerKey, PEER);
    const isKey = this.#calls.ossl_x25519(this.#at + OUT, this.#at + KEY, this.#at + PEER) === 1;
    this.#wipe(KEY, KEY_BYTES);
    return isKey ? this.#taken(OUT, KEY_BYTES) : null;
  }

  blake2s(bytes: Uint8Array, more?: Uint8Array): Uint8Array {
    const sizeBytes = bytes.length + (more?.length ?? 0);
    this.#makeRoom(sizeBytes);
    this.#put(bytes, TEXT);
    if (more !== undefined) this.#put(more, TEXT + bytes.length);
    this.#hash(TEXT, sizeBytes, OUT);
    return this.#taken(OUT, HASH_BYTES);
  }

  hkdfBlake2s(salt: Uint8Array, input: Uint8Array, count: number): Uint8Array[] {
    const memory = this.#memory;
    if (salt.length > BLOCK_BYTES || input.length > INNER_ROOM_BYTES) throw new RangeError("too long for this HKDF");
    for (let index = 0; index < BLOCK_BYTES; index++) this.#padKey(index, salt[index] ?? 0);
    this.#put(input, INNER + BLOCK_BYTES);
    this.#hmac(input.length);
    for (let index = 0; index < BLOCK_BYTES; index++) {
      this.#padKey(index, index < HASH_BYTES ? (memory[OUT + index] ?? 0) : 0);
    }
    const outputs: Uint8Array[] = [];
    for (let number = 1; number <= count; number++) {
      // Each further output is made of the one before it and its own number.
      const before = number === 1 ? 0 : HASH_BYTES;
      for (let index = 0; index < before; index++) memory[INNER + BLOCK_BYTES + index] = memory[OUT + index] ?? 0;
      memory[INNER + BLOCK_BYTES + before] = number;
      this.#hmac(before + 1);
      outputs.push(this.#taken(OUT, HASH_BYTES));
    }
    return outputs;
  }

  macBlake2s(key: Uint8Array, bytes: Uint8Array): Uint8Array {
    this.#makeRoom(bytes.length);
    this.#put(bytes, TEXT);
    this.#put(key, KEY);
    done(this.#calls.EVP_MAC_init(this.#mac, this.#at + KEY, key.length, 0));
    done(this.#calls.EVP_MAC_update(this.#mac, this.#at + TEXT, bytes.length));
    done(this.#calls.EVP_MAC_final(this.#mac, this.#at + OUT, this.#at + SIZE, BLOCK_BYTES));
    return this.#taken(OUT, MAC_BYTES);
  }

  sealChacha(key: Uint8Array, counter: number, plain: Uint8Array, associated: Uint8Array): Uint8Array {
    this.#start(this.#seals, 1, key, counter, associated, plain);
    this.#update(this.#seals, plain.length);
    done(this.#calls.EVP_CipherFinal_ex(this.#seals, this.#at + OUT, this.#at + SIZE));
    // Behind the text, where its room has been made.
    done(this.#calls.EVP_CIPHER_CTX_ctrl(this.#seals, GET_TAG, TAG_BYTES, this.#at + TEXT + plain.length));
    return this.#taken(TEXT, plain.length + TAG_BYTES);
  }

  openChacha(key: Uint8Array, counter: number, sealed: Uint8Array, associated: Uint8Array): Uint8Array | null {
    const sizeBytes = sealed.length - TAG_BYTES;
    if (sizeBytes < 0) return null;
    this.#start(this.#opens, 0, key, counter, associated, sealed);
    done(this.#calls.EVP_CIPHER_CTX_ctrl(this.#opens, SET_TAG, TAG_BYTES, this.#at + TEXT + sizeBytes));
    this.#update(this.#opens, sizeBytes);
    if (this.#calls.EVP_CipherFinal_ex(this.#opens, this.#at + OUT, this.#at + SIZE) === 1) {
      return this.#taken(TEXT, sizeBytes);
    }
    // An error that is left in the thread's queue would be reported by a later call.
    this.#calls.ERR_clear_error();
    return null;
  }

  /** The text is at TEXT afterwards, and is processed in place. */
  #start(
    context: Pointer,
    encrypts: 0 | 1,
    key: Uint8Array,
    counter: number,
    associated: Uint8Array,
    text: Uint8Array,
  ): void {
    this.#makeRoom(Math.max(text.length + TAG_BYTES, associated.length));
    this.#put(key, KEY);
    this.#memory.writeUInt32LE(0, NONCE);
    this.#memory.writeUInt32LE(counter % 0x1_0000_0000, NONCE + 4);
    this.#memory.writeUInt32LE(Math.floor(counter / 0x1_0000_0000), NONCE + 8);
    done(this.#calls.EVP_CipherInit_ex(context, 0, 0, this.#at + KEY, this.#at + NONCE, encrypts));
    if (associated.length > 0) {
      this.#put(associated, TEXT);
      done(this.#calls.EVP_CipherUpdate(context, 0, this.#at + SIZE, this.#at + TEXT, associated.length));
    }
    this.#put(text, TEXT);
  }

  #update(context: Pointer, sizeBytes: number): void {
    const at = this.#at + TEXT;
    done(this.#calls.EVP_CipherUpdate(context, at, this.#at + SIZE, at, sizeBytes));
  }

  #padKey(index: number, byte: number): void {
    this.#memory[INNER + index] = byte ^ INNER_PAD;
    this.#memory[OUTER + index] = byte ^ OUTER_PAD;
  }

  /** HMAC of what follows the padded key at INNER, to OUT. */
  #hmac(sizeBytes: number): void {
    this.#hash(INNER, BLOCK_BYTES + sizeBytes, OUTER + BLOCK_BYTES);
    this.#hash(OUTER, BLOCK_BYTES + HASH_BYTES, OUT);
  }

  #hash(from: number, sizeBytes: number, to: number): void {
    done(this.#calls.EVP_Digest(this.#at + from, sizeBytes, this.#at + to, 0, this.#digest, 0));
  }

  /** For so long a text. */
  #makeRoom(sizeBytes: number): void {
    if (TEXT + sizeBytes <= this.#memory.length) return;
    this.#memory = Buffer.alloc(TEXT + sizeBytes);
    this.#at = this.#addressOf(this.#memory);
  }

  /** Keys and hashes are so short that a call to copy them costs more. */
  #put(bytes: Uint8Array, to: number): void {
    if (bytes.length > BLOCK_BYTES) this.#memory.set(bytes, to);
    else for (let index = 0; index < bytes.length; index++) this.#memory[to + index] = bytes[index] ?? 0;
  }

  /** A copy, at the start of its own memory. */
  #taken(from: number, sizeBytes: number): Uint8Array {
    const bytes = new Uint8Array(sizeBytes);
    if (sizeBytes > BLOCK_BYTES) bytes.set(this.#memory.subarray(from, from + sizeBytes));
    else for (let index = 0; index < sizeBytes; index++) bytes[index] = this.#memory[from + index] ?? 0;
    return bytes;
  }

  #wipe(from: number, sizeBytes: number): void {
    this.#memory.fill(0, from, from + sizeBytes);
  }
}

/** @throws for a null pointer */
function there(pointer: Pointer): Pointer {
  if (pointer === 0 || pointer === 0n) throw new Error("this OpenSSL lacks it");
  return pointer;
}

/** Nothing may go out that a call left undone: it works in place. @throws for anything but success */
function done(result: number): void {
  if (result !== 1) throw new Error("OpenSSL refused");
}

/** struct ossl_param_st[2] (core.h): key, type, data, data_size, return_size; the second of zeros ends it. */
function writeSizeParameter(memory: Buffer, address: number, sizeBytes: number): void {
  // The name and the value lie behind the two structs.
  const nameAt = PARAMETERS + 128;
  const valueAt = PARAMETERS + 160;
  memory.write("size\0", nameAt, "latin1");
  memory.writeUInt32LE(sizeBytes, valueAt);
  memory.writeBigUInt64LE(BigInt(address + nameAt), PARAMETERS);
  memory.writeUInt32LE(UNSIGNED_INTEGER, PARAMETERS + 8);
  memory.writeBigUInt64LE(BigInt(address + valueAt), PARAMETERS + 16);
  memory.writeBigUInt64LE(8n, PARAMETERS + 24);
}
