/** Codecs on the way of a check: what a message costs to write and to read. */
import dnsPacket from "dns-packet";
import { Bench } from "tinybench";
import { decodeReply, encodeQuery } from "../../engine/protocols/dns/message.ts";
import { parseHead } from "../../engine/protocols/http/head.ts";
import { decodeIcmp, encodeEchoRequest } from "../../engine/protocols/icmp/echo.ts";
import { decodeFrames, encodeFrame } from "../../store/results/spool-frame.ts";
import { printTasks } from "./conditions.ts";

const REPEATS = 1_000;

export async function run(): Promise<void> {
  const bench = new Bench({ time: 1_000, warmupTime: 200 });
  const add = (name: string, once: () => void): void => {
    bench.add(name, () => {
      for (let i = 0; i < REPEATS; i++) once();
    });
  };
  const query = encodeQuery("www.sonde.test", "A", 4_711);
  const reply = replyTo(4_711);
  add("DNS query, encode", () => encodeQuery("www.sonde.test", "A", 4_711));
  add("DNS reply, decode and validate", () => decodeReply(reply, query));
  const head = Buffer.from(
    "HTTP/1.1 200 OK\r\nServer: nginx\r\nDate: Sat, 21 Nov 2026 12:00:00 GMT\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: 42\r\nConnection: close\r\n\r\n",
  );
  add("HTTP response head, parse", () => parseHead(head, 0, head.length));
  const echo = { identifier: 7, sequence: 9, token: 0x1234_5678_9abc_def0n };
  const request = encodeEchoRequest(4, echo);
  add("ICMP echo request, encode", () => encodeEchoRequest(4, echo));
  add("ICMP message, decode", () => decodeIcmp(4, request));
  const lines = Array.from({ length: 500 }, (_, n) =>
    JSON.stringify({ id: String(n), monitor_id: n, changed: 0, text: "x".repeat(350) }),
  );
  const frame = encodeFrame(1, lines);
  bench.add("spool frame of 500 rows, encode (per row)", () => {
    encodeFrame(1, lines);
    encodeFrame(1, lines);
  });
  bench.add("spool frame of 500 rows, decode (per row)", () => {
    decodeFrames(frame);
    decodeFrames(frame);
  });
  await bench.run();
  printTasks("codecs", bench, REPEATS, "message");
}

function replyTo(id: number): Uint8Array {
  const questions = [{ type: "A" as const, name: "www.sonde.test" }];
  const answers = [{ type: "A" as const, name: "www.sonde.test", ttl: 60, data: "198.51.100.7" }];
  return dnsPacket.encode({ type: "response", id, flags: dnsPacket.RECURSION_DESIRED, questions, answers });
}
