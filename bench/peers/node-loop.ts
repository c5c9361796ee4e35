/**
 * The loop of node-alone.ts, in a process of its own: asks each target once a second, a few at a time.
 * Words: port of the target, number of targets.
 */
import { connect } from "node:net";
import { targetHost } from "../uptime/target-address.ts";

const port = Number(process.argv[2]);
const targets = Number(process.argv[3]);
/** How often some are asked, ms: Sonde's scheduler turns as often while few checks are due. */
const TURN_MS = 10;
/** No answer takes so long here, ms. */
const TIMEOUT_MS = 5_000;

function ask(n: number): void {
  const host = targetHost(n);
  const socket = connect({ host, port, noDelay: true });
  socket.setTimeout(TIMEOUT_MS, () => socket.destroy());
  socket.on("error", () => {});
  socket.resume();
  socket.write(`GET /${n} HTTP/1.1\r\nHost: ${host}:${port}\r\nAccept: */*\r\nConnection: close\r\n\r\n`);
}

const startedAtMs = performance.now();
let asked = 0;
setInterval(() => {
  const due = ((performance.now() - startedAtMs) / 1_000) * targets;
  for (; asked < due; asked++) ask(asked % targets);
}, TURN_MS);
