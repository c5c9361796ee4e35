/** Answers that go on: many readers, readers that stop reading, readers that vanish, and a server that stops. */
import { connect, type Socket } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import type { ApiAnswer, HttpServer, ListenOptions, StreamSink } from "../../api/http.ts";
import { SSE_BEAT, SSE_HEADERS } from "../../api/sse.ts";
import { MAX_WAITING_BYTES } from "../../api/stream-sink.ts";

const READERS = 1_000;
/** What is silent for 10 s ends; some of the cases wait for that twice. */
const PATIENCE_MS = 90_000;
const HOUR_MS = 3_600_000;
/** More than the kernel keeps for a connection. */
const MUCH_BYTES = 20 * 2 ** 20;
const LINE_BYTES = 1_024;

interface Stream {
  readonly sink: StreamSink;
  readonly ended: Promise<void>;
}

/** @param listen one of the two servers */
export function streamsSuite(listen: (options: ListenOptions) => Promise<HttpServer>): void {
  describe("streams", () => {
    const sockets: Socket[] = [];
    let server: HttpServer | null = null;
    let opened: Stream[] = [];
    let onOpen: ((stream: Stream) => void) | null = null;
    let before: Promise<void> | null = null;

    const start = async (options: Partial<ListenOptions> = {}): Promise<number> => {
      opened = [];
      onOpen = null;
      before = null;
      server = await listen({
        host: "127.0.0.1",
        port: 0,
        bodyTimeoutMs: 10_000,
        answerTimeoutMs: 10_000,
        stallTimeoutMs: HOUR_MS,
        lingerMs: 0,
        drainTimeoutMs: 1_000,
        async handle({ path }): Promise<ApiAnswer> {
          if (path !== "/stream") return { status: 200, headers: [], body: "short" };
          await before;
          return { status: 200, headers: SSE_HEADERS, open, farewell: () => "bye\n" };
        },
        ...options,
      });
      return server.port;
    };
    const open = (sink: StreamSink): (() => void) => {
      let end = (): void => {};
      const stream = { sink, ended: new Promise<void>((settle) => (end = settle)) };
      opened.push(stream);
      onOpen?.(stream);
      return end;
    };
    const nextOpen = (): Promise<Stream> => new Promise((settle) => (onOpen = settle));
    const reader = async (port: number, method = "GET"): Promise<Reader> => {
      const one = await readerOf(port, `${method} /stream HTTP/1.1\r\nHost: a\r\n\r\n`);
      sockets.push(one.socket);
      return one;
    };
    afterEach(async () => {
      for (const socket of sockets.splice(0)) socket.destroy();
      await server?.close();
      server = null;
    });

    it("sends what is written, when it is written, and ends when the writer does", async () => {
      const port = await start();
      const opening = nextOpen();
      const { text } = await reader(port);
      const { sink, ended } = await opening;
      expect(sink.write("one\n")).toBe(true);
      await text.has("one\n");
      sink.write(SSE_BEAT);
      sink.write("zwei é 中\n");
      await text.has("zwei é 中\n");
      sink.end();
      sink.write("late");
      await ended;
      await text.has("\r\n0\r\n\r\n");
      expect(text.all()).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
      expect(text.all()).toMatch(/\r\ncontent-type: text\/event-stream\r\n/i);
      expect(text.all()).toMatch(/\r\nconnection: close\r\n/i);
      expect(text.all()).not.toMatch(/late|content-length/i);
    });

    it(
      `serves ${READERS} readers at once, and others beside them`,
      async () => {
        const port = await start();
        const readers: Reader[] = [];
        while (readers.length < READERS) {
          readers.push(...(await Promise.all(Array.from({ length: 100 }, () => reader(port)))));
        }
        await until(() => opened.length === READERS);
        for (let round = 0; round < 5; round++) for (const { sink } of opened) sink.write(`round ${round}\n`);
        await Promise.all(readers.map(({ text }) => text.has("round 4\n")));
        expect(await plain(port)).toMatch(/short$/);
        for (const { socket } of readers) socket.destroy();
        await Promise.all(opened.map(({ ended }) => ended));
      },
      PATIENCE_MS,
    );

    it(
      "ends a reader that never reads, and no other",
      async () => {
        const port = await start({ stallTimeoutMs: 500 });
        const opening = nextOpen();
        const good = await reader(port);
        const other = await opening;
        const { sink, ended } = await silentOn(port);
        // Within the bound of what may wait, so that time alone ends it.
        keepFull(sink);
        other.sink.write("meanwhile\n");
        await good.text.has("meanwhile\n");
        await ended;
        expect(sink.write("x")).toBe(false);
        other.sink.write("afterwards\n");
        await good.text.has("afterwards\n");
      },
      PATIENCE_MS,
    );

    it("bounds what waits for a reader, whatever the writer writes", async () => {
      const port = await start();
      const { sink, ended } = await silentOn(port);
      const rss = process.memoryUsage.rss();
      let written = 0;
      let isEnded = false;
      void ended.then(() => (isEnded = true));
      while (!isEnded && written < 50 * MUCH_BYTES) {
        sink.write("x".repeat(30_000));
        written += 30_000;
        await new Promise((settle) => setImmediate(settle));
      }
      expect(isEnded).toBe(true);
      expect(process.memoryUsage.rss() - rss).toBeLessThan(128 * 2 ** 20);
    });

    it("refuses to keep one text that is longer than what may wait", async () => {
      const port = await start();
      const { sink, ended } = await silentOn(port);
      sink.write("x".repeat(MUCH_BYTES + MAX_WAITING_BYTES));
      await ended;
    });

    it(
      "gives a slow reader everything in order while the writer holds back, down to the last byte",
      async () => {
        const port = await start();
        const opening = nextOpen();
        const slow = await reader(port);
        slow.socket.pause();
        const { sink } = await opening;
        const lines = Math.ceil(MUCH_BYTES / LINE_BYTES);
        let count = 0;
        let drains = 0;
        const more = (): void => {
          while (count < lines && sink.write(lineOf(count))) count += 1;
        };
        sink.onDrain(() => {
          drains += 1;
          count += 1;
          more();
        });
        more();
        expect(sink.full).toBe(true);
        slow.socket.resume();
        await slow.text.has(lineOf(lines - 1));
        expect(drains).toBeGreaterThan(0);
        expect(slow.text.unchunked().trimEnd()).toBe(
          Array.from({ length: lines }, (_, index) => lineOf(index))
            .join("")
            .trimEnd(),
        );
      },
      PATIENCE_MS,
    );

    it(
      "lives on after it was full once, however long it is idle then",
      async () => {
        const port = await start();
        const opening = nextOpen();
        const slow = await reader(port);
        slow.socket.pause();
        const { sink } = await opening;
        await stalled(keepFull(sink), sink);
        const drained = new Promise<void>((settle) => sink.onDrain(settle));
        slow.socket.resume();
        await drained;
        sink.write("begin\n");
        await slow.text.has("begin\n");
        // Two connections that say nothing are ended in that time, one after the other.
        for (let count = 0; count < 2; count++) await silenceEnds(port);
        sink.write("still there\n");
        await slow.text.has("still there\n");
      },
      PATIENCE_MS,
    );

    it("stops when its reader hangs up, before it began and after", async () => {
      const port = await start();
      let release = (): void => {};
      before = new Promise((settle) => (release = settle));
      const early = await reader(port);
      expect(await plain(port)).toMatch(/short$/);
      early.socket.destroy();
      expect(await plain(port)).toMatch(/short$/);
      const opening = nextOpen();
      release();
      const first = await opening;
      await first.ended;
      before = null;
      const opening2 = nextOpen();
      const late = await reader(port);
      const second = await opening2;
      second.sink.write("x");
      late.socket.destroy();
      await second.ended;
      expect(second.sink.write("x")).toBe(false);
    });

    it("answers HEAD without a stream", async () => {
      const port = await start();
      const opening = nextOpen();
      const { text } = await reader(port, "HEAD");
      await text.has("\r\n\r\n");
      expect(text.all()).toMatch(/^HTTP\/1\.1 200/);
      await (await opening).ended;
    });

    it(
      "ends streams first when the server stops, also one that is not read, and waits for nothing else",
      async () => {
        const port = await start({ drainTimeoutMs: HOUR_MS });
        const opening = nextOpen();
        const { text } = await reader(port);
        (await opening).sink.write("hello\n");
        await text.has("hello\n");
        const silent = await silentOn(port);
        await stalled(keepFull(silent.sink), silent.sink);
        await server?.close();
        await text.has("bye\n");
        await Promise.all(opened.map(({ ended }) => ended));
      },
      PATIENCE_MS,
    );

    it("ends a stream at once that opens while the server stops", async () => {
      const port = await start({ drainTimeoutMs: HOUR_MS });
      let release = (): void => {};
      before = new Promise((settle) => (release = settle));
      const { text } = await reader(port);
      expect(await plain(port)).toMatch(/short$/);
      const closing = server?.close();
      release();
      await text.has("bye\n");
      await closing;
      await Promise.all(opened.map(({ ended }) => ended));
    });

    async function silentOn(port: number): Promise<Stream> {
      const opening = nextOpen();
      const { socket } = await reader(port);
      socket.pause();
      return opening;
    }
  });
}

