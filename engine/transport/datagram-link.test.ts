import { createSocket, type RemoteInfo } from "node:dgram";
import { once } from "node:events";
import { afterEach, describe, expect, it } from "vitest";
import { exchangeDatagram } from "./datagram.ts";
import { after as later, openDatagrams } from "./datagram-link.ts";
import { closedPort, makeCheck } from "./peers.suite.ts";
import type { Address, Transport } from "./transport.ts";

let close: (() => void)[] = [];
afterEach(() => {
  for (const each of close) each();
  close = [];
});

async function openPeer(ip: string) {
  const socket = createSocket("udp4");
  const senders: RemoteInfo[] = [];
  socket.on("message", (datagram, from) => {
    senders.push(from);
    socket.send(datagram, from.port, from.address);
  });
  socket.bind(0, ip);
  await once(socket, "listening");
  close.push(() => socket.close());
  return { socket, senders, port: socket.address().port, address: { ip, family: 4 } satisfies Address };
}

function openLink(address: Address, port: number, check = makeCheck({} as Transport)) {
  const received: Uint8Array[] = [];
  const failures: Error[] = [];
  const link = openDatagrams(
    address,
    port,
    { received: (datagram) => received.push(datagram), failed: (error) => failures.push(error) },
    check.context,
  );
  close.push(link.close);
  return { link, received, failures, check };
}

describe("a datagram link", () => {
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
    const stranger = await openPeer("127.0.0.1");
    const { link, received } = openLink(peer.address, peer.port);
    link.send(Uint8Array.of(1));
    await expect.poll(() => peer.senders.length).toBe(1);
    stranger.socket.send(Uint8Array.of(9), peer.senders[0]?.port ?? 0, "127.0.0.1");
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

describe("after", () => {
  it("calls back once, unless it is taken back", async () => {
    const calls: string[] = [];
    const cancel = later(1, () => calls.push("cancelled"));
    await new Promise<void>((resolve) => {
      later(2, () => {
        calls.push("called");
        resolve();
      });
      cancel();
    });
    expect(calls).toEqual(["called"]);
  });
});
