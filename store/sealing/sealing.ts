/**
 * Sealing: secrets at rest under AES-256-GCM (NIST SP 800-38D) and the keys of one file. A sealed text names its key, so that a rotation
 * can distinguish old from new, and is bound to its place (the additional data of GCM): it does not open in another one.
 *
 *   1.<key id, 8 hex digits>.<base64url of nonce (12 bytes), ciphertext, tag (16 bytes)>   bound to a purpose, a word
 *   2.<the same>                                                                           bound to a column and a row of SQL
 *
 * Values in SQL were sealed in the first form until version 0.2; it still opens, and is sealed anew in the second (row-form.ts).
 *
 * A running service follows the file: before it seals it looks whether the file has changed, and when it meets a key that it does not
 * know it reads the file again. So a rotation needs no restart.
 */

import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { BoundedMap } from "../../model/bounded-map.ts";
import { StoreError } from "../errors.ts";
import type { SealedCell } from "../sealed-cells.ts";
import { BY_PURPOSE, BY_ROW, keyIdOf, type Sealing } from "../sealed-text.ts";
import type { Meta } from "../sql/coordination/meta-port.ts";
import { createKeyFile, type KeyRing, readKeyRing, type SealingKey, stampOf } from "./keys.ts";

/** SP 800-38D section 8.2: 96 bits; random ones are safe for 2^32 seals under one key. */
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const CIPHER = "aes-256-gcm";
/** Of a sealed text, which may be from another process: an error repeats it. */
const KEY_ID = /^[0-9a-f]{8}$/;

export interface SealingOptions {
  readonly keyFile: string;
  readonly createIfMissing: boolean;
  /** What names another key file, for messages; SONDE_SEALING_KEY_FILE when absent. */
  readonly namedBy?: string;
  /** See Sealing.bindsRows; it does when absent. */
  readonly bindsRows?: () => boolean;
}

/** @throws StoreError, one line that says what to do, when the key file is missing, unreadable or holds no key */
export function openSealing({ keyFile, createIfMissing, bindsRows }: SealingOptions): Sealing {
  if (createIfMissing && !existsSync(keyFile)) createKeyFile(keyFile);
  return createSealing(followFile(keyFile), bindsRows);
}

/**
 * For what goes to a location's checkers and back. Hundreds of messages a second would soon be too many for one key and random nonces
 * (NONCE_BYTES), so each purpose has a key of its own, derived from the location's (RFC 5869).
 */
export function sealingWith(keys: KeyRing): Sealing {
  return createSealing({ ring: () => keys, look: () => {}, name: "this location" }, undefined, derived());
}

/** A checker's side of the same. @throws StoreError, one line that says what to do */
export function openLocationSealing(keyFile: string): Sealing {
  return createSealing({ ...followFile(keyFile), name: "this checker's key file" }, undefined, derived());
}

/** Purposes whose keys are remembered: streams have few, calls one each. */
const MOST_DERIVED = 256;

function derived(): (key: SealingKey, purpose: string) => Buffer {
  const known = new BoundedMap<string, Buffer>(MOST_DERIVED);
  return ({ id, bytes }, purpose) => {
    const name = `${id} ${purpose}`;
    let key = known.get(name);
    if (key === undefined) {
      key = Buffer.from(hkdfSync("sha256", bytes, Buffer.alloc(0), purpose, bytes.length));
      known.set(name, key);
    }
    return key;
  };
}

/** Among the control plane's named values: what a start compares the key with. */
const CHECK_NAME = "sealing_check";
const CHECK_PURPOSE = "sealing check";

/**
 * Opens the key file and makes sure that it is the one this control plane's secrets were sealed with. A key is only made where
 * nothing was sealed yet.
 */
export async function openCheckedSealing(meta: Meta, settings: SealingOptions): Promise<Sealing> {
  let areBound = (await meta.get(ROW_FORM)) !== undefined;
  const options = { bindsRows: () => areBound, ...settings };
  const { keyFile, namedBy = "SONDE_SEALING_KEY_FILE" } = options;
  const check = await meta.get(CHECK_NAME);
  if (check === undefined) {
    const sealing = openSealing(options);
    await renewCheck(meta, sealing);
    // Nothing was sealed yet, so no process runs that knows the first form only.
    await meta.set(ROW_FORM, ROWS_BOUND);
    areBound = true;
    // Of two first starts at once the later check counts.
    return verify(sealing, await meta.get(CHECK_NAME), { keyFile, namedBy });
  }
  if (!existsSync(keyFile)) {
    throw new StoreError(
      `the sealing key ${keyFile} is missing, and secrets were sealed with it (key ${keyIdOf(check)}): restore the file from your backup, or set SONDE_SEALING_KEY_FILE`,
    );
  }
  return verify(openSealing({ ...options, createIfMissing: false }), check, { keyFile, namedBy });
}

/** Among the named values: how cells of SQL are sealed (row-form.ts). */
export const ROW_FORM = "sealed_rows";
/** Every process seals in the second form, and what was sealed before is being sealed anew. */
export const ROWS_BINDING = "binding";
/** Nothing is left of the first form. */
export const ROWS_BOUND = "bound";