/** Writes as much as the reader takes, and holds back then. @returns how much was written, bytes */
function keepFull(sink: StreamSink): () => number {
  let written = 0;
  const more = (): void => {
    do written += 20_000;
    while (sink.write("x".repeat(20_000)));
  };
  sink.onDrain(more);
  more();
  return () => written;
}

/** Once the kernel takes no more either. */
async function stalled(written: () => number, sink: StreamSink): Promise<void> {
  let before = 0;
  let still = 0;
  await until(() => {
    still = sink.full && written() === before ? still + 1 : 0;
    before = written();
    return still > 20;
  });
}

/** With its number, so that one that is lost or comes twice is seen. */
function lineOf(number: number): string {
  return `${String(number).padStart(LINE_BYTES - 1, ".")}\n`;
}

interface Reader {
  readonly socket: Socket;
  readonly text: Text;
  readonly ended: Promise<void>;
}

interface Text {
  all(): string;
  /** Without the lengths of chunks (RFC 9112 section 7.1). */
  unchunked(): string;
  /** Resolves once it has come. */
  has(part: string): Promise<void>;
}

function readerOf(port: number, request: string): Promise<Reader> {
  return new Promise((settle, fail) => {
    const socket = connect(port, "127.0.0.1");
    const parts: string[] = [];
    let tail = "";
    let wanted: { part: string; settle: () => void; fail: (error: Error) => void } | null = null;
    const look = (): void => {
      if (wanted === null || !tail.includes(wanted.part)) return;
      wanted.settle();
      wanted = null;
    };
    socket.setEncoding("utf8");
    socket.on("data", (chunk: string) => {
      parts.push(chunk);
      tail = (tail + chunk).slice(-200_000);
      look();
    });
    const ended = new Promise<void>((done) => {
      socket.once("close", () => {
        wanted?.fail(new Error(`the connection ended before ${JSON.stringify(wanted.part)}`));
        done();
      });
    });
    const text: Text = {
      all: () => parts.join(""),
      unchunked: () =>
        parts
          .join("")
          .replace(/^.*?\r\n\r\n/s, "\r\n")
          .replaceAll(/\r\n[0-9a-f]+\r\n/g, ""),
      has: (part) =>
        new Promise((done, broken) => {
          wanted = { part, settle: done, fail: broken };
          look();
        }),
    };
    socket.once("error", fail);
    socket.once("connect", () => {
      socket.on("error", () => {});
      socket.write(request);
      settle({ socket, text, ended });
    });
  });
}

async function silenceEnds(port: number): Promise<void> {
  const { ended } = await readerOf(port, "");
  await ended;
}

async function plain(port: number): Promise<string> {
  const { text, ended } = await readerOf(port, "GET /short HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
  await ended;
  return text.all();
}

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise((settle) => setTimeout(settle, 10));
}
