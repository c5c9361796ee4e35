/**
 * This machine's own addresses: those of its interfaces, and those that the kernel's `local` routes deliver here too (secondary addresses,
 * interfaces without a carrier, whole prefixes such as `local 198.18.0.0/24 dev lo`). They change, so each thread reads them again every few
 * seconds.
 */
import { closeSync, openSync, readSync } from "node:fs";
import { networkInterfaces } from "node:os";
import { type Cidr, formatIpv6, parseCidr, parseIpv6 } from "../net/ip.ts";
import { type AddressSet, setOf } from "./address-set.ts";
import { localRoutes4, localRoutes6 } from "./local-routes.ts";
import type { IpFamily } from "./transport.ts";

/** How long an answer holds, ms; longer where asking takes long, so that it never takes more than this share of a thread. */
const KEPT_MS = 2_000;
const SHARE = 0.005;
/** Of each table of routes: some fifty thousand routes. A machine with the internet's whole table has its interfaces' addresses only. */
const MAX_BYTES = 4 * 1024 * 1024;
/** `self`, because systemd's ProcSubset=pid leaves it. */
const FIB_TRIE = "/proc/self/net/fib_trie";
const IPV6_ROUTES = "/proc/self/net/ipv6_route";

export interface LocalAddresses {
  /** Canonical text of the interfaces' addresses, loopback and link-local ones included, without zones. */
  readonly all: readonly string[];
  /** Everything that the kernel delivers here, as far as it reports it. */
  readonly set: AddressSet;
  /** An address of the family is there that reaches beyond this link. */
  has(family: IpFamily): boolean;
  /** The kernel's routes could be read; without them only what the interfaces say is known. */
  readonly hasRoutes: boolean;
}

let known: LocalAddresses | undefined;
let knownUntilMs = Number.NEGATIVE_INFINITY;

export function localAddresses(): LocalAddresses {
  const nowMs = performance.now();
  if (known !== undefined && nowMs < knownUntilMs) return known;
  known = ask();
  const tookMs = performance.now() - nowMs;
  knownUntilMs = nowMs + Math.max(KEPT_MS, tookMs / SHARE);
  return known;
}

function ask(): LocalAddresses {
  const infos = Object.values(networkInterfaces()).flatMap((each) => each ?? []);
  const wide = infos.filter(({ internal, address }) => !internal && !/^(?:fe[89ab]|169\.254\.)/i.test(address));
  const families: ReadonlySet<IpFamily> = new Set(wide.map(({ family }) => (family === "IPv6" ? 6 : 4)));
  const all = infos.map(({ address }) => canonical(address));
  const ofInterfaces = all.map(parseCidr).filter((range): range is Cidr => range !== undefined);
  const [trie, routes] = [readWhole(FIB_TRIE), readWhole(IPV6_ROUTES)];
  const ofRoutes = [...localRoutes4(trie ?? ""), ...localRoutes6(routes ?? "")];
  const has = (family: IpFamily): boolean => families.has(family);
  // A kernel without IPv6 has no table of its routes.
  return { all, set: setOf([...ofInterfaces, ...ofRoutes]), has, hasRoutes: trie !== undefined };
}

function canonical(address: string): string {
  const words = parseIpv6(address.split("%")[0] ?? "");
  return words === undefined ? address : formatIpv6(words);
}

/** Undefined when it cannot be read, or is larger than we read. */
function readWhole(path: string): string | undefined {
  let fd: number | undefined;
  try {
    fd = openSync(path, "r");
    const pieces: Buffer[] = [];
    for (let sizeBytes = 0; sizeBytes <= MAX_BYTES; ) {
      const piece = Buffer.allocUnsafe(64 * 1024);
      const bytes = readSync(fd, piece);
      if (bytes === 0) return Buffer.concat(pieces).toString("latin1");
      pieces.push(piece.subarray(0, bytes));
      sizeBytes += bytes;
    }
  } catch {
    // Another system than Linux, or a container that hides it.
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
  return undefined;
}
