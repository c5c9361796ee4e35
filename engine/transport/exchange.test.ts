/** Native streams and their twin under one suite. */
import { readdirSync } from "node:fs";
import type { Socket } from "node:net";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { classify } from "../net/classify.ts";
import { DeadlinePassed, NetworkFault } from "../net/fault.ts";
import { ourOwnWay } from "./connect-race.ts";
import { exchangeTcp as nodeExchangeTcp } from "./exchange.ts";
import { createExchanger, type Exchanger } from "./native-exchange.ts";
import { type CheckRig, closedPort, makeCheck, openBlackHole, openTcpPeer, type Peer } from "./peers.suite.ts";
import type { Address, AnswerReader, Transport } from "./transport.ts";

const V4: Address = { ip: "127.0.0.1", family: 4 };
const V6: Address = { ip: "::1", family: 6 };
const QUESTION = Buffer.from("question\n");

/** Reads until so many bytes, and writes down what it is told. */
class Reader implements AnswerReader {
  readonly told: string[] = [];
  readonly #wantedBytes: number;
  bytes = Buffer.alloc(0);

  constructor(wantedBytes: number) {
    this.#wantedBytes = wantedBytes;
  }

  connected(): void {
    this.told.push("connected");
  }

  push(bytes: Buffer): boolean {
    this.bytes = Buffer.concat([this.bytes, bytes]);
    return this.bytes.length >= this.#wantedBytes;
  }

  end(): Error | null {
    this.told.push("end");
    return this.bytes.length >= this.#wantedBytes ? null : new NetworkFault("closed", `after ${this.bytes.length}`);
  }
}

function openDescriptors(): number {
  return readdirSync("/proc/self/fd").length;
}

/** Answers each question with the text; the connection stays open. */
const echoing =
  (answer: string | Buffer) =>
  (socket: Socket): void => {
    socket.on("data", () => socket.write(answer));
  };

