import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { openWorld } from "../testkit/api/world.suite.ts";

describe("where uWebSockets.js is refused", () => {
  it("serves with node:http and says so in the log, in what the start prints and in the metrics", async () => {
    const uws = { path: fileURLToPath(import.meta.url), sha256: "0".repeat(64) };
    const world = await openWorld("uws", { httpServer: null, uws });
    expect(world.api.server).toBe("node");
    expect(world.api.refused).toMatch(/^start\.test\.ts has SHA-256 [0-9a-f]{64}, and 0{64} was expected$/);
    expect((await world.send("GET", "/api/v1/servers")).status).toBe(200);
    expect((await world.send("GET", "/metrics", { key: null })).text).toContain('sonde_http_server{kind="node"} 1\n');
    expect(world.log.join("")).toContain("uWebSockets.js is not used; serving with node:http");
    await world.close();
  });

  it("does not start where SONDE_HTTP insists on it", async () => {
    const uws = { path: "/nowhere/uws.node", sha256: "0".repeat(64) };
    await expect(openWorld("uws", { uws })).rejects.toThrow(
      "uWebSockets.js is not used: /nowhere/uws.node cannot be read (ENOENT); set SONDE_HTTP=node to serve without it",
    );
  });

  it("says at the start which proxy entry is wrong", async () => {
    await expect(openWorld("node", { trustedProxies: ["10.0.0.0/64"] })).rejects.toThrow(
      "SONDE_TRUSTED_PROXIES: 10.0.0.0/64",
    );
  });
});
