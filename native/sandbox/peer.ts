/** Addresses as a system call names them (ip(7), ipv6(7)), and lists of those that a process may reach. Pure. */

export type Protocol = "tcp" | "udp";

/** Where a packet goes: an IPv4 address in its IPv6 form is the IPv4 address. */
export interface Peer {
  /** 4 or 16. */
  readonly ip: Buffer;
  readonly port: number;
}

/** What a process may reach: one address, and ports from one to another. */
export interface Target {
  readonly ip: Buffer;
  readonly firstPort: number;
  readonly lastPort: number;
  readonly protocol: Protocol;
}

const AF_INET = 2;
const AF_INET6 = 10;
/** sizeof(struct sockaddr_in); of struct sockaddr_in6 the kernel needs what stands before the scope. */
export const IPV4_BYTES = 16;
const IPV6_LEAST_BYTES = 24;
export const IPV6_BYTES = 28;
const MAPPED = Buffer.from("00000000000000000000ffff", "hex");

/** @returns null for another family, one that is cut off, and one that names an interface */
export function parseSockaddr(bytes: Buffer): Peer | null {
  if (bytes.length < 4) return null;
  const family = bytes.readUInt16LE(0);
  const port = bytes.readUInt16BE(2);
  if (family === AF_INET && bytes.length >= IPV4_BYTES) return { ip: Buffer.from(bytes.subarray(4, 8)), port };
  if (family !== AF_INET6 || bytes.length < IPV6_LEAST_BYTES) return null;
  if (bytes.length >= IPV6_BYTES && bytes.readUInt32LE(24) !== 0) return null;
  return { ip: unmapped(bytes.subarray(8, 24)), port };
}

/** Whether the first IPV4_BYTES are a struct sockaddr_in. */
export function isIpv4(bytes: Uint8Array): boolean {
  return bytes[0] === AF_INET && bytes[1] === 0;
}

/** As writePeer() of what parseSockaddr() makes of a struct sockaddr_in. @param out its last 8 bytes are 0 */
export function copyIpv4(out: Uint8Array, bytes: Uint8Array): void {
  for (let at = 0; at < 8; at++) out[at] = bytes[at] ?? 0;
}

/** @param ip 4 or 16 bytes */
export function unmapped(ip: Buffer): Buffer {
  const isMapped = ip.length === 16 && ip.subarray(0, 12).equals(MAPPED);
  return Buffer.from(isMapped ? ip.subarray(12) : ip);
}

/**
 * Writes only what a Peer has: no flow label, no scope.
 * @param isIpv6 the family of the socket: an IPv4 address is written in its IPv6 form
 * @returns the length; 0 when the address does not go with the family
 */
export function writePeer(out: Buffer, { ip, port }: Peer, isIpv6: boolean): number {
  out.fill(0, 0, IPV6_BYTES);
  out.writeUInt16LE(isIpv6 ? AF_INET6 : AF_INET, 0);
  out.writeUInt16BE(port, 2);
  if (!isIpv6) {
    ip.copy(out, 4, 0, 4);
    return ip.length === 4 ? IPV4_BYTES : 0;
  }
  if (ip.length === 16) ip.copy(out, 8);
  else Buffer.concat([MAPPED, ip]).copy(out, 8);
  return IPV6_BYTES;
}

interface Ports {
  readonly single: Set<number>;
  readonly ranges: (readonly [number, number])[];
}

export class TargetList {
  /** By address: of IPv4 a number, which is found without making a text of it. */
  readonly #tcp = new Map<number | string, Ports>();
  readonly #udp = new Map<number | string, Ports>();

  constructor(targets: readonly Target[]) {
    for (const { ip, firstPort, lastPort, protocol } of targets) {
      const key = keyOf(unmapped(ip));
      const of = this.#of(protocol);
      const ports = of.get(key) ?? { single: new Set<number>(), ranges: [] };
      if (firstPort === lastPort) ports.single.add(firstPort);
      else ports.ranges.push([firstPort, lastPort]);
      of.set(key, ports);
    }
  }

  has({ ip, port }: Peer, protocol: Protocol): boolean {
    return isAmong(this.#of(protocol).get(keyOf(ip)), port);
  }

  /** As has(). @param bytes a struct sockaddr_in */
  hasIpv4(bytes: Uint8Array, protocol: Protocol): boolean {
    return isAmong(this.#of(protocol).get(ipv4Number(bytes, 4)), (bytes[2] ?? 0) * 256 + (bytes[3] ?? 0));
  }

  #of(protocol: Protocol): Map<number | string, Ports> {
    return protocol === "tcp" ? this.#tcp : this.#udp;
  }
}

function isAmong(ports: Ports | undefined, port: number): boolean {
  if (ports === undefined) return false;
  return ports.single.has(port) || ports.ranges.some(([from, to]) => from <= port && port <= to);
}

function keyOf(ip: Buffer): number | string {
  return ip.length === 4 ? ipv4Number(ip, 0) : ip.toString("hex");
}

function ipv4Number(bytes: Uint8Array, at: number): number {
  const low = ((bytes[at + 1] ?? 0) << 16) | ((bytes[at + 2] ?? 0) << 8) | (bytes[at + 3] ?? 0);
  return (bytes[at] ?? 0) * 0x100_0000 + low;
}

/** Protocol, length of the address, its bytes, the first and the last port. */
const PACKED_BYTES = 22;

/** For a message to another thread: a list of objects, each with a buffer, costs several times its bytes. */
export function packTargets(targets: readonly Target[]): Uint8Array {
  const packed = Buffer.alloc(targets.length * PACKED_BYTES);
  targets.forEach(({ ip, firstPort, lastPort, protocol }, index) => {
    const at = index * PACKED_BYTES;
    packed[at] = protocol === "tcp" ? 0 : 1;
    packed[at + 1] = ip.length;
    ip.copy(packed, at + 2);
    packed.writeUInt16LE(firstPort, at + 18);
    packed.writeUInt16LE(lastPort, at + 20);
  });
  return packed;
}

export function unpackTargets(packed: Uint8Array): readonly Target[] {
  const bytes = Buffer.from(packed.buffer, packed.byteOffset, packed.byteLength);
  return Array.from({ length: bytes.length / PACKED_BYTES }, (_, index): Target => {
    const at = index * PACKED_BYTES;
    return {
      protocol: bytes[at] === 0 ? "tcp" : "udp",
      ip: bytes.subarray(at + 2, at + 2 + (bytes[at + 1] ?? 0)),
      firstPort: bytes.readUInt16LE(at + 18),
      lastPort: bytes.readUInt16LE(at + 20),
    };
  });
}
