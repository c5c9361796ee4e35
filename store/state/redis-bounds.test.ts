/** What answers at SONDE_REDIS_URL may be no Redis, or a broken one: it takes neither the memory of our process nor its life, and the operator reads what it is. */
import { createServer, type Socket } from "node:net";
import { afterEach, expect, it } from "vitest";
import { listen } from "../../demo/loopback.ts";
import { connect, type Link } from "./redis.ts";

const MIB = 2 ** 20;

const ending: (() => void)[] = [];
afterEach(() => {
  for (const end of ending.splice(0).reverse()) end();
});

/** Greets as a Redis does; what it does after that is the test's. */
async function fakeRedis(onGet: (socket: Socket) => void): Promise<Link> {
  const server = createServer((socket) => {
    socket.on("error", () => {});
    socket.on("data", (bytes) => {
      const commands = bytes.toString("latin1").match(/^\*\d/gm) ?? [];
      if (/\bget\b/i.test(bytes.toString("latin1"))) onGet(socket);
      else socket.write("+OK\r\n".repeat(commands.length));
    });
  });
  const port = await listen(server, "127.0.0.1");
  ending.push(() => server.close());
  const link = await connect(`redis://127.0.0.1:${port}`);
  ending.push(() => link.redis.disconnect());
  return link;
}

const answered = (link: Link): Promise<string> =>
  link.run((redis) => redis.get("x")).then(String, (error: unknown) => (error as Error).message);

it("an answer that has no end is cut off before it fills the memory", async () => {
  const chunk = Buffer.alloc(MIB, "x");
  let sent = 0;
  let ended: () => void = () => {};
  const cut = new Promise<void>((resolve) => {
    ended = resolve;
  });
  const link = await fakeRedis((socket) => {
    socket.once("close", ended);
    socket.write("$4000000000\r\n");
    const more = (): void => {
      if (sent > 500 * MIB) return void socket.destroy();
      sent += MIB;
      socket.write(chunk, (error) => {
        if (error == null) more();
      });
    };
    more();
  });
  const first = answered(link);
  await cut;
  expect(await first).toMatch(/sends more than it was asked for|did not answer in time/);
  expect(sent).toBeLessThan(100 * MIB);
});

it("answers that end may be more together", async () => {
  const value = Buffer.concat([Buffer.from(`$${20 * MIB}\r\n`), Buffer.alloc(20 * MIB, "x"), Buffer.from("\r\n")]);
  const link = await fakeRedis((socket) => void socket.write(value));
  for (let n = 0; n < 5; n++) expect((await answered(link)).length).toBe(20 * MIB);
});

it("a connection that was closed for one answer works when it is made again", async () => {
  let asked = 0;
  const link = await fakeRedis((socket) => {
    asked += 1;
    if (asked > 1) socket.write("+fine\r\n");
    else socket.write(Buffer.concat([Buffer.from(`$${2 * MIB}\r\n`), Buffer.alloc(2 * MIB, "x")]));
  });
  link.allow(MIB);
  expect(await answered(link)).toContain("sends more than it was asked for");
  await expect.poll(() => answered(link), { timeout: 10_000 }).toBe("fine");
});

it("a member of a cluster, a Sentinel and a server of another kind are named", async () => {
  for (const [says, words] of [
    ["-MOVED 3999 127.0.0.1:6381\r\n", "is a node of a cluster"],
    ["-ERR unknown command 'GET', with args beginning with: 'x'\r\n", "lacks a command that Sonde needs"],
    ["-NOPERM User sonde has no permissions to run the 'get' command\r\n", "to run the 'get' command"],
    ["HTTP/1.1 400 Bad Request\r\n\r\n", "speaks no Redis protocol"],
  ] as const) {
    const link = await fakeRedis((socket) => socket.write(says));
    expect(await answered(link)).toContain(words);
  }
});
