/** `npm run bench -- tunnels [protocol…]` */
import type { TunnelBenchOptions } from "./frame.ts";
import { run as runIkev2 } from "./ikev2.ts";
import { run as runOpenconnect } from "./openconnect.ts";
import { run as runOpenvpn } from "./openvpn.ts";
import { run as runSilent } from "./silent.ts";
import { run as runWireguard } from "./wireguard.ts";

/** One file per protocol or question; each prints its own figures. */
const BENCHES: Readonly<Record<string, (options: TunnelBenchOptions) => Promise<void>>> = {
  wireguard: runWireguard,
  openvpn: runOpenvpn,
  openconnect: runOpenconnect,
  ikev2: runIkev2,
  silent: runSilent,
};
const TUNNEL_BENCHES = Object.keys(BENCHES);

/** @param names empty: all of them, one after the other */
export async function runTunnels(names: readonly string[], options: TunnelBenchOptions): Promise<void> {
  for (const name of names.length === 0 ? TUNNEL_BENCHES : names) {
    const run = Object.hasOwn(BENCHES, name) ? BENCHES[name] : undefined;
    if (run === undefined) throw new Error(`no bench of ${name}: one of ${TUNNEL_BENCHES.join(", ")}`);
    await run(options);
  }
}