/** After a rotation: from now on a start needs the new key. */
export async function renewCheck(meta: Meta, sealing: Sealing): Promise<void> {
  await meta.set(CHECK_NAME, sealing.seal(CHECK_PURPOSE, CHECK_NAME));
}

function verify(
  sealing: Sealing,
  check: string | undefined,
  { keyFile, namedBy }: Required<Pick<SealingOptions, "keyFile" | "namedBy">>,
): Sealing {
  if (check !== undefined && opens(sealing, check)) return sealing;
  throw new StoreError(
    `the sealing key ${keyFile} (key ${sealing.keyId}) is not the one this database's secrets were sealed with (key ${keyIdOf(check ?? "")}): set ${namedBy} to that one`,
  );
}

function opens(sealing: Sealing, check: string): boolean {
  try {
    return sealing.open(CHECK_PURPOSE, check) === CHECK_NAME;
  } catch {
    return false;
  }
}

/** Keys that may be others at the next look. */
interface KeySource {
  ring(): KeyRing;
  look(): void;
  /** For messages. */
  readonly name: string;
}

function followFile(keyFile: string): KeySource {
  let stamp = stampOf(keyFile);
  let ring: KeyRing = readKeyRing(keyFile);
  return {
    ring: () => ring,
    /** A file that cannot be read just now, or is being replaced by hand, changes nothing yet. */
    look() {
      const seen = stampOf(keyFile);
      if (seen === undefined || seen === stamp) return;
      try {
        ring = readKeyRing(keyFile);
        stamp = seen;
      } catch {
        // The keys that are known go on.
      }
    },
    name: "SONDE_SEALING_KEY_FILE",
  };
}

function createSealing(
  { ring, look, name }: KeySource,
  bindsRows: () => boolean = () => true,
  bytesOf: (key: SealingKey, purpose: string) => Buffer = ({ bytes }) => bytes,
): Sealing {
  const find = (id: string | undefined) => ring().find((key) => key.id === id);

  return {
    get keyId() {
      return ring()[0].id;
    },
    get bindsRows() {
      return bindsRows();
    },
    seal(where, plaintext) {
      look();
      const [key] = ring();
      const version = typeof where !== "string" && bindsRows() ? BY_ROW : BY_PURPOSE;
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv(CIPHER, bytesOf(key, purposeOf(where)), nonce).setAAD(boundTo(version, where));
      const sealed = Buffer.concat([nonce, cipher.update(plaintext, "utf8"), cipher.final(), cipher.getAuthTag()]);
      return `${version}.${key.id}.${sealed.toString("base64url")}`;
    },
    open(where, text) {
      const [version = "", sealedWith, body, ...rest] = text.split(".");
      const isKnown = version === BY_PURPOSE || (version === BY_ROW && typeof where !== "string");
      if (!isKnown || sealedWith === undefined || !KEY_ID.test(sealedWith) || body === undefined || rest.length > 0) {
        throw new StoreError("a sealed secret is not in a form that this version knows");
      }
      if (find(sealedWith) === undefined) look();
      const key = find(sealedWith);
      if (key === undefined) {
        throw new StoreError(`a secret was sealed with key ${sealedWith}, not with key ${ring()[0].id} of ${name}`);
      }
      const bound = { aad: boundTo(version, where), words: wordsOf(where) };
      return decrypt(bytesOf(key, purposeOf(where)), bound, Buffer.from(body, "base64url"));
    },
  };
}

function purposeOf(where: string | SealedCell): string {
  return typeof where === "string" ? where : where.purpose;
}

/** Additional data. A list in JSON, so that no two cells share one. */
function boundTo(version: string, where: string | SealedCell): Buffer {
  if (version === BY_PURPOSE || typeof where === "string") return Buffer.from(purposeOf(where));
  return Buffer.from(JSON.stringify([version, where.column, where.row]));
}

/** For the log: which row of which table is meant. */
function wordsOf(where: string | SealedCell): string {
  return typeof where === "string" ? where : `${where.column} of row ${where.row}`;
}

function decrypt(
  key: Buffer,
  { aad, words }: { readonly aad: Buffer; readonly words: string },
  sealed: Buffer,
): string {
  if (sealed.length < NONCE_BYTES + TAG_BYTES) throw new StoreError("a sealed secret is cut short");
  const nonce = sealed.subarray(0, NONCE_BYTES);
  const tag = sealed.subarray(sealed.length - TAG_BYTES);
  const decipher = createDecipheriv(CIPHER, key, nonce, { authTagLength: TAG_BYTES }).setAAD(aad).setAuthTag(tag);
  try {
    const start = decipher.update(sealed.subarray(NONCE_BYTES, sealed.length - TAG_BYTES));
    return Buffer.concat([start, decipher.final()]).toString("utf8");
  } catch (error) {
    throw new StoreError(`a sealed secret was changed, or belongs to another place than ${words}`, { cause: error });
  }
}
