/** Answers questions over UDP, in a process of its own, so that its CPU time is not the checks'. Says its port, and when asked how many came. */
import { createSocket, type Socket } from "node:dgram";
import { answerToAll } from "../../engine/protocols/dns/demo-answer.ts";

/** Questions come thousands at once; the kernel's default holds a few hundred, bytes. */
const RECEIVE_BUFFER_BYTES = 4 << 20;

/** @param process.argv addresses to answer at, all at one port; none: the first of loopback */
const [first = "127.0.0.1", ...others] = process.argv.slice(2);
let asked = 0;

function open(host: string, port: number): Promise<Socket> {
  const socket = createSocket({ type: "udp4", recvBufferSize: RECEIVE_BUFFER_BYTES });
  socket.on("message", (query, { address, port: from }) => {
    asked++;
    const answer = answerToAll(query);
    if (answer !== undefined) socket.send(answer, from, address);
  });
  return new Promise((resolve) => socket.bind(port, host, () => resolve(socket)));
}

process.on("message", () => process.send?.(asked));
process.on("disconnect", () => process.exit(0));
const { port } = (await open(first, 0)).address();
for (const host of others) await open(host, port);
process.send?.(port);
