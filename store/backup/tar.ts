/** Headers of a tar archive: ustar (POSIX.1-1988), with GNU's binary size for files of 8 GiB and more, so that `tar` reads it too. Pure. */
import { StoreError } from "../errors.ts";

export const BLOCK_BYTES = 512;

export interface TarEntry {
  /** Relative, its parts plain words. */
  readonly name: string;
  readonly kind: "file" | "folder" | "link";
  /** Bytes that follow; 0 of what is no file. */
  readonly size: number;
  /** Of a link: a relative path that stays in the archive. */
  readonly target: string;
}

const TYPES = { file: "0", link: "2", folder: "5" } as const;
const NAME_BYTES = 100;
const PREFIX_BYTES = 155;
/** Of octal digits in the size's field. */
const MOST_OCTAL = 8 ** 11;
/** Places in a header: https://www.gnu.org/software/tar/manual/html_node/Standard.html */
const AT = {
  name: 0,
  mode: 100,
  uid: 108,
  gid: 116,
  size: 124,
  mtime: 136,
  sum: 148,
  type: 156,
  link: 157,
  magic: 257,
};
const PREFIX_AT = 345;
const MAGIC = "ustar\u000000";
const PART = /^(?!\.{1,2}$)[A-Za-z0-9._%-]{1,255}$/;

/** @throws StoreError when the name is too long for a header */
export function encodeTarHeader({ name, kind, size, target }: TarEntry): Buffer {
  const block = Buffer.alloc(BLOCK_BYTES);
  const { prefix, rest } = divided(kind === "folder" ? `${name}/` : name);
  block.write(rest, AT.name, "latin1");
  block.write(prefix, PREFIX_AT, "latin1");
  block.write(`${kind === "file" ? "0000600" : "0000700"}\0`, AT.mode, "latin1");
  for (const at of [AT.uid, AT.gid]) block.write("0000000\0", at, "latin1");
  if (size < MOST_OCTAL) block.write(`${size.toString(8).padStart(11, "0")}\0`, AT.size, "latin1");
  else {
    block[AT.size] = 0x80;
    block.writeBigUInt64BE(BigInt(size), AT.size + 4);
  }
  block.write(`${"0".repeat(11)}\0`, AT.mtime, "latin1");
  block.write(TYPES[kind], AT.type, "latin1");
  block.write(target, AT.link, NAME_BYTES, "latin1");
  block.write(MAGIC, AT.magic, "latin1");
  block.write(`${sumOf(block).toString(8).padStart(6, "0")}\0 `, AT.sum, "latin1");
  return block;
}

/** @returns null for the empty block that ends an archive. @throws StoreError when it is no header, or names a path outside */
export function parseTarHeader(block: Uint8Array): TarEntry | null {
  const bytes = Buffer.from(block.buffer, block.byteOffset, block.byteLength);
  if (bytes.length !== BLOCK_BYTES) throw damaged("a header is cut short");
  if (bytes.every((byte) => byte === 0)) return null;
  if (octal(bytes, AT.sum, 8) !== sumOf(bytes)) throw damaged("a header's checksum is wrong");
  const type = bytes.toString("latin1", AT.type, AT.type + 1);
  const kind = (["file", "link", "folder"] as const).find((one) => TYPES[one] === type);
  if (kind === undefined) throw damaged(`an entry of the type ${JSON.stringify(type)}`);
  const prefix = words(bytes, PREFIX_AT, PREFIX_BYTES);
  const whole = `${prefix === "" ? "" : `${prefix}/`}${words(bytes, AT.name, NAME_BYTES)}`;
  const name = kind === "folder" ? whole.replace(/\/$/, "") : whole;
  if (!isPlainPath(name)) throw damaged("an entry's name is no plain path");
  const size = sizeIn(bytes);
  if (kind !== "file" && size !== 0) throw damaged(`${name} is no file and has a size`);
  const target = kind === "link" ? words(bytes, AT.link, NAME_BYTES) : "";
  if (kind === "link" && !staysInside(name, target)) throw damaged(`the link ${name} leads out of the archive`);
  return { name, kind, size, target };
}

/** Relative, without a part that leads up. */
export function isPlainPath(name: string): boolean {
  return name.length <= NAME_BYTES + PREFIX_BYTES && name.split("/").every((part) => PART.test(part));
}

/** A link may go up as far as the archive's first folder of its own name, and down again. */
export function staysInside(name: string, target: string): boolean {
  const up = /^(?:\.\.\/)*/.exec(target)?.[0] ?? "";
  const depth = name.split("/").length - 1;
  return up.length / 3 < depth && isPlainPath(target.slice(up.length));
}

/** Bytes that fill the last block of a file. */
export function paddingOf(size: number): number {
  return (BLOCK_BYTES - (size % BLOCK_BYTES)) % BLOCK_BYTES;
}

export function damaged(what: string): StoreError {
  return new StoreError(`the backup is damaged (${what}): take another one, nothing was changed`);
}

function divided(name: string): { readonly prefix: string; readonly rest: string } {
  if (name.length <= NAME_BYTES) return { prefix: "", rest: name };
  const at = name.lastIndexOf("/", PREFIX_BYTES);
  const rest = name.slice(at + 1);
  if (at <= 0 || rest.length > NAME_BYTES || rest === "") {
    throw new StoreError(`the path ${name} is too long for an archive`);
  }
  return { prefix: name.slice(0, at), rest };
}

function words(bytes: Buffer, at: number, length: number): string {
  const end = bytes.subarray(at, at + length).indexOf(0);
  return bytes.toString("latin1", at, at + (end === -1 ? length : end));
}

function octal(bytes: Buffer, at: number, length: number): number {
  const text = words(bytes, at, length).trim();
  return /^[0-7]{1,12}$/.test(text) ? Number.parseInt(text, 8) : -1;
}

function sizeIn(bytes: Buffer): number {
  const size =
    bytes[AT.size] === 0x80 ? Number(bytes.readBigUInt64BE(AT.size + 4)) : octal(bytes, AT.size, AT.mtime - AT.size);
  if (!Number.isSafeInteger(size) || size < 0) throw damaged("a size is no number");
  return size;
}

/** Of all bytes, those of the checksum itself as blanks. */
function sumOf(block: Buffer): number {
  let sum = 0;
  for (const [at, byte] of block.entries()) sum += at >= AT.sum && at < AT.type ? 0x20 : byte;
  return sum;
}
