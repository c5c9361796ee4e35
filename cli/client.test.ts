import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, it } from "vitest";
import { connect } from "./client.ts";

it("asks again when a read is told to come again, and gives up in the end; a change is sent once", async () => {
  const asked: string[] = [];
  let busyTimes = 2;
  const server = createServer((request, response) => {
    asked.push(request.method ?? "");
    busyTimes -= 1;
    const isBusy = busyTimes >= 0;
    response.writeHead(isBusy ? 503 : 200, { "Content-Type": "application/json" });
    response.end(
      JSON.stringify(isBusy ? { error: true, code: 503, message: "busy", retry_after: 0 } : { servers: [] }),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  try {
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const client = await connect({ url, key: "uk1_x", project: "prj_1" });
    expect(await client.get("/servers")).toEqual({ servers: [] });
    expect(asked.splice(0)).toEqual(["GET", "GET", "GET"]);
    busyTimes = 100;
    await expect(client.get("/servers")).rejects.toThrow("GET /servers was answered 503: busy");
    expect(asked.splice(0)).toHaveLength(6);
    await expect(client.post("/servers", {})).rejects.toThrow("503");
    expect(asked).toEqual(["POST"]);
  } finally {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
});
