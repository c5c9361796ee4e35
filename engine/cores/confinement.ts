/**
 * What a core is allowed to do: start itself, read certificates and a few files of the system, listen on its one port, connect to its
 * configs' servers (by a broker of ours, native/sandbox/broker.ts; without one, to the servers' ports). So a server that takes control of a core through a bug can do no more than that.
 */

import { closeSync, openSync, readSync, realpathSync } from "node:fs";
import { dirname } from "node:path";
import type { Engine } from "../../model/subscription.ts";
import type { Confinement } from "../../native/sandbox/confined.ts";
import type { FileRule } from "../../native/sandbox/landlock.ts";
import type { CoreEntry } from "./core.ts";
import { isDatagram } from "./datagram.ts";

/** Roots where Go looks for them (crypto/x509, root_linux.go) and what their links lead to; names, times and routes as Go's library reads them. */
const READ: readonly string[] = [
  "/etc/ssl/certs",
  "/etc/ssl/cert.pem",
  "/etc/ssl/ca-bundle.pem",
  "/etc/pki/tls/certs",
  "/etc/pki/tls/cacert.pem",
  "/etc/pki/ca-trust/extracted",
  "/etc/ca-certificates",
  "/usr/share/ca-certificates",
  "/usr/local/share/ca-certificates",
  "/etc/resolv.conf",
  "/etc/hosts",
  "/etc/nsswitch.conf",
  "/etc/services",
  "/etc/protocols",
  "/etc/localtime",
  "/usr/share/zoneinfo",
  "/sys/kernel/mm/transparent_hugepage/hpage_pmd_size",
  "/proc/sys/net/core/somaxconn",
];
const DEVICES: readonly string[] = ["/dev/null", "/dev/urandom", "/dev/random"];
/** Of programs that need an interpreter or libraries: ours are built without. */
const SYSTEM: readonly string[] = ["/bin", "/lib", "/lib64", "/usr", "/etc/ld.so.cache", "/etc/alternatives"];

/** Bytes of a program that are looked at: its header, and the table after it. */
const HEAD_BYTES = 4_096;
/** ELF-64: where the table of segments is, the size of one, how many; the kind that names an interpreter. */
const PHOFF_AT = 32;
const PHENTSIZE_AT = 54;
const PHNUM_AT = 56;
const PT_INTERP = 3;

export interface CoreNeeds {
  readonly engine: Engine;
  /** Absolute path of the program. */
  readonly path: string;
  readonly entries: readonly CoreEntry[];
  /** Where it listens. */
  readonly port: number;
  /** The user and group that it becomes; null: ours. */
  readonly ownId: number | null;
  /** Whether a broker makes its connections. */
  readonly isBrokered: boolean;
}

/** @throws an error of fs when there is no such program */
export function confinementOf({ engine, path, entries, port, ownId, isBrokered }: CoreNeeds): Confinement {
  return {
    rules: {
      files: [...programRules(realpathSync(path)), ...given(READ, "read"), ...given(DEVICES, "device")],
      listens: [port],
      connects: isBrokered ? [] : entries.map(({ config }) => config.port),
    },
    reach: isBrokered ? "brokered" : "any",
    // sing-box ends its start without such a socket. What it hears there of links and routes makes it close every connection.
    routes: engine === "singbox" ? "unheard" : "none",
    mayUseDatagrams: entries.some(({ config }) => isDatagram(config)),
    ownId,
    capabilities: [],
    largestFileBytes: 0,
  };
}

function programRules(path: string): readonly FileRule[] {
  if (standsAlone(head(path))) return [{ path, access: "run" }];
  return given([dirname(path), ...SYSTEM], "run");
}

function given(paths: readonly string[], access: FileRule["access"]): readonly FileRule[] {
  return paths.map((path) => ({ path, access }));
}

/** Empty when it may be started but not read. */
function head(path: string): Buffer {
  let file: number;
  try {
    file = openSync(path, "r");
  } catch {
    return Buffer.alloc(0);
  }
  try {
    const bytes = Buffer.alloc(HEAD_BYTES);
    return bytes.subarray(0, readSync(file, bytes));
  } finally {
    closeSync(file);
  }
}

/** Whether a program is an ELF file that names no interpreter, and so needs nothing but itself. @param bytes its beginning */
export function standsAlone(bytes: Buffer): boolean {
  // 64 bits, little-endian.
  if (bytes.length < 64 || !bytes.subarray(0, 6).equals(Buffer.from("\x7fELF\x02\x01", "latin1"))) return false;
  const [start, size, count] = [
    Number(bytes.readBigUInt64LE(PHOFF_AT)),
    bytes.readUInt16LE(PHENTSIZE_AT),
    bytes.readUInt16LE(PHNUM_AT),
  ];
  if (count === 0 || size < 4 || start + size * count > bytes.length) return false;
  return Array.from({ length: count }, (_, index) => bytes.readUInt32LE(start + index * size)).every(
    (kind) => kind !== PT_INTERP,
  );
}
