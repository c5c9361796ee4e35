/**
 * Signature packets (I1 to I5, and J1 to J3 of 1.5): chains of tags that become one datagram each. Pure.
 * The union of what the generations know; what stands outside the brackets means nothing in any of them.
 */
import { TunnelConfigError } from "../../contract/tunnel.ts";

/** A datagram that no path fragments. */
const MAX_TAG_BYTES = 1_400;
/** <wt N> of 1.5: it sleeps so long, ms. We do not: no server looks at when these packets come. */
const MAX_WAIT_MS = 5_000;
const LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
const DIGITS = "0123456789";

type Tag =
  | { readonly kind: "bytes"; readonly bytes: Uint8Array }
  | { readonly kind: "random" | "letters" | "digits" | "zeros"; readonly sizeBytes: number }
  | { readonly kind: "time" | "counter" };

/** One signature packet. */
export interface SignaturePacket {
  readonly tags: readonly Tag[];
  /** The same each time. */
  readonly sizeBytes: number;
}

export interface SignatureMoment {
  readonly randomBytes: (sizeBytes: number) => Uint8Array;
  readonly unixS: number;
  /** Packets of this client so far. */
  readonly counter: number;
}

/** @param wordBytes of times and counters: 8 in 1.5, 4 since. @throws TunnelConfigError */
export function parseSignature(text: string, name: string, wordBytes: 4 | 8): SignaturePacket {
  const tags = [...text.matchAll(/<([^<>]*)>/g)].flatMap((match) => parseTag((match[1] ?? "").trim(), name) ?? []);
  const sizeBytes = tags.reduce((sum, tag) => sum + sizeOf(tag, wordBytes), 0);
  if (sizeBytes > MAX_TAG_BYTES) throw new TunnelConfigError(`${name} is a packet of more than ${MAX_TAG_BYTES} bytes`);
  return { tags, sizeBytes };
}

/** @returns null for a tag that puts nothing into the packet */
function parseTag(tag: string, name: string): Tag | null {
  const [, word = "", argument = ""] = /^([a-z]+)\s*(.*)$/is.exec(tag) ?? [];
  switch (word.toLowerCase()) {
    case "b":
      return { kind: "bytes", bytes: hexOf(argument, name) };
    case "r":
      return { kind: "random", sizeBytes: sizeIn(argument, name) };
    case "rc":
      return { kind: "letters", sizeBytes: sizeIn(argument, name) };
    case "rd":
      return { kind: "digits", sizeBytes: sizeIn(argument, name) };
    case "dz":
      return { kind: "zeros", sizeBytes: sizeIn(argument, name) };
    case "t":
      return argument === "" ? { kind: "time" } : unknown(name);
    case "c":
      return argument === "" ? { kind: "counter" } : unknown(name);
    case "d":
    case "ds":
      return argument === "" ? null : unknown(name);
    case "wt":
      if (!/^\d{1,4}$/.test(argument) || Number(argument) > MAX_WAIT_MS) unknown(name);
      return null;
    default:
      return unknown(name);
  }
}

function unknown(name: string): never {
  throw new TunnelConfigError(`${name} has a tag that is not known`);
}

/** An odd number of digits gets a zero in front, as 1.5 has it. */
function hexOf(argument: string, name: string): Uint8Array {
  const digits = argument.replace(/\s/g, "").replace(/^0x/i, "");
  if (!/^[0-9a-f]+$/i.test(digits)) unknown(name);
  return Uint8Array.from(Buffer.from(digits.length % 2 === 0 ? digits : `0${digits}`, "hex"));
}

function sizeIn(argument: string, name: string): number {
  if (!/^\d+$/.test(argument)) unknown(name);
  if (argument.length > 4 || Number(argument) > MAX_TAG_BYTES) {
    throw new TunnelConfigError(`${name} has a tag of more than ${MAX_TAG_BYTES} bytes`);
  }
  return Number(argument);
}

function sizeOf(tag: Tag, wordBytes: number): number {
  if (tag.kind === "bytes") return tag.bytes.length;
  return "sizeBytes" in tag ? tag.sizeBytes : wordBytes;
}

export function encodeSignature(packet: SignaturePacket, wordBytes: 4 | 8, moment: SignatureMoment): Uint8Array {
  const bytes = new Uint8Array(packet.sizeBytes);
  let offset = 0;
  for (const tag of packet.tags) {
    const part = partOf(tag, wordBytes, moment);
    bytes.set(part, offset);
    offset += part.length;
  }
  return bytes;
}

function partOf(tag: Tag, wordBytes: number, { randomBytes, unixS, counter }: SignatureMoment): Uint8Array {
  switch (tag.kind) {
    case "bytes":
      return tag.bytes;
    case "random":
      return randomBytes(tag.sizeBytes);
    case "letters":
      return drawn(LETTERS, randomBytes(tag.sizeBytes));
    case "digits":
      return drawn(DIGITS, randomBytes(tag.sizeBytes));
    case "zeros":
      return new Uint8Array(tag.sizeBytes);
    case "time":
      return bigEndian(unixS, wordBytes);
    case "counter":
      return bigEndian(counter, wordBytes);
  }
}

function drawn(alphabet: string, random: Uint8Array): Uint8Array {
  return random.map((byte) => alphabet.charCodeAt(byte % alphabet.length));
}

function bigEndian(value: number, sizeBytes: number): Uint8Array {
  const bytes = new Uint8Array(8);
  new DataView(bytes.buffer).setBigUint64(0, BigInt(Math.floor(value)));
  return bytes.subarray(8 - sizeBytes);
}
