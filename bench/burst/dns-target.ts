/** Answers questions over UDP, in a process of its own, so that its CPU time is not the checks'. Says its port, and when asked how many came. */
import { createSocket } from "node:dgram";
import { answerToAll } from "../../engine/protocols/dns/demo-answer.ts";

/** Questions come thousands at once; the kernel's default holds a few hundred, bytes. */
const RECEIVE_BUFFER_BYTES = 4 << 20;

let asked = 0;
const socket = createSocket({ type: "udp4", recvBufferSize: RECEIVE_BUFFER_BYTES });
socket.on("message", (query, { address, port }) => {
  asked++;
  const answer = answerToAll(query);
  if (answer !== undefined) socket.send(answer, port, address);
});
process.on("message", () => process.send?.(asked));
process.on("disconnect", () => process.exit(0));
socket.bind(0, "127.0.0.1", () => process.send?.(socket.address().port));
