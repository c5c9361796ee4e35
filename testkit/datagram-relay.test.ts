import { createSocket, type Socket } from "node:dgram";
import { afterEach, expect, it } from "vitest";
import { bind } from "../demo/loopback.ts";
import { type DatagramRelay, FAULTY_PATHS, openDatagramRelay, type PathFaults } from "./datagram-relay.ts";

let sockets: Socket[] = [];
let relays: DatagramRelay[] = [];
afterEach(async () => {
  await Promise.all(relays.map((relay) => relay.close()));
  for (const socket of sockets) socket.close();
  sockets = [];
  relays = [];
});

async function openPeer(): Promise<Socket> {
  const socket = createSocket("udp4");
  sockets.push(socket);
  await bind(socket);
  return socket;
}

/** A client whose words go through the relay, and a server that answers each in capitals. */
async function path(faults: PathFaults, seed?: number) {
  const server = await openPeer();
  const client = await openPeer();
  const relay = await openDatagramRelay({
    server: { host: "127.0.0.1", port: server.address().port },
    faults,
    ...(seed !== undefined && { seed }),
  });
  relays.push(relay);
  const atServer: string[] = [];
  const atClient: string[] = [];
  server.on("message", (datagram, from) => {
    atServer.push(datagram.toString());
    server.send(datagram.toString().toUpperCase(), from.port, from.address);
  });
  client.on("message", (datagram) => atClient.push(datagram.toString()));
  return {
    atServer,
    atClient,
    relay,
    say: (word: string) => client.send(word, relay.port, relay.host),
    sayDirectly: (word: string) => client.send(word, server.address().port, "127.0.0.1"),
  };
}

it("passes datagrams and their answers", async () => {
  const { say, atServer, atClient } = await path({});
  say("a");
  await expect.poll(() => atClient).toEqual(["A"]);
  expect(atServer).toEqual(["a"]);
});

it("sends each as often as it is told, both ways", async () => {
  const { say, atServer, atClient } = await path({ passesAfterMs: [0, 5] });
  say("a");
  await expect.poll(() => atClient).toEqual(["A", "A", "A", "A"]);
  expect(atServer).toEqual(["a", "a"]);
});

it("holds a delayed one back while others go by", async () => {
  const { say, sayDirectly, atServer, relay } = await path({ passesAfterMs: [600] });
  say("a");
  await expect.poll(() => relay.relayed).toBe(1);
  sayDirectly("b");
  await expect.poll(() => atServer, { timeout: 5_000 }).toEqual(["b", "a"]);
});

it("lets datagrams overtake each other", async () => {
  const words = Array.from({ length: 20 }, (_, index) => String.fromCharCode(97 + index));
  const { say, atServer } = await path({ jitterMs: 60 });
  for (const word of words) say(word);
  await expect.poll(() => [...atServer].sort()).toEqual(words);
  expect(atServer).not.toEqual(words);
});

it("drops a share of them, the same ones for one seed", async () => {
  const words = Array.from({ length: 100 }, (_, index) => String(index));
  const arrived = async (seed: number): Promise<readonly string[]> => {
    const { say, atServer, relay } = await path({ lossShare: 0.5 }, seed);
    for (const word of words) say(word);
    // Each that arrives is answered.
    await expect.poll(() => relay.relayed - atServer.length).toBe(words.length);
    return atServer;
  };
  const first = await arrived(7);
  expect(first.length).toBeGreaterThan(20);
  expect(first.length).toBeLessThan(80);
  expect(await arrived(7)).toEqual(first);
  expect(await arrived(8)).not.toEqual(first);
});

it("sends a client its own words where it is a mirror", async () => {
  const { say, atClient } = await path({ isMirror: true });
  say("a");
  await expect.poll(() => atClient).toEqual(["a", "A"]);
});

it.each(Object.entries(FAULTY_PATHS))("%s, and a client that asks again gets through", async (_name, faults) => {
  const { say, atClient } = await path(faults);
  const asking = setInterval(() => say("a"), 20);
  try {
    await expect.poll(() => atClient).toContain("A");
  } finally {
    clearInterval(asking);
  }
});
