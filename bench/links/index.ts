/**
 * `npm run bench -- links [part…]`: share links through all of Sonde's engine, beside the raw core under a minimal driver: same build, same
 * servers, same machine, in turn. Needs the two cores (`sonde cores install`), openssl and setpriv.
 */
import { runAlive } from "./alive.ts";
import { runDead } from "./dead.ts";
import { runInvalid } from "./invalid.ts";
import { runLatency } from "./latency.ts";
import { runParse } from "./parse.ts";
import { type LinksBenchOptions, type Rig, withRig } from "./rig.ts";
import { runUsers } from "./users.ts";

const PARTS: Readonly<Record<string, (rig: Rig) => Promise<void>>> = {
  alive: (rig) => runAlive(rig, "mixed"),
  quic: (rig) => runAlive(rig, "with QUIC"),
  dead: runDead,
  invalid: runInvalid,
  users: runUsers,
  latency: runLatency,
};
const LINK_PARTS = [...Object.keys(PARTS), "parse"];

/** @param names empty: all of them, one after the other */
export async function runLinks(names: readonly string[], options: LinksBenchOptions): Promise<void> {
  const wanted = names.length === 0 ? LINK_PARTS : names;
  const unknown = wanted.find((name) => !LINK_PARTS.includes(name));
  if (unknown !== undefined) throw new Error(`no part ${unknown}: one of ${LINK_PARTS.join(", ")}`);
  if (wanted.includes("parse")) await runParse();
  const parts = wanted.flatMap((name) => PARTS[name] ?? []);
  if (parts.length > 0) await withRig(options, parts);
}
