/**
 * Node's own OpenSSL by FFI, for handshakes by the thousand a second: node:crypto wraps each digest, each cipher and each key into objects
 * and streams that cost several times the arithmetic (HMAC-BLAKE2s 3.4 µs against 1.2, ChaCha20-Poly1305 6.9 against 1.2, an agreement 47
 * against 36 on one machine), and then again in the garbage collector. Only the EVP functions of OpenSSL 3 that its manual documents.
 */
import { createRequire } from "node:module";

/** A private key made ready for agreements; freed with the object where nobody does it before. */
export interface X25519Private {
  readonly publicBytes: Uint8Array;
  /** @returns null for a peer key of low order (a shared secret of zeros) */
  agree(peer: X25519Public): Uint8Array | null;
  /** It agrees no more. */
  free(): void;
}

/** Made by the same loadOpenssl(); freed with the object. */
export interface X25519Public {
  readonly bytes: Uint8Array;
}

export interface Openssl {
  /** @param seed 32 bytes */
  x25519Private(seed: Uint8Array): X25519Private;
  /** @param bytes 32 of them */
  x25519Public(bytes: Uint8Array): X25519Public;
  /** BLAKE2s-256, of the second behind the first where there are two. */
  blake2s(bytes: Uint8Array, more?: Uint8Array): Uint8Array;
  hmacBlake2s(key: Uint8Array, bytes: Uint8Array): Uint8Array;
  /** Keyed BLAKE2s of 16 bytes. @param key at most 32 bytes */
  macBlake2s(key: Uint8Array, bytes: Uint8Array): Uint8Array;
  /** ChaCha20-Poly1305 (RFC 8439), the tag at the end. */
  sealChacha(key: Uint8Array, nonce: Uint8Array, plain: Uint8Array, associated: Uint8Array): Uint8Array;
  /** @returns null when it was not sealed so */
  openChacha(key: Uint8Array, nonce: Uint8Array, sealed: Uint8Array, associated: Uint8Array): Uint8Array | null;
}

/** A pointer: below 2^53 on every 64-bit Linux, so that koffi gives a number; 0 is null. */
type Pointer = number | bigint;

interface Functions {
  EVP_MD_fetch(library: 0, name: string, properties: null): Pointer;
  EVP_Digest(
    bytes: Uint8Array,
    sizeBytes: number,
    digest: Uint8Array,
    digestBytes: Uint8Array,
    kind: Pointer,
    engine: 0,
  ): number;
  EVP_MAC_fetch(library: 0, name: string, properties: null): Pointer;
  EVP_MAC_CTX_new(kind: Pointer): Pointer;
  EVP_MAC_CTX_set_params(context: Pointer, parameters: Uint8Array): number;
  EVP_MAC_init(context: Pointer, key: Uint8Array, keyBytes: number, parameters: 0): number;
  EVP_MAC_update(context: Pointer, bytes: Uint8Array, sizeBytes: number): number;
  EVP_MAC_final(context: Pointer, mac: Uint8Array, macBytes: Uint8Array, roomBytes: number): number;
  EVP_CIPHER_fetch(library: 0, name: string, properties: null): Pointer;
  EVP_CIPHER_CTX_new(): Pointer;
  EVP_CipherInit_ex(
    context: Pointer,
    kind: Pointer,
    engine: 0,
    key: Uint8Array | null,
    nonce: Uint8Array | null,
    encrypts: number,
  ): number;
  EVP_CipherUpdate(
    context: Pointer,
    out: Uint8Array | null,
    outBytes: Uint8Array,
    bytes: Uint8Array,
    sizeBytes: number,
  ): number;
  EVP_CipherFinal_ex(context: Pointer, out: Uint8Array, outBytes: Uint8Array): number;
  EVP_CIPHER_CTX_ctrl(context: Pointer, what: number, sizeBytes: number, bytes: Uint8Array): number;
  EVP_PKEY_new_raw_private_key(kind: number, engine: 0, key: Uint8Array, keyBytes: number): Pointer;
  EVP_PKEY_new_raw_public_key(kind: number, engine: 0, key: Uint8Array, keyBytes: number): Pointer;
  EVP_PKEY_get_raw_public_key(key: Pointer, bytes: Uint8Array, sizeBytes: Uint8Array): number;
  EVP_PKEY_free(key: Pointer): void;
  EVP_PKEY_CTX_new(key: Pointer, engine: 0): Pointer;
  EVP_PKEY_CTX_free(context: Pointer): void;
  EVP_PKEY_derive_init(context: Pointer): number;
  EVP_PKEY_derive_set_peer_ex(context: Pointer, peer: Pointer, validates: number): number;
  EVP_PKEY_derive(context: Pointer, secret: Uint8Array, secretBytes: Uint8Array): number;
  ERR_clear_error(): void;
}

