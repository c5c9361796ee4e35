/** Servers that speak HTTP/2 alone, frame by frame: what they may do beside an answer, and what they do in its place. */
import { createServer as createTls, type TLSSocket } from "node:tls";
import { describe, expect, it } from "vitest";
import { makeCertificate } from "../../demo/certificates.ts";
import { listen } from "../../demo/loopback.ts";
import { authority, check, closers } from "./website.suite.ts";

const good = makeCertificate({ commonName: "web.rig", names: ["web.rig"], issuer: authority });

/** RFC 9113 section 6. */
const FRAME = { data: 0, headers: 1, reset: 3, settings: 4, ping: 6, goaway: 7, continuation: 9 } as const;
const END_STREAM = 1;
const END_HEADERS = 4;
const FRAME_HEADER_BYTES = 9;
const PREFACE_BYTES = 24;
const HEADERS_AND_END = END_HEADERS | END_STREAM;

function frame(type: number, flags: number, stream: number, payload: Buffer | string = ""): Buffer {
  const bytes = Buffer.from(payload);
  const head = Buffer.alloc(FRAME_HEADER_BYTES);
  head.writeUIntBE(bytes.length, 0, 3);
  head.writeUInt8(type, 3);
  head.writeUInt8(flags, 4);
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, bytes]);
}

const word = (...numbers: readonly number[]): Buffer =>
  Buffer.concat(numbers.map((each) => Buffer.from([each >>> 24, each >>> 16, each >>> 8, each])));

/** RFC 7541 section 6.2.2: literals without indexing. */
function headerBlock(headers: readonly (readonly [name: string, value: string])[]): Buffer {
  const text = (value: string): Buffer => {
    const rest = value.length - 127;
    const length = rest < 0 ? [value.length] : rest < 128 ? [127, rest] : [127, (rest & 127) | 128, rest >> 7];
    return Buffer.concat([Buffer.from(length), Buffer.from(value, "latin1")]);
  };
  return Buffer.concat(headers.flatMap(([name, value]) => [Buffer.from([0]), text(name), text(value)]));
}

const status = (code: string, more: readonly (readonly [string, string])[] = [], flags = END_HEADERS): Buffer =>
  frame(FRAME.headers, flags, 1, headerBlock([[":status", code], ...more]));
const data = (text: string, flags = END_STREAM): Buffer => frame(FRAME.data, flags, 1, text);
const goaway = (lastStream: number, code: number): Buffer => frame(FRAME.goaway, 0, 0, word(lastStream, code));
const reset = (code: number): Buffer => frame(FRAME.reset, 0, 1, word(code));
const many = (count: number): (readonly [string, string])[] =>
  Array.from({ length: count }, (_, index) => [`x-${index}`, "v"] as const);

/** Answers each request, once its head is here. @returns the server's address */
async function http2Only(answer: (socket: TLSSocket) => void): Promise<string> {
  const sockets = new Set<TLSSocket>();
  const server = createTls({ cert: good.certPem, key: good.keyPem, ALPNProtocols: ["h2"] }, (socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
    socket.write(frame(FRAME.settings, 0, 0));
    let heard = Buffer.alloc(0);
    let at = PREFACE_BYTES;
    socket.on("data", (bytes: Buffer) => {
      heard = Buffer.concat([heard, bytes]);
      while (heard.length >= at + FRAME_HEADER_BYTES) {
        const type = heard[at + 3];
        at += FRAME_HEADER_BYTES + heard.readUIntBE(at, 3);
        if (type === FRAME.headers) answer(socket);
      }
    });
  });
  server.on("tlsClientError", () => {});
  const port = await listen(server);
  closers.push(() => {
    for (const socket of sockets) socket.destroy();
    return new Promise((resolve) => server.close(resolve));
  });
  return `https://web.rig:${port}/`;
}

/** As much as the other side takes, again and again. */
function flood(socket: TLSSocket, piece: Buffer): void {
  const more = (): void => {
    while (!socket.destroyed && socket.write(piece));
  };
  socket.on("drain", more);
  more();
}

