/**
 * Sealing: secrets at rest under AES-256-GCM (NIST SP 800-38D) and one key file. A sealed text names its key, so that a rotation can
 * tell old from new, and is bound to its purpose: it does not open in another place.
 *
 *   1.<key id, 8 hex digits>.<base64url of nonce (12 bytes), ciphertext, tag (16 bytes)>
 */
import { createCipheriv, createDecipheriv, createHash, randomBytes } from "node:crypto";
import {
  closeSync,
  existsSync,
  fsyncSync,
  linkSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeSync,
} from "node:fs";
import { dirname } from "node:path";
import { type Meta, StoreError } from "./sql/control-plane.ts";

const KEY_BYTES = 32;
/** SP 800-38D section 8.2: 96 bits; random ones are safe for 2^32 seals under one key. */
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const VERSION = "1";
const CIPHER = "aes-256-gcm";

export interface Sealing {
  readonly keyId: string;
  /** @param purpose table and row, or what it is for; needed again to open it */
  seal(purpose: string, plaintext: string): string;
  /** @throws StoreError when it was sealed with another key, for another purpose, or was changed */
  open(purpose: string, sealed: string): string;
}

export interface SealingOptions {
  /** 32 bytes as they are, or written as hex or base64. */
  readonly keyFile: string;
  readonly createIfMissing: boolean;
}

/** @throws StoreError, one line that says what to do, when the key file is missing, unreadable or holds no key */
export function openSealing({ keyFile, createIfMissing }: SealingOptions): Sealing {
  if (createIfMissing && !existsSync(keyFile)) createKeyFile(keyFile);
  return createSealing(readKeyFile(keyFile));
}

const CHECK_NAME = "sealing_check";
const CHECK_PURPOSE = "sealing check";

/**
 * Opens the key file and makes sure that it is the one this control plane's secrets were sealed with. A key is only made where
 * nothing was sealed yet.
 */
export async function openCheckedSealing(meta: Meta, options: SealingOptions): Promise<Sealing> {
  const { keyFile } = options;
  const check = await meta.get(CHECK_NAME);
  if (check === undefined) {
    const sealing = openSealing(options);
    await meta.set(CHECK_NAME, sealing.seal(CHECK_PURPOSE, CHECK_NAME));
    // Of two first starts at once the later check counts.
    return verify(sealing, await meta.get(CHECK_NAME), keyFile);
  }
  if (!existsSync(keyFile)) {
    throw new StoreError(
      `the sealing key ${keyFile} is missing, and secrets were sealed with it (key ${keyIdOf(check)}): restore the file from your backup, or set SONDE_SEALING_KEY_FILE`,
    );
  }
  return verify(openSealing({ keyFile, createIfMissing: false }), check, keyFile);
}

function verify(sealing: Sealing, check: string | undefined, keyFile: string): Sealing {
  if (check !== undefined && opens(sealing, check)) return sealing;
  throw new StoreError(
    `the sealing key ${keyFile} (key ${sealing.keyId}) is not the one this database's secrets were sealed with (key ${keyIdOf(check ?? "")}): set SONDE_SEALING_KEY_FILE to that one`,
  );
}

function opens(sealing: Sealing, check: string): boolean {
  try {
    return sealing.open(CHECK_PURPOSE, check) === CHECK_NAME;
  } catch {
    return false;
  }
}

function keyIdOf(sealed: string): string {
  return sealed.split(".")[1] ?? "unknown";
}

function createSealing(key: Buffer): Sealing {
  const keyId = createHash("sha256").update("sonde key id\0").update(key).digest("hex").slice(0, 8);
  return {
    keyId,
    seal(purpose, plaintext) {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv(CIPHER, key, nonce).setAAD(Buffer.from(purpose));
      const sealed = Buffer.concat([nonce, cipher.update(plaintext, "utf8"), cipher.final(), cipher.getAuthTag()]);
      return `${VERSION}.${keyId}.${sealed.toString("base64url")}`;
    },
    open(purpose, text) {
      const [version, sealedWith, body, ...rest] = text.split(".");
      if (version !== VERSION || body === undefined || rest.length > 0) {
        throw new StoreError("a sealed secret is not in a form that this version knows");
      }
      if (sealedWith !== keyId) {
        throw new StoreError(
          `a secret was sealed with key ${sealedWith}, not with key ${keyId} of SONDE_SEALING_KEY_FILE`,
        );
      }
      return decrypt(key, purpose, Buffer.from(body, "base64url"));
    },
  };
}

function decrypt(key: Buffer, purpose: string, sealed: Buffer): string {
  if (sealed.length < NONCE_BYTES + TAG_BYTES) throw new StoreError("a sealed secret is cut short");
  const nonce = sealed.subarray(0, NONCE_BYTES);
  const tag = sealed.subarray(sealed.length - TAG_BYTES);
  const decipher = createDecipheriv(CIPHER, key, nonce, { authTagLength: TAG_BYTES })
    .setAAD(Buffer.from(purpose))
    .setAuthTag(tag);
  try {
    const start = decipher.update(sealed.subarray(NONCE_BYTES, sealed.length - TAG_BYTES));
    return Buffer.concat([start, decipher.final()]).toString("utf8");
  } catch (error) {
    throw new StoreError(`a sealed secret was changed, or belongs to another place than ${purpose}`, { cause: error });
  }
}

/** Whole or not at all: written beside, synced, then linked to its name, which fails if another start was first. */
function createKeyFile(keyFile: string): void {
  const draft = `${keyFile}.${process.pid}.${randomBytes(4).toString("hex")}`;
  try {
    const file = openSync(draft, "wx", 0o600);
    try {
      writeSync(file, randomBytes(KEY_BYTES));
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    place(draft, keyFile);
    syncFolder(dirname(keyFile));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "EEXIST") return;
    throw new StoreError(
      `cannot make the sealing key ${keyFile} (${code}): make its folder writable, or set SONDE_SEALING_KEY_FILE`,
      {
        cause: error,
      },
    );
  } finally {
    rmSync(draft, { force: true });
  }
}

function place(draft: string, keyFile: string): void {
  try {
    linkSync(draft, keyFile);
  } catch (error) {
    // A file system without hard links.
    if ((error as NodeJS.ErrnoException).code === "EEXIST") throw error;
    renameSync(draft, keyFile);
  }
}

function syncFolder(path: string): void {
  const folder = openSync(path, "r");
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}

function readKeyFile(keyFile: string): Buffer {
  let content: Buffer;
  try {
    content = readFileSync(keyFile);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new StoreError(`cannot read the sealing key ${keyFile} (${code}): check SONDE_SEALING_KEY_FILE`, {
      cause: error,
    });
  }
  const key = content.length === KEY_BYTES ? content : parseKey(content.toString("latin1").trim());
  if (key === undefined) {
    throw new StoreError(
      `the sealing key ${keyFile} holds no key: 32 bytes are needed, as they are or as hex or base64 (openssl rand -base64 32)`,
    );
  }
  return key;
}

function parseKey(text: string): Buffer | undefined {
  if (/^[0-9a-f]{64}$/i.test(text)) return Buffer.from(text, "hex");
  if (/^[A-Za-z0-9+/]{43}=?$/.test(text) || /^[A-Za-z0-9_-]{43}=?$/.test(text)) return Buffer.from(text, "base64");
  return undefined;
}