const SIGNATURES: Readonly<Record<keyof Functions, string>> = {
  EVP_MD_fetch: "uintptr_t EVP_MD_fetch(uintptr_t, const char *, const char *)",
  EVP_Digest: "int EVP_Digest(uint8_t *, size_t, uint8_t *, uint8_t *, uintptr_t, uintptr_t)",
  EVP_MAC_fetch: "uintptr_t EVP_MAC_fetch(uintptr_t, const char *, const char *)",
  EVP_MAC_CTX_new: "uintptr_t EVP_MAC_CTX_new(uintptr_t)",
  EVP_MAC_CTX_set_params: "int EVP_MAC_CTX_set_params(uintptr_t, uint8_t *)",
  EVP_MAC_init: "int EVP_MAC_init(uintptr_t, uint8_t *, size_t, uintptr_t)",
  EVP_MAC_update: "int EVP_MAC_update(uintptr_t, uint8_t *, size_t)",
  EVP_MAC_final: "int EVP_MAC_final(uintptr_t, uint8_t *, uint8_t *, size_t)",
  EVP_CIPHER_fetch: "uintptr_t EVP_CIPHER_fetch(uintptr_t, const char *, const char *)",
  EVP_CIPHER_CTX_new: "uintptr_t EVP_CIPHER_CTX_new()",
  EVP_CipherInit_ex: "int EVP_CipherInit_ex(uintptr_t, uintptr_t, uintptr_t, uint8_t *, uint8_t *, int)",
  EVP_CipherUpdate: "int EVP_CipherUpdate(uintptr_t, uint8_t *, uint8_t *, uint8_t *, int)",
  EVP_CipherFinal_ex: "int EVP_CipherFinal_ex(uintptr_t, uint8_t *, uint8_t *)",
  EVP_CIPHER_CTX_ctrl: "int EVP_CIPHER_CTX_ctrl(uintptr_t, int, int, uint8_t *)",
  EVP_PKEY_new_raw_private_key: "uintptr_t EVP_PKEY_new_raw_private_key(int, uintptr_t, uint8_t *, size_t)",
  EVP_PKEY_new_raw_public_key: "uintptr_t EVP_PKEY_new_raw_public_key(int, uintptr_t, uint8_t *, size_t)",
  EVP_PKEY_get_raw_public_key: "int EVP_PKEY_get_raw_public_key(uintptr_t, uint8_t *, uint8_t *)",
  EVP_PKEY_free: "void EVP_PKEY_free(uintptr_t)",
  EVP_PKEY_CTX_new: "uintptr_t EVP_PKEY_CTX_new(uintptr_t, uintptr_t)",
  EVP_PKEY_CTX_free: "void EVP_PKEY_CTX_free(uintptr_t)",
  EVP_PKEY_derive_init: "int EVP_PKEY_derive_init(uintptr_t)",
  EVP_PKEY_derive_set_peer_ex: "int EVP_PKEY_derive_set_peer_ex(uintptr_t, uintptr_t, int)",
  EVP_PKEY_derive: "int EVP_PKEY_derive(uintptr_t, uint8_t *, uint8_t *)",
  ERR_clear_error: "void ERR_clear_error()",
};