describe("HTTP/2", () => {
  it.each<[name: string, answer: (socket: TLSSocket) => void]>([
    [
      "as many headers as over HTTP/1.1",
      (socket) => socket.write(Buffer.concat([status("200", many(256)), data("a word")])),
    ],
    [
      "GOAWAY beside the answer, as at the last request of a connection",
      (socket) => {
        socket.write(Buffer.concat([goaway(1, 0), status("200"), data("a ", 0)]));
        setTimeout(() => socket.end(data("word")), 20);
      },
    ],
    [
      "GOAWAY between two halves",
      (socket) =>
        socket.write(Buffer.concat([status("200"), data("a ", 0), goaway(2 ** 31 - 1, 0), goaway(1, 0), data("word")])),
    ],
    [
      "interim answers",
      (socket) =>
        socket.write(Buffer.concat([status("103", [["link", "</a>"]]), status("102"), status("200"), data("a word")])),
    ],
    [
      "a trailer",
      (socket) =>
        socket.write(
          Buffer.concat([
            status("200"),
            data("a word", 0),
            frame(FRAME.headers, HEADERS_AND_END, 1, headerBlock([["x-sum", "1"]])),
          ]),
        ),
    ],
    [
      "a reset without an error behind the answer, because the request's body is not wanted",
      (socket) => socket.write(Buffer.concat([status("200"), data("a word"), reset(0)])),
    ],
  ])("%s: ok", async (_name, answer) => {
    const url = await http2Only(answer);
    expect(await check("node", { url, keyword: "a word" })).toMatchObject({ verdict: "ok" });
  });

  it("early, to a request whose body is still sent, counts", async () => {
    const url = await http2Only((socket) =>
      socket.write(Buffer.concat([status("413", [], HEADERS_AND_END), reset(0)])),
    );
    const body = { url, method: "POST", body: "x".repeat(65_536) };
    expect(await check("node", body)).toMatchObject({ verdict: "rejected", message: expect.stringContaining("413") });
    expect(await check("node", { ...body, accepted_statuscodes: ["413"] })).toMatchObject({ verdict: "ok" });
  });

  it("a 304 has no body, whatever length it tells", async () => {
    const url = await http2Only((socket) => socket.write(status("304", [["content-length", "50"]], HEADERS_AND_END)));
    expect(await check("node", { url, accepted_statuscodes: ["304"] })).toMatchObject({ verdict: "ok" });
  });

  it.each<[name: string, verdict: string, message: string, answer: (socket: TLSSocket) => void]>([
    [
      "more headers than a reader takes",
      "protocol-error",
      "there are more than 256 headers",
      (socket) => socket.write(Buffer.concat([status("200", many(257)), data("a word")])),
    ],
    ["a GOAWAY that leaves the request out", "closed", "refused stream", (socket) => socket.write(goaway(0, 0))],
    ["a GOAWAY with an error", "closed", "HTTP/2 connection", (socket) => socket.write(goaway(0, 11))],
    [
      "a stream that is cancelled within its body",
      "closed",
      "before the body was complete",
      (socket) => socket.write(Buffer.concat([status("200"), data("a ", 0), reset(8)])),
    ],
    [
      "a connection that ends within the body",
      "closed",
      "before the body was complete",
      (socket) => socket.end(Buffer.concat([status("200"), data("a ", 0)])),
    ],
    ["a connection that ends without an answer", "closed", "without an answer", (socket) => socket.end()],
    [
      "a body shorter than it says",
      "protocol-error",
      "",
      (socket) => socket.write(Buffer.concat([status("200", [["content-length", "50"]]), data("a ")])),
    ],
    [
      "a body that is reset short of what it says",
      "closed",
      "before the body was complete",
      (socket) => socket.write(Buffer.concat([status("200", [["content-length", "50"]]), data("a ", 0), reset(0)])),
    ],
    ["interim answers without end", "protocol-error", "interim answers", (socket) => flood(socket, status("103"))],
    ["SETTINGS without end", "protocol-error", "", (socket) => flood(socket, frame(FRAME.settings, 0, 0))],
    ["PING without end", "protocol-error", "", (socket) => flood(socket, frame(FRAME.ping, 0, 0, "12345678"))],
    [
      "empty DATA without end",
      "protocol-error",
      "",
      (socket) => {
        socket.write(status("200"));
        flood(socket, data("", 0));
      },
    ],
    [
      "CONTINUATION without end",
      "protocol-error",
      "",
      (socket) => {
        socket.write(status("200", [], 0));
        flood(socket, frame(FRAME.continuation, 0, 1, headerBlock(many(1))));
      },
    ],
  ])("%s: %s", async (_name, verdict, message, answer) => {
    const url = await http2Only(answer);
    const outcome = await check("node", { url, keyword: "a word" });
    expect(outcome).toMatchObject({ verdict, message: expect.stringContaining(message), peerAnswered: true });
  });
});
