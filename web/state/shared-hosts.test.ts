import { describe, expect, it } from "vitest";
import type { Schemas } from "../api/client.ts";
import { hostsOf, sharedHosts } from "./shared-hosts.ts";

const incident = (id: string, server: string) => ({ id, server_id: server }) as Schemas["IncidentRow"];
const monitor = (fields: object) => fields as Schemas["Monitor"];

describe("hosts that incidents share", () => {
  it("are read from addresses, names and configurations", () => {
    expect(hostsOf(monitor({ host: "db.test-site.org" }))).toEqual(["db.test-site.org"]);
    expect(hostsOf(monitor({ host: null, url: "https://shop.test-site.org:8443/a" }))).toEqual(["shop.test-site.org"]);
    expect(hostsOf(monitor({ url: "no address" }))).toEqual([]);
    const configs = [{ server: "de7.test-site.org" }, { server: "de7.test-site.org" }, { server: "203.0.113.9" }];
    expect(hostsOf(monitor({ subscription: { configs } }))).toEqual(["de7.test-site.org", "203.0.113.9"]);
  });

  it("are told once, the largest first, and not of one monitor alone", () => {
    const incidents = [
      incident("a", "1"),
      incident("b", "2"),
      incident("c", "3"),
      incident("d", "4"),
      incident("e", "4"),
    ];
    const hosts = new Map([
      ["1", ["x"]],
      ["2", ["x", "y", "z"]],
      ["3", ["y", "z", "x"]],
      ["4", ["alone"]],
    ]);
    const told = sharedHosts(incidents, hosts).map(({ host, incidents: rows }) => [
      host,
      rows.map(({ id }) => id).join(""),
    ]);
    expect(told).toEqual([
      ["x", "abc"],
      ["y", "bc"],
    ]);
  });
});
