import { describe, expect, it } from "vitest";
import { monitorOf } from "../fixtures.suite.ts";
import { createInputReader } from "./check-inputs.ts";

const login = { host: "oc.test-site.org", username: "ada", password: "pw" };
const faults: unknown[] = [];
/** Says where it was opened, as the store's seals insist on it. */
const opened: string[] = [];
const read = createInputReader(
  ({ column, row }, sealed) => {
    if (sealed === "broken") throw new Error("another key");
    opened.push(`${column} ${row}`);
    return sealed;
  },
  (protocol, identity) => `${protocol} ${identity}`,
  (error) => faults.push(error),
);
const tunnel = (sealed: string, kind: "openconnect" | "vless" = "openconnect") =>
  monitorOf({ kind, settings: {}, sealed });

describe("createInputReader", () => {
  it("takes a tunnel's fields out of their seal, with the account at its server", () => {
    const one = read(tunnel(JSON.stringify(login)));
    expect(one).toEqual({ settings: login, identity: expect.stringMatching(/^openconnect [\w-]{43}$/) });
    expect(read(tunnel(JSON.stringify(login))).identity).toBe(one.identity);
    // Another who knows the name alone, and sends it to an address of his own, takes no turn from its owner.
    const other = { ...login, password: "guessed", ip: "198.51.99.7" };
    expect(read(tunnel(JSON.stringify(other))).identity).not.toBe(one.identity);
    expect(read(tunnel(JSON.stringify({ ...login, username: "bob" }))).identity).not.toBe(one.identity);
    expect(read(tunnel(JSON.stringify({ ...login, host: "b.test-site.org" }))).identity).not.toBe(one.identity);
    expect(JSON.stringify(one.identity)).not.toContain("ada");
  });

  it("has a fault of ours for what cannot be opened, and leaves to the probe what cannot be parsed any more", () => {
    expect(read(tunnel("broken"))).toMatchObject({
      settings: {},
      identity: null,
      fault: expect.stringContaining("sealing key"),
    });
    expect(read(tunnel("{"))).toMatchObject({ fault: expect.any(String) });
    expect(read(tunnel('{"host":"h"}'))).toEqual({ settings: { host: "h" }, identity: null });
    expect(read(tunnel('{"url":"x"}', "vless"))).toEqual({ settings: { url: "x" }, identity: null });
    expect(read(monitorOf({ kind: "vless", settings: {} }))).toMatchObject({
      fault: "The monitor has no configuration",
    });
  });

  it("takes the configs of an imported server, each out of its seal and for the engine that its subscription asks for", () => {
    const configs = [
      { id: 3, kind: "vless", identity: "a", sealed: '{"url":"vless://a"}' },
      { id: 4, kind: "trojan", identity: "b", sealed: "broken" },
    ] as const;
    expect(read(monitorOf({ kind: "vless", settings: {}, configs }))).toEqual({
      settings: {},
      identity: null,
      configs: [
        { id: 3, kind: "vless", settings: { url: "vless://a" } },
        { id: 4, kind: "trojan", settings: {}, fault: expect.stringContaining("sealing key") },
      ],
    });
    const forOne = monitorOf({ kind: "vless", settings: {}, configs, subscriptionEngines: "singbox" });
    expect(read(forOne).configs?.[0]?.settings).toEqual({ url: "vless://a", engine: "singbox" });
    expect(read({ ...forOne, subscriptionEngines: "both" }).configs?.[0]?.settings).toEqual({ url: "vless://a" });
  });

  it("opens each secret at the row that it belongs to, and tells of what does not open", () => {
    opened.length = 0;
    faults.length = 0;
    const url = "https://***@www.test-site.org/?***";
    const whole = "https://ada:pw@www.test-site.org/?token=1";
    read(monitorOf({ id: 7, kind: "openconnect", settings: {}, sealed: "{}" }));
    read(monitorOf({ id: 8, settings: { url }, urlSealed: whole }));
    const configs = [{ id: 3, kind: "vless", identity: "a", sealed: "{}" }] as const;
    read(monitorOf({ id: 9, projectId: 5, kind: "vless", settings: {}, configs }));
    expect(opened).toEqual(["monitors.sealed 7", "monitors.url_sealed 8", "imported_configs.sealed 5 a"]);
    expect(faults).toEqual([]);
    expect(read(monitorOf({ settings: { url }, urlSealed: "broken" }))).toMatchObject({
      fault: expect.stringContaining("sealing key"),
    });
    expect(faults).toEqual([new Error("another key")]);
  });

  it("hands over a website's whole address, unless a later one was written in clear by an earlier version", () => {
    const urlSealed = "https://ada:pw@www.test-site.org/a?token=1";
    const inputOf = (url: string): unknown => read(monitorOf({ settings: { url }, urlSealed })).settings.url;
    expect(inputOf("https://***@www.test-site.org/a?***")).toBe(urlSealed);
    for (const later of [
      "https://bob:pw@www.test-site.org/a?b",
      "https://www.test-site.org/",
      "https://***@x.test-site.org/",
    ])
      expect(inputOf(later)).toBe(later);
  });

  it("hands over the settings of uptime checks, with what their host shares", () => {
    expect(read(monitorOf({ settings: { url: "u" }, domainExpirationDays: 7 }))).toEqual({
      settings: { url: "u", domain_expiration: 7 },
      identity: null,
    });
  });
});
