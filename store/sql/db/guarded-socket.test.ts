/** What answers at SONDE_DATABASE_URL may be no PostgreSQL: our process goes on, and the operator reads what it is. */
import { createServer } from "node:net";
import { expect, it } from "vitest";
import { listen } from "../../../demo/loopback.ts";
import { openPostgres } from "./postgres.ts";

const message = (code: string, body: readonly number[]): Buffer => {
  const bytes = Buffer.alloc(5 + body.length);
  bytes.write(code, 0, "latin1");
  bytes.writeInt32BE(4 + body.length, 1);
  Buffer.from(body).copy(bytes, 5);
  return bytes;
};
const READY = Buffer.concat([message("R", [0, 0, 0, 0]), message("Z", [0x49])]);

it("answers that the driver cannot read end the connection, not the process", async () => {
  for (const [greeting, answer] of [
    [message("R", [0, 0, 0, 99]), null],
    [READY, message("T", [0x7f, 0xff])],
    [READY, message("D", [0x7f, 0xff, 0, 0, 0, 1, 65])],
    [READY, Buffer.from([0x44, 0, 0, 0, 0, 0x44, 0, 0, 0, 0])],
  ] as const) {
    const server = createServer((socket) => {
      socket.on("error", () => {});
      let isGreeted = false;
      socket.on("data", () => {
        if (isGreeted && answer !== null) return void socket.write(answer);
        isGreeted = true;
        socket.write(greeting);
      });
    });
    const port = await listen(server, "127.0.0.1");
    const opening = openPostgres(`postgres://u:p@127.0.0.1:${port}/x?sslmode=disable`, "expect", "beat");
    await expect(opening).rejects.toThrow(/its answer is not PostgreSQL's/);
    server.close();
  }
});
