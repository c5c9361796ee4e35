/** What payloads hold: key exchange, identity, certificates, selectors, configuration, delete (RFC 7296 sections 3.4 to 3.15). Pure. */
import { IkeFormatError } from "./message.ts";

/** Section 3.5. */
export const IDENTITY = { ipv4: 1, fqdn: 2, email: 3, ipv6: 5, distinguishedName: 9, keyId: 11 } as const;

export interface Identity {
  readonly type: number;
  readonly data: Buffer;
}

/** Section 3.15.1. */
export const ATTRIBUTE = { ipv4Address: 1, ipv4Dns: 3, ipv6Address: 8, ipv6Dns: 10 } as const;
const CONFIGURATION_REQUEST = 1;
const CONFIGURATION_REPLY = 2;
/** Section 3.13.1. */
const SELECTOR = { ipv4: 7, ipv6: 8 } as const;

/** Ours: what a peer's lists may hold before they are nonsense. */
const SELECTOR_LIMIT = 255;
const ATTRIBUTE_LIMIT = 256;

export interface KeyExchange {
  readonly group: number;
  readonly value: Buffer;
}

export interface Auth {
  readonly method: number;
  readonly data: Buffer;
}

export interface Attribute {
  readonly type: number;
  readonly value: Buffer;
}

/** A range of addresses that may travel through the tunnel. */
export interface Selector {
  readonly family: 4 | 6;
  /** 0: any. */
  readonly ipProtocol: number;
  readonly firstPort: number;
  readonly lastPort: number;
  readonly first: Buffer;
  readonly last: Buffer;
}

/** @throws IkeFormatError */
export function decodeKeyExchange(body: Buffer): KeyExchange {
  need(body, 5, "a key exchange");
  return { group: body.readUInt16BE(0), value: body.subarray(4) };
}

export function encodeKeyExchange({ group, value }: KeyExchange): Buffer {
  const header = Buffer.alloc(4);
  header.writeUInt16BE(group, 0);
  return Buffer.concat([header, value]);
}

/** @throws IkeFormatError */
export function decodeIdentity(body: Buffer): Identity {
  need(body, 4, "an identity");
  return { type: body.readUInt8(0), data: body.subarray(4) };
}

export function encodeIdentity({ type, data }: Identity): Buffer {
  return Buffer.concat([Buffer.from([type, 0, 0, 0]), data]);
}

/** AUTH has an identity's layout: a number, three reserved bytes, data (section 3.8). @throws IkeFormatError */
export function decodeAuth(body: Buffer): Auth {
  need(body, 4, "an authentication");
  return { method: body.readUInt8(0), data: body.subarray(4) };
}

export function encodeAuth({ method, data }: Auth): Buffer {
  return encodeIdentity({ type: method, data });
}

/** CERT and CERTREQ (sections 3.6 and 3.7). @throws IkeFormatError */
export function decodeCertificate(body: Buffer): { readonly encoding: number; readonly data: Buffer } {
  need(body, 1, "a certificate");
  return { encoding: body.readUInt8(0), data: body.subarray(1) };
}

/** @throws IkeFormatError */
export function decodeSelectors(body: Buffer): readonly Selector[] {
  need(body, 4, "traffic selectors");
  const count = body.readUInt8(0);
  const selectors: Selector[] = [];
  let offset = 4;
  while (offset < body.length) {
    if (selectors.length >= Math.min(count, SELECTOR_LIMIT)) throw new IkeFormatError("more selectors than announced");
    need(body.subarray(offset), 8, "a traffic selector");
    const sizeBytes = body.readUInt16BE(offset + 2);
    if (sizeBytes < 8 || sizeBytes > body.length - offset) throw new IkeFormatError("a selector's length is wrong");
    selectors.push(selectorOf(body.subarray(offset, offset + sizeBytes)));
    offset += sizeBytes;
  }
  if (selectors.length !== count) throw new IkeFormatError("fewer selectors than announced");
  return selectors;
}

