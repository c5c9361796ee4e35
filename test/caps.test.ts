/** The caps that an operator sets hold in the whole service: at one host, for one workspace. Judged by what the target has open. */
import { createServer } from "node:http";
import { afterAll, expect, it } from "vitest";
import { listen } from "../demo/loopback.ts";
import { createMonitor, startProduct } from "./product.ts";
import { cleanUp, eventually } from "./service.ts";

const CAPS = { perHost: 2, perWorkspace: 3 };
const MONITORS_A_HOST = 4;

afterAll(cleanUp);

/** A website that never answers, and how many requests it has open and had at most: of each name that it is asked by, and of all. */
async function startSilent() {
  const open = new Map<string, number>();
  const most = new Map<string, number>();
  const add = (name: string, count: number): void => {
    const now = (open.get(name) ?? 0) + count;
    open.set(name, now);
    most.set(name, Math.max(most.get(name) ?? 0, now));
  };
  const server = createServer((request) => {
    const names = [request.headers.host?.split(":")[0] ?? "", "all"];
    for (const name of names) add(name, 1);
    request.socket.once("close", () => {
      for (const name of names) add(name, -1);
    });
  });
  const port = await listen(server);
  const close = (): void => {
    server.closeAllConnections();
    server.close();
  };
  return { port, most, close };
}

it("no more checks are in flight than the caps of a host and of a workspace allow", { timeout: 90_000 }, async () => {
  const target = await startSilent();
  try {
    const product = await startProduct({
      env: { SONDE_CHECKS_PER_HOST: String(CAPS.perHost), SONDE_CHECKS_PER_WORKSPACE: String(CAPS.perWorkspace) },
    });
    for (const host of ["127.0.0.1", "localhost"]) {
      for (let index = 0; index < MONITORS_A_HOST; index += 1) {
        const url = `http://${host}:${target.port}/${index}`;
        await createMonitor(product.api, { type: "http", name: "silent", url, interval: 1, timeout: 10 });
      }
    }
    const most = (name: string): number => target.most.get(name) ?? 0;
    // Whichever host is served first has all of its places, and the other what the workspace has left.
    await eventually(async () => {
      const reached = Math.max(most("127.0.0.1"), most("localhost"));
      return reached >= CAPS.perHost && most("all") >= CAPS.perWorkspace ? true : undefined;
    }, 60_000);
    expect(Math.max(most("127.0.0.1"), most("localhost"))).toBe(CAPS.perHost);
    expect(most("all")).toBe(CAPS.perWorkspace);
    expect(await product.stop()).toBe(0);
  } finally {
    target.close();
  }
});
