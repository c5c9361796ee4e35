/** The parts of native/ and of the ICMP codec, one call at a time; whole checks are in bench/burst. */
import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { Bench } from "tinybench";
import { decodeIcmp, encodeEchoReply, encodeEchoRequest } from "../../engine/protocols/icmp/echo.ts";
import { exchangeTcp } from "../../engine/transport/exchange.ts";
import { createExchanger } from "../../engine/transport/native-exchange.ts";
import type { AnswerReader, DialContext, Transport } from "../../engine/transport/transport.ts";
import { EPOLLIN, loadLibc, SOCKADDR_BYTES, writeSockaddr } from "../../native/libc.ts";
import { parsePingOutput } from "../../native/ping-output.ts";
import { openReadiness } from "../../native/readiness.ts";
import { printTasks } from "./conditions.ts";

const ECHO = { identifier: 1, sequence: 2, token: 0x0123_4567_89ab_cdefn };
const PING_OUTPUT = `PING 192.0.2.1 (192.0.2.1) 56(84) bytes of data.
64 bytes from 192.0.2.1: icmp_seq=1 ttl=64 time=0.042 ms
64 bytes from 192.0.2.1: icmp_seq=2 ttl=64 time=0.038 ms
64 bytes from 192.0.2.1: icmp_seq=3 ttl=64 time=12.5 ms

--- 192.0.2.1 ping statistics ---
3 packets transmitted, 3 received, 0% packet loss, time 402ms
rtt min/avg/max/mdev = 0.038/4.193/12.500/0.002 ms
`;
const READY = 256;
const QUESTION = Buffer.from("GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n");
const ANYTHING: AnswerReader = { connected: () => {}, push: () => true, end: () => null };
/** As a check's context is: it hears of its end, and makes no signal until it is asked for one. */
const CONTEXT: DialContext = {
  signal: new AbortController().signal,
  onAbort: () => {},
  phase: () => {},
  tried: () => {},
  answered: () => {},
};

async function codecs(): Promise<void> {
  const bench = new Bench({ time: 500, warmupTime: 100 });
  const reply = encodeEchoReply(4, ECHO);
  bench.add("encode an echo request, IPv4", () => encodeEchoRequest(4, ECHO));
  bench.add("encode an echo request, IPv6", () => encodeEchoRequest(6, ECHO));
  bench.add("decode an echo reply", () => decodeIcmp(4, reply));
  bench.add("parse what ping printed", () => parsePingOutput(PING_OUTPUT));
  await bench.run();
  printTasks("ICMP codec", bench, 1, "call");
}

async function calls(): Promise<void> {
  const libc = loadLibc();
  if (libc === null) {
    console.log("\nthere is no native way on this machine");
    return;
  }
  const sockaddr = Buffer.alloc(SOCKADDR_BYTES);
  const timespec = Buffer.alloc(16);
  const bench = new Bench({ time: 500, warmupTime: 100 });
  bench.add("a system call by FFI: clock_gettime", () => libc.clock_gettime(0, timespec));
  bench.add("errno", () => libc.errno());
  bench.add("an IPv4 sockaddr", () => writeSockaddr(libc, sockaddr, 4, "192.0.2.1", 80));
  bench.add("an IPv6 sockaddr", () => writeSockaddr(libc, sockaddr, 6, "2001:db8::1", 80));
  await bench.run();
  printTasks("calls into the C library", bench, 1, "call");
}

/** One question and its answer on a fresh connection, native against Node's own sockets, so many at once. */
async function exchanges(atOnce: number): Promise<void> {
  const target = fork(fileURLToPath(new URL("../burst/http-target.js", import.meta.url)));
  const [port]: number[] = await once(target, "message");
  const exchanger = createExchanger();
  const ways: (readonly [string, Transport["exchangeTcp"]])[] = [["Node's own sockets", exchangeTcp]];
  if ((await exchanger.ready()) === "native") ways.unshift(["native streams", exchanger.exchangeTcp]);
  const bench = new Bench({ time: 1_500, warmupTime: 300 });
  for (const [name, exchange] of ways) {
    const ask = () => exchange([{ ip: "127.0.0.1", family: 4 }], port ?? 0, QUESTION, ANYTHING, CONTEXT);
    bench.add(name, () => Promise.all(Array.from({ length: atOnce }, ask)));
  }
  await bench.run();
  printTasks(`TCP exchanges, ${atOnce} at once, target in its own process`, bench, atOnce, "exchange");
  exchanger.close();
  target.disconnect();
}

/** What a wake-up costs, alone and with a batch of descriptors that are ready at once. */
async function wakes(ready: number): Promise<void> {
  const libc = loadLibc();
  const readiness = libc === null ? null : await openReadiness(libc);
  if (libc === null || readiness === null) return;
  const fds = Array.from({ length: ready }, () => libc.eventfd(1, 0x8_0800));
  let heard = 0;
  let whenAllHeard = (): void => {};
  for (const fd of fds) {
    readiness.watch(fd, EPOLLIN, () => {
      heard++;
      if (heard === ready) whenAllHeard();
    });
  }
  const bench = new Bench({ time: 500, warmupTime: 100 });
  bench.add(`a wake-up with ${ready} ready`, () => {
    heard = 0;
    return new Promise<void>((resolve) => {
      whenAllHeard = resolve;
    });
  });
  readiness.hold();
  await bench.run();
  readiness.release();
  printTasks("readiness through libuv", bench, ready, "descriptor");
  for (const fd of fds) {
    readiness.unwatch(fd);
    libc.close(fd);
  }
  readiness.close();
}

export async function run(): Promise<void> {
  await codecs();
  await calls();
  await wakes(1);
  await wakes(READY);
  await exchanges(1);
  await exchanges(64);
}
