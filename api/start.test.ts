import { describe, expect, it, vi } from "vitest";
import { openWorld } from "./testing/world.suite.ts";

describe("where uWebSockets.js does not load", () => {
  it("serves with node:http and says so", async () => {
    vi.doMock("./server.ts", () => {
      throw new Error("GLIBC_2.38 not found\nand more");
    });
    const world = await openWorld("uws", { httpServer: null });
    expect(world.api.server).toBe("node");
    expect((await world.send("GET", "/api/v1/servers")).status).toBe(200);
    expect(world.log.join("")).toContain("uWebSockets.js does not load here; serving with node:http");
    await world.close();
    await expect(openWorld("uws")).rejects.toThrow();
    vi.doUnmock("./server.ts");
  });

  it("says at the start which proxy entry is wrong", async () => {
    await expect(openWorld("node", { trustedProxies: ["10.0.0.0/64"] })).rejects.toThrow(
      "SONDE_TRUSTED_PROXIES: 10.0.0.0/64",
    );
  });
});
