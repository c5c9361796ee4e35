/** Native sockets and their twin under one suite. */
import { createSocket, type RemoteInfo } from "node:dgram";
import { once } from "node:events";
import { readdirSync } from "node:fs";
import { Worker } from "node:worker_threads";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { bind } from "../../demo/loopback.ts";
import { exchangeDatagram } from "./datagram.ts";
import { openDatagrams as openNodeDatagrams } from "./datagram-link.ts";
import { createDatagrams } from "./native-datagrams.ts";
import { closedPort, makeCheck } from "./peers.suite.ts";
import type { Address, Transport } from "./transport.ts";

let close: (() => void)[] = [];
afterEach(() => {
  for (const each of close) each();
  close = [];
});

async function openPeer(ip: string) {
  const family = ip.includes(":") ? 6 : 4;
  const socket = createSocket(family === 4 ? "udp4" : "udp6");
  const senders: RemoteInfo[] = [];
  socket.on("message", (datagram, from) => {
    senders.push(from);
    socket.send(datagram, from.port, from.address);
  });
  const port = await bind(socket, ip);
  close.push(() => socket.close());
  return { socket, senders, port: port, address: { ip, family } satisfies Address };
}

function openDescriptors(): number {
  return readdirSync("/proc/self/fd").length;
}

