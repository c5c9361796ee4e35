/** This machine's own addresses, asked of the system at most every ten seconds: they change rarely, and asking costs about 0.1 ms. */
import { networkInterfaces } from "node:os";
import { formatIpv6, parseIpv6 } from "./ip.ts";

const KEPT_MS = 10_000;

export interface LocalAddresses {
  /** Canonical text, loopback and link-local ones included, without zones. */
  readonly all: readonly string[];
  /** An IPv6 address is there that reaches beyond this link. */
  readonly hasIpv6: boolean;
}

let known: LocalAddresses = { all: [], hasIpv6: false };
let knownAtMs = Number.NEGATIVE_INFINITY;

export function localAddresses(): LocalAddresses {
  const nowMs = performance.now();
  if (nowMs - knownAtMs > KEPT_MS) {
    knownAtMs = nowMs;
    known = ask();
  }
  return known;
}

function ask(): LocalAddresses {
  const infos = Object.values(networkInterfaces()).flatMap((each) => each ?? []);
  const hasIpv6 = infos.some(
    ({ family, internal, address }) => family === "IPv6" && !internal && !/^fe[89ab]/i.test(address),
  );
  return { all: infos.map(({ address }) => canonical(address)), hasIpv6 };
}

function canonical(address: string): string {
  const words = parseIpv6(address.split("%")[0] ?? "");
  return words === undefined ? address : formatIpv6(words);
}
