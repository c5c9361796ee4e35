import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { Peer } from "./peer.ts";
import { ended } from "./program.ts";

const LOOP = fileURLToPath(new URL("./node-loop.js", import.meta.url));
/** V8 has compiled its code by then, s. */
const WARM_UP_S = 8;

/** The floor of every prober that uses the sockets of Node. */
export const NODE_ALONE: Peer = {
  name: "node alone",
  what: "the floor of Node's own sockets: connects, sends and reads to the end at the same pace; checks, judges and stores nothing",
  prepare: () =>
    Promise.resolve({
      start({ targetPort, options }) {
        const child = spawn(process.execPath, [LOOP, String(targetPort), String(options.targets)], { stdio: "ignore" });
        return Promise.resolve({
          pid: child.pid ?? 0,
          warmUpS: WARM_UP_S,
          isUp: () => child.exitCode === null && child.signalCode === null,
          stop: () => ended(child),
        });
      },
    }),
};
