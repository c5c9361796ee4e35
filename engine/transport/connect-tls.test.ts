/** Servers that refuse the ordinary hello: those that know DHE alone are connected to once more, and watched. */
import { once } from "node:events";
import type { Socket } from "node:net";
import { createServer, type TLSSocket, type TlsOptions } from "node:tls";
import { afterEach, describe, expect, it } from "vitest";
import { makeAuthority, makeCertificate } from "../../demo/certificates.ts";
import { listen } from "../../demo/loopback.ts";
import { classify } from "../net/classify.ts";
import { integer, oddNumber, sequence } from "../protocols/keys/hostile-keys.suite.ts";
import { writePem } from "../protocols/keys/pem.ts";
import { type CheckRig, loopbackTransport, makeCheck, openTcpPeer } from "./peers.suite.ts";

const authority = makeAuthority();
const leaf = makeCertificate({ commonName: "h.dev", names: ["h.dev"], issuer: authority, rsaBits: 2_048 });
const transport = loopbackTransport({ resolvers: [], extraCaPem: authority.certPem });
const TWO_CONNECTIONS = ["handshake", "connect", "handshake"];

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

/** A server of TLS 1.2 that knows DHE alone, over a prime of so many bits. */
function dhe(bits: number): TlsOptions {
  const dhparam = bits === 2_048 ? "auto" : writePem("DH PARAMETERS", sequence(integer(oddNumber(bits)), integer(2)));
  return { ciphers: "DHE-RSA-AES128-GCM-SHA256", maxVersion: "TLSv1.2", dhparam };
}

interface Served {
  readonly port: number;
  connections(): number;
  /** Breaks the connection that came last. */
  reset(): void;
}

async function serve(options: TlsOptions, onSecure: (socket: TLSSocket) => void = () => {}): Promise<Served> {
  const secured = new Set<TLSSocket>();
  let last: Socket | undefined;
  let count = 0;
  const server = createServer({ cert: leaf.certPem, key: leaf.keyPem, ...options }, (socket) => {
    socket.on("error", () => {});
    secured.add(socket);
    onSecure(socket);
  });
  server.on("connection", (socket) => {
    count++;
    last = socket;
  });
  server.on("tlsClientError", () => {});
  const port = await listen(server);
  closers.push(() => {
    for (const socket of secured) socket.destroy();
    return new Promise((resolve) => server.close(resolve));
  });
  return {
    port,
    connections: () => count,
    reset() {
      // TLS over a connection that was destroyed must not be destroyed as well (stream.ts).
      secured.clear();
      last?.resetAndDestroy();
    },
  };
}

/** What answers a connection's first bytes with these and ends, by the number of the connection. */
async function serveBytes(answerOf: (connection: number) => Buffer): Promise<Pick<Served, "port" | "connections">> {
  let count = 0;
  const peer = await openTcpPeer((socket) => {
    const answer = answerOf(++count);
    socket.on("error", () => {});
    socket.once("data", () => socket.end(answer));
  });
  closers.push(() => peer.close());
  return { port: peer.port, connections: () => count };
}
const alert = (description: number): Buffer => Buffer.from([21, 3, 3, 0, 2, 2, description]);

function connect(port: number, check: CheckRig = makeCheck(transport), changes: object = {}): Promise<TLSSocket> {
  const address = { ip: "127.0.0.1", family: 4 } as const;
  return transport.connectTls([address], port, { servername: "h.dev", ...changes }, check.context);
}

async function failureOf(doing: Promise<unknown>): Promise<string> {
  const error = await doing.then(
    () => "ok",
    (fault: unknown) => fault,
  );
  if (error === "ok") return "ok";
  const { verdict, message } = classify(error, "handshake");
  return `${verdict}: ${message}`;
}