describe.each(["native", "node"] as const)("exchangeTcp, %s", (way) => {
  let exchanger: Exchanger;
  let exchangeTcp: Transport["exchangeTcp"];
  const closers: (() => unknown)[] = [];

  beforeAll(async () => {
    exchanger = createExchanger();
    if (way === "native") expect(await exchanger.ready()).toBe("native");
    exchangeTcp = way === "native" ? exchanger.exchangeTcp : nodeExchangeTcp;
  });
  afterAll(() => exchanger.close());
  afterEach(async () => {
    for (const close of closers.splice(0)) await close();
  });

  async function kept(opening: Promise<Peer>): Promise<Peer> {
    const peer = await opening;
    closers.push(peer.close);
    return peer;
  }

  async function ask(
    addresses: readonly Address[],
    port: number,
    reader: AnswerReader,
    check: CheckRig = makeCheck({} as Transport),
    request: Uint8Array = QUESTION,
  ): Promise<string> {
    return exchangeTcp(addresses, port, request, reader, check.context).then(
      () => "ok",
      (error: unknown) => {
        const { verdict, message } = classify(error, "request");
        return `${verdict}: ${message}`;
      },
    );
  }

  it.each([V4, V6])("asks $ip and hears the answer", async (address) => {
    const peer = await kept(openTcpPeer(echoing("answer"), address.ip));
    const reader = new Reader(6);
    const check = makeCheck({} as Transport);
    expect(await ask([address], peer.port, reader, check)).toBe("ok");
    expect(reader.bytes.toString()).toBe("answer");
    expect(reader.told).toEqual(["connected"]);
    expect(check.tried).toEqual([address === V4 ? `127.0.0.1:${peer.port}` : `[::1]:${peer.port}`]);
  });

  it("closes by reset as soon as it has enough", async () => {
    const codes: unknown[] = [];
    const peer = await kept(
      openTcpPeer((socket) => {
        socket
          .on("error", (error) => codes.push("code" in error ? error.code : error))
          .on("end", () => codes.push("end"));
        echoing("answer")(socket);
      }),
    );
    expect(await ask([V4], peer.port, new Reader(6))).toBe("ok");
    await expect.poll(() => codes).toEqual(["ECONNRESET"]);
  });

  it("brings a long answer whole and in order, and sends a long question whole", async () => {
    const answer = Buffer.alloc(3_000_000);
    for (let at = 0; at < answer.length; at++) answer[at] = at % 251;
    let heard = 0;
    const question = Buffer.alloc(2_000_000, "?");
    const peer = await kept(
      openTcpPeer((socket) => {
        socket.on("data", (bytes) => {
          heard += bytes.length;
          if (heard === question.length) socket.end(answer);
        });
      }),
    );
    const reader = new Reader(answer.length);
    expect(await ask([V4], peer.port, reader, undefined, question)).toBe("ok");
    expect(reader.bytes.equals(answer)).toBe(true);
  });

  it("tells of the end, also when it comes with the last bytes", async () => {
    const peer = await kept(openTcpPeer((socket) => socket.once("data", () => socket.end("half"))));
    for (let round = 0; round < 20; round++) {
      const reader = new Reader(6);
      expect(await ask([V4], peer.port, reader)).toBe("closed: after 4");
      expect(reader.told).toEqual(["connected", "end"]);
    }
  });

  it("a reset in the middle is a closed connection", async () => {
    // Node sends a FIN before its reset, so it is a race which of the two is seen.
    const peer = await kept(
      openTcpPeer((socket) => {
        socket.once("data", () => socket.write("ha", () => setImmediate(() => socket.resetAndDestroy())));
      }),
    );
    const end = await ask([V4], peer.port, new Reader(6));
    expect(["closed: after 2", "closed: Connection reset by the server"]).toContain(end);
  });

  it("gives Node's errors", async () => {
    const port = await closedPort();
    const error: unknown = await exchangeTcp(
      [V4],
      port,
      QUESTION,
      new Reader(1),
      makeCheck({} as Transport).context,
    ).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: "ECONNREFUSED", syscall: "connect", address: "127.0.0.1", port });
    expect(error).toMatchObject({ message: `connect ECONNREFUSED 127.0.0.1:${port}` });
    expect(await ask([V4], 70_000, new Reader(1))).toContain("internal-error");
    expect(await ask([], 80, new Reader(1))).toContain("unresolved");
    expect(await ask([{ ip: "255.255.255.255", family: 4 }], 80, new Reader(1))).toContain("unreachable");
  });

  it("hears an answer that comes before the question was sent whole, and its sender has closed", async () => {
    const question = Buffer.alloc(20_000_000, "?");
    const peer = await kept(
      openTcpPeer((socket) => {
        // With bytes unread it closes by reset.
        socket.pause();
        socket.write("answer", () => setTimeout(() => socket.destroy(), 20));
      }),
    );
    for (let round = 0; round < 5; round++) {
      const late = new Reader(7);
      expect(await ask([V4], peer.port, late, undefined, question)).toMatch(/^closed: /);
      expect(late.bytes.toString()).toBe("answer");
      expect(await ask([V4], peer.port, new Reader(6), undefined, question)).toBe("ok");
    }
  });

  it("names the address whose failure is told", async () => {
    const named = async (addresses: readonly Address[], port: number, end: string): Promise<string | undefined> => {
      const check = makeCheck({} as Transport);
      const asking = ask(addresses, port, new Reader(6), check);
      if (end === "timeout") {
        await expect.poll(() => check.tried.length).toBe(addresses.length + 1);
        check.expire();
      }
      expect(await asking).toContain(end);
      return check.tried.at(-1);
    };
    const port = await closedPort();
    const nowhere: Address = { ip: "255.255.255.255", family: 4 };
    expect(await named([V4, nowhere], port, "refused")).toBe(`127.0.0.1:${port}`);
    expect(await named([nowhere, V4], port, "refused")).toBe(`127.0.0.1:${port}`);
    const hole = await kept(openBlackHole());
    expect(await named([V4, V6], hole.port, "timeout")).toBe(`127.0.0.1:${hole.port}`);
  });

  it("goes on to the next address when one refuses or is silent", async () => {
    const peer = await kept(openTcpPeer(echoing("answer"), "::1"));
    const check = makeCheck({} as Transport);
    expect(await ask([V4, V6], peer.port, new Reader(6), check)).toBe("ok");
    expect(check.tried).toEqual([`127.0.0.1:${peer.port}`, `[::1]:${peer.port}`, `[::1]:${peer.port}`]);
    const hole = await kept(openBlackHole());
    await kept(openTcpPeer(echoing("answer"), "::1", hole.port));
    expect(await ask([V4, V6], hole.port, new Reader(6))).toBe("ok");
    const port = await closedPort();
    expect(await ask([V4, { ip: "127.0.0.2", family: 4 }], port, new Reader(6))).toBe("refused: Connection refused");
  });

  it("after a race the winner's later end is the check's", async () => {
    const peer = await kept(openTcpPeer((socket) => socket.once("data", () => socket.end("half"))));
    expect(await ask([V4, V6], peer.port, new Reader(6))).toBe("closed: after 4");
  });

  it("what a reader throws ends the exchange", async () => {
    const peer = await kept(openTcpPeer(echoing("answer")));
    const thrower = new Reader(6);
    thrower.push = () => {
      throw new NetworkFault("protocol-error", "no such answer");
    };
    expect(await ask([V4], peer.port, thrower)).toBe("protocol-error: no such answer");
  });

  it("ends with the check in every phase, and leaves no descriptor behind", async () => {
    const hole = await kept(openBlackHole());
    const silent = await kept(openTcpPeer((socket) => socket.resume()));
    const refusing = await closedPort();
    await ask([V4], refusing, new Reader(1));
    const before = openDescriptors();
    const checks = Array.from({ length: 60 }, () => makeCheck({} as Transport));
    const connected: Promise<void>[] = [];
    const asking = checks.map((check, index) => {
      const reader = new Reader(6);
      if (index % 3 === 1) {
        connected.push(
          new Promise((resolve) => {
            reader.connected = resolve;
          }),
        );
      }
      const addresses = index % 3 === 2 ? [V4, V4] : [V4];
      return ask(addresses, index % 3 === 1 ? silent.port : hole.port, reader, check);
    });
    await Promise.all(connected);
    for (const [index, check] of checks.entries()) {
      check.expire(index % 2 === 0 ? new DeadlinePassed() : new NetworkFault("cancelled", "stopping"));
    }
    const ends = await Promise.all(asking);
    for (const [index, end] of ends.entries()) expect(end).toContain(index % 2 === 0 ? "timeout" : "cancelled");
    const over = makeCheck({} as Transport);
    over.expire();
    expect(await ask([V4], silent.port, new Reader(6), over)).toContain("timeout");
    // The other ends of the 20 that stood belong to the peer of this process.
    await silent.close();
    await expect.poll(openDescriptors).toBeLessThanOrEqual(before);
  });

  it("a thousand at once, each with its own answer", async () => {
    const peer = await kept(
      openTcpPeer((socket) => {
        socket.on("data", (bytes) => socket.write(bytes));
      }),
    );
    const all = Array.from({ length: 1_000 }, async (_, index) => {
      const request = Buffer.from(`${index}`.padStart(8, "."));
      const reader = new Reader(8);
      const end = await ask([V4], peer.port, reader, undefined, request);
      return end === "ok" && reader.bytes.equals(request);
    });
    expect(new Set(await Promise.all(all))).toEqual(new Set([true]));
  });
});

it.each<[machine: (4 | 6)[], code: string, family: 4 | 6, isOurs: boolean]>([
  [[4], "ENETUNREACH", 6, true],
  [[], "ENETUNREACH", 6, true],
  [[4], "EADDRNOTAVAIL", 6, true],
  [[4, 6], "ENETUNREACH", 6, false],
  [[6], "ENETUNREACH", 4, true],
  [[6], "EADDRNOTAVAIL", 4, false],
  [[6], "ECONNREFUSED", 4, false],
  [[4], "ENETUNREACH", 4, false],
  // A network that is cut.
  [[], "ENETUNREACH", 4, false],
])("a machine with addresses of %j: %s over IPv%i is a lack of ours: %s", (families, code, family, isOurs) => {
  const error = Object.assign(new Error(code), { code });
  const found = ourOwnWay(error, { ip: "", family }, { has: (one) => families.includes(one) });
  expect(found === error).toBe(!isOurs);
  if (isOurs)
    expect(classify(found, "connect")).toMatchObject({
      verdict: "unsupported",
      message: `This checker has no IPv${family}`,
    });
});