describe.each(["native", "node"] as const)("a datagram link, %s", (way) => {
  const datagrams = createDatagrams();
  beforeAll(async () => {
    if (way === "native") expect(await datagrams.ready()).toBe("native");
  });
  afterAll(() => datagrams.close());

  function openLink(address: Address, port: number, check = makeCheck({} as Transport)) {
    const received: Uint8Array[] = [];
    const arrivedAtMs: number[] = [];
    const failures: Error[] = [];
    const open = way === "native" ? datagrams.openDatagrams : openNodeDatagrams;
    const link = open(
      address,
      port,
      {
        received(datagram, atMs) {
          received.push(datagram);
          arrivedAtMs.push(atMs);
        },
        failed: (error) => failures.push(error),
      },
      check.context,
    );
    close.push(link.close.bind(link));
    return { link, received, arrivedAtMs, failures, check };
  }

  it("sends from an address of this machine's choice, not from the peer's", async () => {
    const peer = await openPeer("127.0.0.2");
    const { link, received, check } = openLink(peer.address, peer.port);
    link.send(Uint8Array.of(1));
    await expect.poll(() => received.length).toBe(1);
    expect(peer.senders[0]?.address).toBe("127.0.0.1");
    expect(link.localIp()).toBe("127.0.0.1");
    expect(check.tried).toEqual([`127.0.0.2:${peer.port}`]);
    // The same holds for questions of one datagram.
    const context = makeCheck({} as Transport).context;
    await exchangeDatagram(peer.address, peer.port, Uint8Array.of(2), (reply) => reply, { context });
    expect(peer.senders[1]?.address).toBe("127.0.0.1");
  });

  it("hears its peer alone", async () => {
    const peer = await openPeer("127.0.0.1");
    const other = await openPeer("127.0.0.1");
    const { link, received } = openLink(peer.address, peer.port);
    link.send(Uint8Array.of(1));
    await expect.poll(() => peer.senders.length).toBe(1);
    other.socket.send(Uint8Array.of(9), peer.senders[0]?.port ?? 0, "127.0.0.1");
    link.send(Uint8Array.of(2));
    await expect.poll(() => received.length).toBe(2);
    expect(received.map(([first]) => first)).toEqual([1, 2]);
  });

  it("is told of a closed port, once, and is silent afterwards", async () => {
    const port = await closedPort();
    const { link, failures } = openLink({ ip: "127.0.0.1", family: 4 }, port);
    link.send(Uint8Array.of(1));
    await expect.poll(() => failures.length).toBe(1);
    expect(failures[0]).toMatchObject({ code: "ECONNREFUSED" });
    link.send(Uint8Array.of(2));
    link.close();
    expect(failures.length).toBe(1);
    expect(link.localIp()).toBeNull();
  });

  it("ends with its check, before it is connected and after", async () => {
    const peer = await openPeer("127.0.0.1");
    const early = openLink(peer.address, peer.port);
    early.check.expire();
    early.link.send(Uint8Array.of(1));
    const { link, received, check } = openLink(peer.address, peer.port);
    link.send(Uint8Array.of(2));
    await expect.poll(() => received.length).toBe(1);
    check.expire();
    link.send(Uint8Array.of(3));
    const late = openLink(peer.address, peer.port, check);
    late.link.send(Uint8Array.of(4));
    const other = openLink(peer.address, peer.port);
    other.link.send(Uint8Array.of(5));
    await expect.poll(() => other.received.length).toBe(1);
    expect(peer.senders.length).toBe(2);
    expect([...early.failures, ...late.failures]).toEqual([]);
  });

  it("speaks IPv6", async () => {
    const peer = await openPeer("::1");
    const { link, received, check } = openLink(peer.address, peer.port);
    link.send(Uint8Array.of(7));
    await expect.poll(() => received.length).toBe(1);
    expect(link.localIp()).toBe("::1");
    expect(check.tried).toEqual([`[::1]:${peer.port}`]);
  });

  it("takes datagrams of any size whole, and keeps none of them in memory that is used again", async () => {
    const peer = await openPeer("127.0.0.1");
    const { link, received } = openLink(peer.address, peer.port);
    const sizes = [0, 1, 1_472, 9_000, 65_507];
    for (const [index, size] of sizes.entries()) link.send(new Uint8Array(size).fill(index + 1));
    await expect.poll(() => received.length).toBe(sizes.length);
    expect(received.map(({ length }) => length)).toEqual(sizes);
    expect(received.every((datagram, index) => datagram.every((byte) => byte === index + 1))).toBe(true);
  });

  it("hears all of a burst that is larger than a batch", async () => {
    const peer = await openPeer("127.0.0.1");
    const { link, received } = openLink(peer.address, peer.port);
    for (let index = 0; index < 50; index++) link.send(Uint8Array.of(index));
    await expect.poll(() => received.length).toBe(50);
    expect(received.map(([first]) => first)).toEqual(Array.from({ length: 50 }, (_, index) => index));
  });

  it("tells what the system says against a way, after it was opened", async () => {
    // Broadcast is not permitted to an ordinary socket (connect(2), EACCES).
    const { link, failures } = openLink({ ip: "255.255.255.255", family: 4 }, 53);
    link.send(Uint8Array.of(1));
    expect(failures).toEqual([]);
    await expect.poll(() => failures.length).toBe(1);
    expect(failures[0]).toMatchObject({ code: "EACCES" });
    expect(link.localIp()).toBeNull();
  });

  it("gives every descriptor back, also when it is closed from within its own listener", async () => {
    const peer = await openPeer("127.0.0.1");
    const before = openDescriptors();
    const links = Array.from({ length: 20 }, () => openLink(peer.address, peer.port));
    for (const { link } of links) link.send(Uint8Array.of(1));
    await expect.poll(() => links.filter(({ received }) => received.length === 1).length).toBe(20);
    expect(openDescriptors()).toBe(before + 20);
    for (const { link } of links) {
      link.close();
      link.close();
    }
    await expect.poll(openDescriptors).toBe(before);
    const [first] = links;
    first?.link.send(Uint8Array.of(2));
    expect(first?.failures).toEqual([]);
  });

  it("gives up a peer that floods", async () => {
    const peer = await openPeer("127.0.0.1");
    const { link, failures } = openLink(peer.address, peer.port);
    link.send(Uint8Array.of(1));
    await expect.poll(() => peer.senders.length).toBe(1);
    const port = peer.senders[0]?.port ?? 0;
    for (let sent = 0; failures.length === 0 && sent < 500_000; sent += 200) {
      for (let each = 0; each < 200; each++) peer.socket.send(Uint8Array.of(0), port, "127.0.0.1", () => {});
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(failures[0]?.message).toBe("The server floods this checker");
  });
});

/** Answers from another thread, whatever ours is doing. */
async function openOtherThread() {
  const code = `
    const { parentPort } = require("node:worker_threads");
    const socket = require("node:dgram").createSocket("udp4");
    socket.on("message", (datagram, from) => socket.send(datagram, from.port, from.address));
    socket.bind(0, "127.0.0.1", () => parentPort.postMessage(socket.address().port));`;
  const worker = new Worker(code, { eval: true });
  close.push(() => void worker.terminate());
  const [port]: number[] = await once(worker, "message");
  return port ?? 0;
}

it("a native link says when a datagram arrived, not when our loop came to read it", async () => {
  const port = await openOtherThread();
  const datagrams = createDatagrams();
  expect(await datagrams.ready()).toBe("native");
  const arrivals: number[] = [];
  const link = datagrams.openDatagrams(
    { ip: "127.0.0.1", family: 4 },
    port,
    { received: (_datagram, atMs) => arrivals.push(atMs), failed: () => {} },
    makeCheck({} as Transport).context,
  );
  link.send(Uint8Array.of(1));
  await expect.poll(() => arrivals.length).toBe(1);
  const sentAtMs = performance.now();
  link.send(Uint8Array.of(2));
  // Long beside a round trip over loopback, whatever else the machine does.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1_000);
  const wokeAtMs = performance.now();
  await expect.poll(() => arrivals.length).toBe(2);
  expect(arrivals[1]).toBeGreaterThanOrEqual(sentAtMs - 1);
  expect(arrivals[1]).toBeLessThan((sentAtMs + wokeAtMs) / 2);
  datagrams.close();
});
