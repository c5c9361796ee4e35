import { describe, expect, it } from "vitest";
import { openWorld } from "../testkit/api/world.suite.ts";

describe("the start of the API", () => {
  it.each(["net", "node"] as const)(
    "serves with what SONDE_HTTP says, %s, and tells it in the metrics",
    async (kind) => {
      const world = await openWorld(kind);
      expect(world.api.server).toBe(kind);
      const { text } = await world.send("GET", "/metrics", { key: null });
      expect(text).toContain(`sonde_http_server{kind="${kind}"} 1\n`);
      await world.close();
    },
  );

  it("says which proxy entry is wrong", async () => {
    await expect(openWorld("node", { trustedProxies: ["10.0.0.0/64"] })).rejects.toThrow(
      "SONDE_TRUSTED_PROXIES: 10.0.0.0/64",
    );
  });
});
