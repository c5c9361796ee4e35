/** What becomes of echoes when this machine does not take them: the C library's calls are replaced, the rest is real. */
import { afterEach, describe, expect, it } from "vitest";
import { type Libc, loadLibc } from "../../native/libc.ts";
import { openReadiness, type Readiness } from "../../native/readiness.ts";
import { EchoSockets } from "./echo-sockets.ts";

const EAGAIN = 11;
const ENOBUFS = 105;
const EHOSTUNREACH = 113;
const EACCES = 13;

const libc = loadLibc();
let readiness: Readiness | null = null;
let sockets: EchoSockets | null = null;
afterEach(() => {
  sockets?.close();
  readiness?.close();
});

/** Sockets whose sends end as told, one after the other, the last for good; 0 is success. */
async function socketsThat(...sends: number[]): Promise<{ sockets: EchoSockets; sent: () => number }> {
  if (libc === null) throw new Error("this suite needs Linux on x64 or arm64");
  let errno = 0;
  let calls = 0;
  const replaced: Libc = {
    ...libc,
    socket: () => libc.eventfd(0, 0x8_0800),
    setsockopt: () => 0,
    sendto() {
      errno = sends[Math.min(calls++, sends.length - 1)] ?? 0;
      return errno === 0 ? 16 : -1;
    },
    recvmsg() {
      errno = EAGAIN;
      return -1;
    },
    errno: () => errno,
  };
  readiness = await openReadiness(libc);
  if (readiness === null) throw new Error("readiness does not work here");
  sockets = EchoSockets.open(replaced, readiness, "datagram");
  if (sockets === null) throw new Error("the sockets did not open");
  return { sockets, sent: () => calls };
}

/** How one echo ends: `sent`, or the code it was refused with. */
function sendTo(into: EchoSockets): Promise<string> {
  return new Promise((resolve) => {
    into.send("192.0.2.1", 4, {
      onSent: () => resolve("sent"),
      onReply: () => resolve("reply"),
      onProblem: resolve,
      onRefused: (error) => resolve(error instanceof Error && "code" in error ? String(error.code) : "refused"),
    });
  });
}

describe("full buffers", () => {
  it.each([ENOBUFS, EAGAIN])("are waited for (errno %i)", async (errno) => {
    const { sockets, sent } = await socketsThat(errno, errno, errno, 0);
    expect(await sendTo(sockets)).toBe("sent");
    expect(sent()).toBe(4);
  });

  it("are not waited for without end", async () => {
    const { sockets, sent } = await socketsThat(ENOBUFS);
    expect(await Promise.all([sendTo(sockets), sendTo(sockets)])).toEqual(["ENOBUFS", "ENOBUFS"]);
    expect(sent()).toBeGreaterThan(3);
  });
});

describe("refusals", () => {
  it.each([
    [EHOSTUNREACH, "EHOSTUNREACH"],
    [EACCES, "EACCES"],
  ])("are told at once (errno %i)", async (errno, code) => {
    const { sockets, sent } = await socketsThat(errno, 0);
    expect(await sendTo(sockets)).toBe(code);
    expect(sent()).toBe(1);
    expect(await sendTo(sockets)).toBe("sent");
  });

  it("come when more are in flight than there are sequence numbers", async () => {
    const { sockets } = await socketsThat(0);
    for (let sent = 0; sent < 60_000; sent++) void sendTo(sockets);
    await expect(sendTo(sockets)).rejects.toMatchObject({ code: "ENOBUFS" });
  });

  it("come to those that wait when the socket is closed", async () => {
    const { sockets } = await socketsThat(ENOBUFS);
    const waiting = sendTo(sockets);
    sockets.close();
    expect(await waiting).toBe("EAGAIN");
  });
});

describe("a burst", () => {
  it("leaves over several turns of the event loop", async () => {
    const { sockets, sent } = await socketsThat(0);
    const echoes = Array.from({ length: 200 }, () => sendTo(sockets));
    expect(sent()).toBe(64);
    await Promise.all(echoes);
    expect(sent()).toBe(200);
  });

  it("sends nothing that was forgotten while it waited", async () => {
    const { sockets, sent } = await socketsThat(0);
    const listener = { onSent() {}, onReply() {}, onProblem() {}, onRefused() {} };
    const forget = Array.from({ length: 100 }, () => sockets.send("192.0.2.1", 4, listener));
    for (const each of forget) each();
    expect(await sendTo(sockets)).toBe("sent");
    expect(sent()).toBe(65);
  });
});