/** NID_X25519 (obj_mac.h), EVP_CTRL_AEAD_GET_TAG and _SET_TAG (evp.h), OSSL_PARAM_UNSIGNED_INTEGER (core.h). */
const X25519 = 1034;
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
/** Grows with what is asked of it; at most a datagram's length. */
const SCRATCH_BYTES = 4_096;

let loaded: Openssl | null | undefined;

/** Null where koffi does not load, or this Node's OpenSSL lacks something (FIPS, another library). */
export function loadOpenssl(): Openssl | null {
  if (loaded === undefined) loaded = load();
  return loaded;
}

function load(): Openssl | null {
  if (process.platform !== "linux" || (process.arch !== "x64" && process.arch !== "arm64")) return null;
  try {
    const koffi = createRequire(import.meta.url)("koffi") as typeof import("koffi");
    const library = koffi.load(null);
    const calls = Object.entries(SIGNATURES).map(([name, signature]) => [name, library.func(signature)]);
    return new EvpFunctions(Object.fromEntries(calls) as Functions, (buffer) => koffi.address(buffer));
  } catch {
    return null;
  }
}

class EvpFunctions implements Openssl {
  readonly evp: Functions;
  readonly #digest: Pointer;
  readonly #mac: Pointer;
  readonly #seals: Pointer;
  readonly #opens: Pointer;
  readonly freed: FinalizationRegistry<() => void> = new FinalizationRegistry((free) => free());
  /** Arguments lie here: small arrays of V8's own would first be moved out of its heap by each call. */
  #scratch = Buffer.alloc(SCRATCH_BYTES);
  readonly #key = Buffer.alloc(128);
  readonly #nonce = Buffer.alloc(128);
  readonly #out = Buffer.alloc(128);
  readonly #size = Buffer.alloc(128);

