/** Paths with faults between the lab's checker and its servers. The relay is TypeScript and runs in a process of a namespace, so it is compiled here. */
import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { FAULTY_PATHS, type PathFaults, type RelayOptions } from "../../testkit/datagram-relay.ts";
import { LAB, type Lab } from "./network.ts";

const TREE = fileURLToPath(new URL("../../", import.meta.url));
const FIXTURE = join(TREE, "test/fixtures/lab-relay.mjs");

/** What a tunnel of the lab must come up through: beside those of every protocol one that is as bad as all of them, and one of a satellite. */
export const LAB_PATHS = {
  ...FAULTY_PATHS,
  "repeats, delays, reorders and drops": { passesAfterMs: [200, 300], jitterMs: 60, lossShare: 0.1 },
  "delays every datagram by 600 ms": { passesAfterMs: [600] },
} as const satisfies Readonly<Record<string, PathFaults>>;

/** @param folder for what is compiled */
export async function startRelays(lab: Lab, folder: string, relays: readonly RelayOptions[]): Promise<void> {
  const to = ["--outDir", folder, "--ignoreConfig", "--rewriteRelativeImportExtensions"];
  const as = ["--module", "nodenext", "--target", "es2023", "--types", "node", "--skipLibCheck"];
  execFileSync(join(TREE, "node_modules/.bin/tsc"), [join(TREE, "testkit/datagram-relay.ts"), ...to, ...as]);
  writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
  const relay = lab.start("srv", process.execPath, [FIXTURE, folder, JSON.stringify(relays)]);
  await once(relay.stdout ?? relay, "data");
}

/** One relay for each path, each at a port of its own from `firstPort` on. @param seed of what is dropped */
export function relaysTo(port: number, firstPort: number, seed?: number): readonly RelayOptions[] {
  return Object.values(LAB_PATHS).map((faults, index) => ({
    server: { host: LAB.server, port },
    faults,
    listen: { host: LAB.server, port: firstPort + index },
    ...(seed !== undefined && { seed }),
  }));
}