function selectorOf(bytes: Buffer): Selector {
  const type = bytes.readUInt8(0);
  const addressBytes = type === SELECTOR.ipv4 ? 4 : type === SELECTOR.ipv6 ? 16 : 0;
  if (addressBytes === 0 || bytes.length !== 8 + 2 * addressBytes) throw new IkeFormatError("an unknown selector");
  return {
    family: addressBytes === 4 ? 4 : 6,
    ipProtocol: bytes.readUInt8(1),
    firstPort: bytes.readUInt16BE(4),
    lastPort: bytes.readUInt16BE(6),
    first: bytes.subarray(8, 8 + addressBytes),
    last: bytes.subarray(8 + addressBytes),
  };
}

/** All addresses, protocols and ports of both families. */
export function encodeAnySelectors(): Buffer {
  const any = (type: number, addressBytes: number): Buffer => {
    const bytes = Buffer.alloc(8 + 2 * addressBytes);
    bytes.writeUInt8(type, 0);
    bytes.writeUInt16BE(bytes.length, 2);
    bytes.writeUInt16BE(0xffff, 6);
    return bytes.fill(0xff, 8 + addressBytes);
  };
  return Buffer.concat([Buffer.from([2, 0, 0, 0]), any(SELECTOR.ipv4, 4), any(SELECTOR.ipv6, 16)]);
}

/** @param address 4 or 16 bytes */
export function covers({ first, last }: Selector, address: Buffer): boolean {
  return address.length === first.length && address.compare(first) >= 0 && address.compare(last) <= 0;
}

/** Asks for addresses and name servers of both families. */
export function encodeConfigurationRequest(): Buffer {
  const wanted = [ATTRIBUTE.ipv4Address, ATTRIBUTE.ipv4Dns, ATTRIBUTE.ipv6Address, ATTRIBUTE.ipv6Dns];
  const attributes = wanted.map((type) => Buffer.from([type >> 8, type & 0xff, 0, 0]));
  return Buffer.concat([Buffer.from([CONFIGURATION_REQUEST, 0, 0, 0]), ...attributes]);
}

/** What the gateway assigned; empty for another kind of configuration. @throws IkeFormatError */
export function decodeConfigurationReply(body: Buffer): readonly Attribute[] {
  need(body, 4, "a configuration");
  if (body.readUInt8(0) !== CONFIGURATION_REPLY) return [];
  const attributes: Attribute[] = [];
  let offset = 4;
  while (offset < body.length) {
    if (attributes.length >= ATTRIBUTE_LIMIT) throw new IkeFormatError("too many attributes");
    need(body.subarray(offset), 4, "an attribute");
    const sizeBytes = body.readUInt16BE(offset + 2);
    if (sizeBytes > body.length - offset - 4) throw new IkeFormatError("an attribute's length is wrong");
    attributes.push({
      type: body.readUInt16BE(offset) & 0x7fff,
      value: body.subarray(offset + 4, offset + 4 + sizeBytes),
    });
    offset += 4 + sizeBytes;
  }
  return attributes;
}

/** Delete of the IKE SA, which carries no SPI (section 3.11). */
export const DELETE_IKE_SA = Buffer.from([1, 0, 0, 0]);

/** @returns the protocol whose SAs are deleted: 1 IKE, 3 ESP. @throws IkeFormatError */
export function decodeDelete(body: Buffer): { readonly protocol: number; readonly spis: readonly Buffer[] } {
  need(body, 4, "a delete");
  const spiBytes = body.readUInt8(1);
  const count = body.readUInt16BE(2);
  if (body.length !== 4 + spiBytes * count) throw new IkeFormatError("a delete's length is wrong");
  const spis =
    spiBytes === 0
      ? []
      : Array.from({ length: count }, (_, i) => body.subarray(4 + i * spiBytes, 4 + (i + 1) * spiBytes));
  return { protocol: body.readUInt8(0), spis };
}

function need(body: Buffer, sizeBytes: number, what: string): void {
  if (body.length < sizeBytes) throw new IkeFormatError(`${what} is cut off`);
}
