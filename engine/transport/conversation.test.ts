import { afterEach, expect, it, vi } from "vitest";
import type { ReadAnswer } from "../protocols/answer.ts";
import { Conversation } from "./conversation.ts";
import { loopbackTransport, makeCheck, openTcpPeer, type Peer } from "./peers.suite.ts";

let peer: Peer | undefined;
afterEach(() => peer?.close());

const line: ReadAnswer<string> = (bytes) => {
  const end = bytes.indexOf(10);
  return end < 0 ? undefined : { answer: Buffer.from(bytes.subarray(0, end)).toString(), bytes: end + 1 };
};

it("reads on after a part of the answer came before it was asked for", async () => {
  peer = await openTcpPeer((socket) => {
    socket.on("data", (bytes) => socket.write(bytes.toString() === "early" ? "first, " : "then\n"));
  });
  const transport = loopbackTransport();
  const { context } = makeCheck(transport);
  const socket = await transport.connectTcp([{ ip: "127.0.0.1", family: 4 }], peer.port, context);
  const talk = new Conversation(socket, context, "lines");
  socket.write("early");
  await vi.waitFor(() => expect(socket.isPaused()).toBe(true));
  expect(await talk.ask("go", line)).toBe("first, then");
  socket.destroy();
});