describe("a server that knows DHE alone", () => {
  it.each([2_048, 4_096])("is connected to once more, with a group of %i bits", async (bits) => {
    const server = await serve(dhe(bits), (socket) => socket.end("hello"));
    const check = makeCheck(transport);
    const socket = await connect(server.port, check);
    expect([socket.authorized, socket.getCipher().name]).toEqual([true, "DHE-RSA-AES128-GCM-SHA256"]);
    expect(String(await once(socket, "data"))).toBe("hello");
    expect([server.connections(), check.phases]).toEqual([2, TWO_CONNECTIONS]);
  });

  it.each([4_112, 8_192, 10_000])("is refused with a group of %i bits, in words of its own", async (bits) => {
    const server = await serve(dhe(bits));
    expect(await failureOf(connect(server.port))).toBe(
      "handshake-failed: The server wants a Diffie-Hellman group of more than 4096 bits",
    );
    expect(server.connections()).toBe(2);
  });

  it("has its certificate judged as any other", async () => {
    const server = await serve(dhe(2_048));
    expect(await failureOf(connect(server.port, makeCheck(transport), { servername: "other.dev" }))).toBe(
      "cert-invalid: The certificate is for another name",
    );
  });

  it("is heard to its end, also where the reader is slower than the server", async () => {
    const size = 3_000_000;
    const server = await serve(dhe(2_048), (socket) => socket.end(Buffer.alloc(size, 7)));
    const socket = await connect(server.port);
    let heard = 0;
    for await (const bytes of socket as AsyncIterable<Buffer>) {
      heard += bytes.length;
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(heard).toBe(size);
  });

  it("hears what is sent, and the end of it", async () => {
    let size = 0;
    let ended = (): void => {};
    const hasEnded = new Promise<void>((resolve) => {
      ended = resolve;
    });
    const server = await serve(dhe(2_048), (socket) => {
      socket.on("data", (bytes) => {
        size += bytes.length;
      });
      socket.once("end", ended);
    });
    const socket = await connect(server.port);
    socket.end(Buffer.alloc(1_000_000, 1));
    await hasEnded;
    expect(size).toBe(1_000_000);
  });

  it("ends with the check", async () => {
    const server = await serve(dhe(2_048));
    const check = makeCheck(transport);
    const socket = await connect(server.port, check);
    const closed = new Promise((resolve) => socket.once("close", resolve));
    check.expire();
    await closed;
    expect([socket.destroyed, socket.errored?.name]).toEqual([true, "DeadlinePassed"]);
  });

  it.each(["end", "reset"] as const)("tells of the server's %s", async (how) => {
    const server = await serve(dhe(2_048), (socket) =>
      socket.once("data", () => (how === "end" ? socket.end() : server.reset())),
    );
    const socket = await connect(server.port);
    const closed = new Promise((resolve) => socket.once("close", resolve));
    socket.resume().write("question");
    await closed;
    expect(socket.errored === null ? "end" : classify(socket.errored, "request").verdict).toBe(
      how === "end" ? "end" : "closed",
    );
  });
});

describe("a server that refuses the hello", () => {
  it("is asked twice and not more, and its alert is what counts", async () => {
    const server = await serveBytes(() => alert(40));
    const check = makeCheck(transport);
    expect(await failureOf(connect(server.port, check))).toMatch(/^handshake-failed: .*handshake failure/);
    expect([server.connections(), check.phases]).toEqual([2, TWO_CONNECTIONS]);
  });

  it("keeps its alert when the second connection only ends", async () => {
    const server = await serveBytes((connection) => (connection === 1 ? alert(40) : Buffer.alloc(0)));
    expect(await failureOf(connect(server.port))).toMatch(/^handshake-failed: .*handshake failure/);
    expect(server.connections()).toBe(2);
  });

  it("is asked once after any other alert, without TLS, and without an answer", async () => {
    for (const answer of [alert(70), alert(71), alert(112), Buffer.from("HTTP/1.1 400 Bad\r\n\r\n"), Buffer.alloc(0)]) {
      const server = await serveBytes(() => answer);
      expect(await failureOf(connect(server.port))).toMatch(/^(handshake-failed|closed): /);
      expect(server.connections()).toBe(1);
    }
  });

  it("is asked once where it wants a client's certificate, which it says with the same alert later", async () => {
    const server = await serve({ maxVersion: "TLSv1.2", requestCert: true, rejectUnauthorized: true });
    expect(await failureOf(connect(server.port))).toMatch(/^handshake-failed: .*handshake failure/);
    expect(server.connections()).toBe(1);
  });

  it("is left when the check ends during the second connection", async () => {
    const check = makeCheck(transport);
    const server = await serveBytes((connection) => {
      if (connection === 2) check.expire();
      return alert(40);
    });
    expect(await failureOf(connect(server.port, check))).toMatch(/^timeout: /);
  });
});

it("a server whose handshake never ends is left", async () => {
  // HelloRequest (RFC 5246 section 7.4.1.1), which OpenSSL passes over.
  const requests = Buffer.alloc(9 * 5_000, Buffer.from([22, 3, 3, 0, 4, 0, 0, 0, 0]));
  const peer = await openTcpPeer((socket) => {
    const send = (): void => {
      while (!socket.destroyed && socket.write(requests));
    };
    socket.on("drain", send);
    socket.once("data", send);
  });
  closers.push(() => peer.close());
  expect(await failureOf(connect(peer.port))).toContain("The server sends more than a TLS handshake has");
});
