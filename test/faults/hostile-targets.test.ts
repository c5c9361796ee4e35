/** Targets that mean harm, through the whole product: each gets the verdict it deserves within its deadline, and memory stays flat. */
import { randomBytes } from "node:crypto";
import { createSocket } from "node:dgram";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer, type Server, type Socket } from "node:net";
import { createGzip } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { bind, listen } from "../../demo/loopback.ts";
import { createMonitor, type Product, startProduct, untilStatus } from "../product.ts";
import { cleanUp, eventually } from "../service.ts";
import { type DnsTarget, startDns } from "../targets.ts";

const TIMEOUT_S = 10;
/** What ends a check may come late on a busy machine, ms. */
const SLACK_MS = 2_000;
const OK = "HTTP/1.1 200 OK\r\n";
/** Allowed to be dialled, and not. */
const OPEN = "127.0.0.1";
const CLOSED = "127.0.0.3";
const NAME = "moving.test-site.org";
/** Rounds of checks between two looks at memory, and what they may add to it. */
const ROUNDS = 15;
const GROWTH_MIB = 64;

const servers: Server[] = [];

async function openTarget(host: string, onSocket: (socket: Socket) => unknown): Promise<number> {
  const server = createServer((socket) => {
    socket.on("error", () => {});
    onSocket(socket);
  });
  servers.push(server);
  return listen(server, host);
}

/** Answers the first request. */
const raw = (answer: (socket: Socket) => unknown) =>
  openTarget(OPEN, (socket) => socket.once("data", () => answer(socket)));

/** Writes the piece for ever, as fast as it is taken. */
function flood(socket: Socket, piece: string | Buffer): void {
  const write = (): void => {
    while (!socket.destroyed && socket.write(piece));
  };
  socket.on("drain", write);
  write();
}

/** The text letter by letter, five a second; its last letter for ever. */
function drip(socket: Socket, text: string): void {
  let at = 0;
  const timer = setInterval(() => socket.write(text.charAt(Math.min(at++, text.length - 1))), 200);
  socket.once("close", () => clearInterval(timer));
}

function redirect(location: string): Promise<number> {
  return raw((socket) => socket.end(`HTTP/1.1 302 Found\r\nLocation: ${location}\r\nContent-Length: 0\r\n\r\n`));
}

/** Zeros without end: a thousand times as large as what is sent. */
function bomb(socket: Socket): void {
  socket.write(`${OK}Content-Encoding: gzip\r\n\r\n`);
  const gzip = createGzip();
  gzip.on("error", () => {});
  const zeros = Buffer.alloc(1 << 20);
  const feed = (): void => {
    while (!socket.destroyed && gzip.write(zeros));
  };
  gzip.on("drain", feed);
  gzip.pipe(socket);
  socket.once("close", () => gzip.destroy());
  feed();
}

/** Its question's name is a pointer to itself; as an answer it never ends. */
async function startLoopingDns(): Promise<{ port: number; close(): void }> {
  const socket = createSocket("udp4");
  socket.on("message", (query, from) => {
    const answer = Buffer.from(query);
    answer.writeUInt16BE(0x8180, 2);
    answer.writeUInt16BE(0xffff, 6);
    socket.send(Buffer.concat([answer, Buffer.from([0xc0, answer.length, 0xc0, 0x0c])]), from.port, from.address);
  });
  return { port: await bind(socket, OPEN), close: () => socket.close() };
}

interface Row {
  readonly status: string;
  readonly error_message: string | null;
  readonly explain: { readonly verdict: string; readonly duration_ms: number; readonly error_category: string | null };
}

