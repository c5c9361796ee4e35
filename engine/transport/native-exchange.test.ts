/** Where there is no native way. */
import { expect, it, vi } from "vitest";
import { createConnectTimer } from "./connect-time.ts";
import { createExchanger } from "./native-exchange.ts";
import { makeCheck, openTcpPeer } from "./peers.suite.ts";
import type { Address, AnswerReader, Transport } from "./transport.ts";

vi.mock("../../native/libc.ts", async (original) => ({ ...(await original<object>()), loadLibc: () => null }));

const V4: Address = { ip: "127.0.0.1", family: 4 };
const ANYTHING: AnswerReader = { connected: () => {}, push: () => true, end: () => null };

it("both native ways say so, and Node's own sockets do the work", async () => {
  const peer = await openTcpPeer((socket) => socket.on("data", () => socket.write("answer")));
  const exchanger = createExchanger();
  const timer = createConnectTimer();
  expect([await exchanger.ready(), await timer.ready()]).toEqual(["node", "node"]);
  const { context } = makeCheck({} as Transport);
  await exchanger.exchangeTcp([V4], peer.port, Buffer.from("question"), ANYTHING, context);
  expect((await timer.connectTime([V4], peer.port, context)).address).toEqual(V4);
  exchanger.close();
  timer.close();
  await peer.close();
});