  /** @throws when something is missing */
  constructor(evp: Functions, addressOf: (buffer: Buffer) => bigint) {
    this.evp = evp;
    this.#digest = there(evp.EVP_MD_fetch(0, "BLAKE2S-256", null));
    this.#mac = there(evp.EVP_MAC_CTX_new(there(evp.EVP_MAC_fetch(0, "BLAKE2SMAC", null))));
    if (evp.EVP_MAC_CTX_set_params(this.#mac, sizeParameter(MAC_BYTES, addressOf)) !== 1) throw new Error("BLAKE2SMAC");
    const cipher = there(evp.EVP_CIPHER_fetch(0, "ChaCha20-Poly1305", null));
    this.#seals = there(evp.EVP_CIPHER_CTX_new());
    this.#opens = there(evp.EVP_CIPHER_CTX_new());
    if (evp.EVP_CipherInit_ex(this.#seals, cipher, 0, null, null, 1) !== 1) throw new Error("ChaCha20-Poly1305");
    if (evp.EVP_CipherInit_ex(this.#opens, cipher, 0, null, null, 0) !== 1) throw new Error("ChaCha20-Poly1305");
  }

  x25519Private(seed: Uint8Array): X25519Private {
    this.#key.set(seed);
    const pair = there(this.evp.EVP_PKEY_new_raw_private_key(X25519, 0, this.#key, KEY_BYTES));
    this.#setSize(KEY_BYTES);
    done(this.evp.EVP_PKEY_get_raw_public_key(pair, this.#out, this.#size));
    const context = this.evp.EVP_PKEY_CTX_new(pair, 0);
    // The context keeps it.
    this.evp.EVP_PKEY_free(pair);
    this.#key.fill(0);
    if (this.evp.EVP_PKEY_derive_init(there(context)) !== 1) throw new Error("X25519 is not there");
    return new EvpPrivate(this, context, this.#taken(this.#out, KEY_BYTES));
  }

  x25519Public(bytes: Uint8Array): X25519Public {
    this.#key.set(bytes);
    return new EvpPublic(this, there(this.evp.EVP_PKEY_new_raw_public_key(X25519, 0, this.#key, KEY_BYTES)), bytes);
  }

  agree(context: Pointer, peer: Pointer): Uint8Array | null {
    this.#setSize(KEY_BYTES);
    // Not validated: of X25519 every key is one, and the zeros of a low order are refused by the agreement itself.
    const isDone =
      this.evp.EVP_PKEY_derive_set_peer_ex(context, peer, 0) === 1 &&
      this.evp.EVP_PKEY_derive(context, this.#out, this.#size) === 1;
    if (isDone) return this.#taken(this.#out, KEY_BYTES);
    // What is left in the thread's queue of errors would be told as somebody else's.
    this.evp.ERR_clear_error();
    return null;
  }

  blake2s(bytes: Uint8Array, more?: Uint8Array): Uint8Array {
    const sizeBytes = bytes.length + (more?.length ?? 0);
    const scratch = this.#scratchOf(sizeBytes);
    scratch.set(bytes);
    if (more !== undefined) scratch.set(more, bytes.length);
    this.#hash(scratch, sizeBytes, this.#out);
    return this.#taken(this.#out, HASH_BYTES);
  }

  hmacBlake2s(given: Uint8Array, bytes: Uint8Array): Uint8Array {
    const key = given.length > BLOCK_BYTES ? this.blake2s(given) : given;
    const scratch = this.#scratchOf(BLOCK_BYTES + Math.max(bytes.length, HASH_BYTES));
    for (let index = 0; index < BLOCK_BYTES; index++) scratch[index] = (key[index] ?? 0) ^ INNER_PAD;
    scratch.set(bytes, BLOCK_BYTES);
    this.#hash(scratch, BLOCK_BYTES + bytes.length, this.#out);
    for (let index = 0; index < BLOCK_BYTES; index++) scratch[index] = (key[index] ?? 0) ^ OUTER_PAD;
    this.#out.copy(scratch, BLOCK_BYTES, 0, HASH_BYTES);
    this.#hash(scratch, BLOCK_BYTES + HASH_BYTES, this.#out);
    return this.#taken(this.#out, HASH_BYTES);
  }

  macBlake2s(key: Uint8Array, bytes: Uint8Array): Uint8Array {
    const scratch = this.#scratchOf(bytes.length);
    scratch.set(bytes);
    this.#key.set(key);
    done(this.evp.EVP_MAC_init(this.#mac, this.#key, key.length, 0));
    done(this.evp.EVP_MAC_update(this.#mac, scratch, bytes.length));
    done(this.evp.EVP_MAC_final(this.#mac, this.#out, this.#size, this.#out.length));
    return this.#taken(this.#out, MAC_BYTES);
  }

  sealChacha(key: Uint8Array, nonce: Uint8Array, plain: Uint8Array, associated: Uint8Array): Uint8Array {
    const { evp } = this;
    const scratch = this.#start(this.#seals, 1, key, nonce, associated, plain);
    done(evp.EVP_CipherUpdate(this.#seals, scratch, this.#size, scratch, plain.length));
    done(evp.EVP_CipherFinal_ex(this.#seals, this.#out, this.#size));
    done(evp.EVP_CIPHER_CTX_ctrl(this.#seals, GET_TAG, TAG_BYTES, this.#out));
    const sealed = new Uint8Array(plain.length + TAG_BYTES);
    sealed.set(scratch.subarray(0, plain.length));
    sealed.set(this.#out.subarray(0, TAG_BYTES), plain.length);
    return sealed;
  }

  openChacha(key: Uint8Array, nonce: Uint8Array, sealed: Uint8Array, associated: Uint8Array): Uint8Array | null {
    const { evp } = this;
    const sizeBytes = sealed.length - TAG_BYTES;
    if (sizeBytes < 0) return null;
    const scratch = this.#start(this.#opens, 0, key, nonce, associated, sealed);
    this.#out.set(sealed.subarray(sizeBytes));
    done(evp.EVP_CIPHER_CTX_ctrl(this.#opens, SET_TAG, TAG_BYTES, this.#out));
    done(evp.EVP_CipherUpdate(this.#opens, scratch, this.#size, scratch, sizeBytes));
    const isAuthentic = evp.EVP_CipherFinal_ex(this.#opens, this.#out, this.#size) === 1;
    if (!isAuthentic) evp.ERR_clear_error();
    return isAuthentic ? this.#taken(scratch, sizeBytes) : null;
  }

  /** @returns where the text lies, to be worked on in place */
  #start(
    context: Pointer,
    encrypts: 0 | 1,
    key: Uint8Array,
    nonce: Uint8Array,
    associated: Uint8Array,
    text: Uint8Array,
  ): Buffer {
    const scratch = this.#scratchOf(Math.max(text.length, associated.length));
    this.#key.set(key);
    this.#nonce.set(nonce);
    done(this.evp.EVP_CipherInit_ex(context, 0, 0, this.#key, this.#nonce, encrypts));
    scratch.set(associated);
    if (associated.length > 0) {
      done(this.evp.EVP_CipherUpdate(context, null, this.#size, scratch, associated.length));
    }
    scratch.set(text);
    return scratch;
  }

  #hash(bytes: Buffer, sizeBytes: number, into: Buffer): void {
    if (this.evp.EVP_Digest(bytes, sizeBytes, into, this.#size, this.#digest, 0) !== 1)
      throw new Error("BLAKE2s failed");
  }

  #scratchOf(sizeBytes: number): Buffer {
    if (this.#scratch.length < sizeBytes) this.#scratch = Buffer.alloc(sizeBytes);
    return this.#scratch;
  }

  /** A copy, at the start of its own memory. */
  #taken(from: Buffer, sizeBytes: number): Uint8Array {
    const bytes = new Uint8Array(sizeBytes);
    for (let index = 0; index < sizeBytes; index++) bytes[index] = from[index] ?? 0;
    return bytes;
  }

  #setSize(sizeBytes: number): void {
    this.#size.writeUInt32LE(sizeBytes, 0);
    this.#size.writeUInt32LE(0, 4);
  }
}

class EvpPrivate implements X25519Private {
  readonly publicBytes: Uint8Array;
  readonly #openssl: EvpFunctions;
  /** 0 once it is freed. */
  #context: Pointer;

  constructor(openssl: EvpFunctions, context: Pointer, publicBytes: Uint8Array) {
    this.#openssl = openssl;
    this.#context = context;
    this.publicBytes = publicBytes;
    const { evp } = openssl;
    openssl.freed.register(this, () => evp.EVP_PKEY_CTX_free(context), this);
  }

  agree(peer: X25519Public): Uint8Array | null {
    if (!(peer instanceof EvpPublic)) throw new TypeError("a key of another library");
    return this.#context === 0 ? null : this.#openssl.agree(this.#context, peer.key);
  }

  free(): void {
    if (this.#context === 0) return;
    this.#openssl.freed.unregister(this);
    this.#openssl.evp.EVP_PKEY_CTX_free(this.#context);
    this.#context = 0;
  }
}

class EvpPublic implements X25519Public {
  readonly bytes: Uint8Array;
  readonly key: Pointer;

  constructor({ evp, freed }: EvpFunctions, key: Pointer, bytes: Uint8Array) {
    this.bytes = bytes;
    this.key = key;
    freed.register(this, () => evp.EVP_PKEY_free(key));
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
function sizeParameter(sizeBytes: number, addressOf: (buffer: Buffer) => bigint): Buffer {
  const parameters = Buffer.alloc(256);
  // The name and the value lie behind the two structs.
  const nameAt = 128;
  const valueAt = 160;
  parameters.write("size\0", nameAt, "latin1");
  parameters.writeUInt32LE(sizeBytes, valueAt);
  const base = addressOf(parameters);
  parameters.writeBigUInt64LE(base + BigInt(nameAt), 0);
  parameters.writeUInt32LE(UNSIGNED_INTEGER, 8);
  parameters.writeBigUInt64LE(base + BigInt(valueAt), 16);
  parameters.writeBigUInt64LE(8n, 24);
  return parameters;
}