describe("hostile targets", () => {
  let product: Product;
  let names: DnsTarget;
  let loops: { port: number; close(): void };
  let forbidden = 0;
  let forbiddenPort = 0;

  beforeAll(async () => {
    names = await startDns(OPEN);
    loops = await startLoopingDns();
    forbiddenPort = await openTarget(CLOSED, (socket) => {
      forbidden += 1;
      socket.end(`${OK}Content-Length: 0\r\n\r\n`);
    });
    product = await startProduct({
      env: { SONDE_ALLOW_NETS: `${OPEN}/32`, SONDE_RESOLVERS: `${OPEN}:${names.port}` },
    });
  });
  afterAll(async () => {
    await cleanUp();
    names.close();
    loops.close();
    for (const server of servers) server.close();
  });

  const common = { name: "Hostile", interval: 1, timeout: TIMEOUT_S, maxretries: 1 };
  const site = (port: number, scheme = "http") => ({ type: "http", url: `${scheme}://${OPEN}:${port}/`, ...common });
  const page = (port: number) => ({ ...site(port), type: "keyword", keyword: "never there" });

  async function rows(id: string): Promise<readonly Row[]> {
    const { body } = await product.api.get<{ results: Row[] }>(`/results/server/${id}?explain=1&limit=1000`);
    return body.results ?? [];
  }

  const residentMiB = (): number => {
    const kib = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${product.pid}/status`, "utf8"))?.[1];
    return Math.round(Number(kib) / 1_024);
  };

  it("get the right verdict within the deadline, and memory stays flat", { timeout: 180_000 }, async () => {
    const endlessHeaders = await raw((socket) => {
      socket.write(OK);
      flood(socket, `X-Filler: ${"x".repeat(1_000)}\r\n`);
    });
    const endlessLine = await raw((socket) => flood(socket, "x".repeat(16_384)));
    const endlessBody = await raw((socket) => {
      socket.write(`${OK}\r\n`);
      flood(socket, Buffer.alloc(65_536, "x"));
    });
    const endlessChunks = await raw((socket) => {
      socket.write(`${OK}Transfer-Encoding: chunked\r\n\r\n`);
      flood(socket, "1\r\nx\r\n".repeat(5_000));
    });
    const dripping = await raw((socket) => drip(socket, `${OK}X`));
    const drippingBody = await raw((socket) => {
      socket.write(`${OK}Content-Length: 1000000\r\n\r\n`);
      drip(socket, "x");
    });
    const garbage = await openTarget(OPEN, (socket) => flood(socket, randomBytes(16_384)));
    const silence = await openTarget(OPEN, () => {});
    const loop = await openTarget(OPEN, (socket) => {
      const location = `http://${OPEN}:${socket.localPort}/again`;
      socket.once("data", () => socket.end(`HTTP/1.1 302 Found\r\nLocation: ${location}\r\nContent-Length: 0\r\n\r\n`));
    });
    const cases: Record<
      string,
      readonly [body: Record<string, unknown>, verdicts: readonly string[], category: string]
    > = {
      "endless headers": [site(endlessHeaders), ["protocol-error"], "rejected"],
      "a status line without end": [site(endlessLine), ["protocol-error"], "rejected"],
      "an endless body": [page(endlessBody), ["rejected"], "rejected"],
      "endless chunks": [page(endlessChunks), ["rejected"], "rejected"],
      "a bomb": [page(await raw(bomb)), ["rejected"], "rejected"],
      "a drip": [site(dripping), ["timeout"], "timeout"],
      "a drip of a body": [page(drippingBody), ["timeout"], "timeout"],
      "garbage instead of TLS": [
        site(garbage, "https"),
        ["handshake-failed", "protocol-error"],
        "server_not_connected",
      ],
      "silence instead of TLS": [site(silence, "https"), ["timeout"], "server_not_connected"],
      "a redirect loop": [site(loop), ["rejected"], "rejected"],
      "a redirect to a private address": [site(await redirect("http://10.0.0.1/")), ["misconfigured"], "config_error"],
      "a redirect to a disguised one": [
        site(await redirect("http://[::ffff:a9fe:a9fe]/")),
        ["misconfigured"],
        "config_error",
      ],
      "a redirect to a forbidden one": [
        site(await redirect(`http://${CLOSED}:${forbiddenPort}/`)),
        ["misconfigured"],
        "config_error",
      ],
      "a redirect to ourselves": [
        site(await redirect(`${product.url}/api/v1/health`)),
        ["misconfigured"],
        "config_error",
      ],
      "a redirect to another protocol": [
        site(await redirect("file:///etc/passwd")),
        ["rejected", "protocol-error", "misconfigured"],
        "",
      ],
      "a DNS answer that loops": [
        { type: "dns", domain: "a.test-site.org", host: OPEN, port: loops.port, ...common },
        ["protocol-error", "rejected", "timeout"],
        "",
      ],
    };
    const ids = new Map<string, string>();
    for (const [what, [body]] of Object.entries(cases)) ids.set(what, await createMonitor(product.api, body));
    const flooding = await createMonitor(product.api, site(endlessBody));
    const seen: Record<string, string> = {};
    for (const [what, id] of ids) {
      const [, verdicts, category] = cases[what] ?? [{}, [], ""];
      await untilStatus(product.api, id, "down", 40_000);
      // Rows that a busy machine made `unfit` say nothing about the target.
      const [row] = await eventually(async () => {
        const found = (await rows(id)).filter(({ status }) => status === "down");
        return found.length > 0 ? found : undefined;
      });
      seen[what] = `${row?.explain.verdict} in ${row?.explain.duration_ms} ms: ${row?.error_message}`;
      expect(verdicts, what).toContain(row?.explain.verdict);
      if (category !== "") expect(row?.explain.error_category, what).toBe(category);
      expect(row?.explain.duration_ms, what).toBeLessThan(TIMEOUT_S * 1_000 + SLACK_MS);
      expect(row?.error_message, what).not.toBeNull();
    }
    // Its status is all that a website check asks of it.
    await untilStatus(product.api, flooding, "healthy");
    expect(forbidden).toBe(0);
    console.info(seen);

    const before = residentMiB();
    const from = (await rows(flooding)).length;
    await eventually(async () => ((await rows(flooding)).length >= from + ROUNDS ? true : undefined), 60_000);
    const after = residentMiB();
    console.info(`memory of the service: ${before} MiB, ${after} MiB after ${ROUNDS} more rounds`);
    expect(after - before).toBeLessThan(GROWTH_MIB);
    for (const id of [...ids.values(), flooding]) await product.api.remove(`/servers/${id}`);
  });

  it("are not dialled when their name moves to a private address between two checks", { timeout: 60_000 }, async () => {
    const body = { ...common, type: "http", url: `http://${NAME}:${forbiddenPort}/` };
    let allowed = 0;
    const twin = createServer((socket) => {
      allowed += 1;
      socket.on("error", () => {});
      socket.once("data", () => socket.end(`${OK}Content-Length: 0\r\n\r\n`));
    });
    servers.push(twin);
    // The same port on the address that is open.
    twin.listen(forbiddenPort, OPEN);
    await once(twin, "listening");
    const id = await createMonitor(product.api, body);
    await untilStatus(product.api, id, "healthy");
    expect(allowed).toBeGreaterThan(0);
    for (const address of [CLOSED, "10.0.0.1", "169.254.169.254"]) {
      names.answer(address);
      await untilStatus(product.api, id, "down");
      names.answer(OPEN);
      await untilStatus(product.api, id, "healthy");
    }
    const downs = await eventually(async () => {
      const found = (await rows(id)).filter(({ status }) => status === "down");
      return found.length >= 3 ? found : undefined;
    });
    expect(new Set(downs.map(({ explain }) => explain.verdict))).toEqual(new Set(["misconfigured"]));
    expect(forbidden).toBe(0);
  });
});
