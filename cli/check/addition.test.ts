import { describe, expect, it } from "vitest";
import { type AdditionOptions, addedKindNamed, additionOf } from "./addition.ts";
import { fieldOfWord } from "./field-words.ts";

const LINK = "vless://5ec2e700-1111-4222-8333-444455556666@vpn.test-site.org:443?security=tls#Berlin";
const KEY = "yAnz5TF+lXXJte14tji3zlMNq+hd2rYUIgJBgB3fBmk=";
const WG = `[Interface]\nPrivateKey = ${KEY}\nAddress = 10.0.0.2/32\n[Peer]\nPublicKey = ${KEY}\nEndpoint = vpn.test-site.org:51820\n`;

const NOTHING: AdditionOptions = {
  kind: null,
  name: null,
  intervalS: null,
  tags: [],
  fields: {},
  login: {},
  isList: async () => false,
};
const of = (text: string, options: Partial<AdditionOptions> = {}, file: string | null = null) =>
  additionOf({ text, file }, { ...NOTHING, ...options });

describe("what is added", () => {
  it.each([
    [
      "https://test-site.org/a?token=x",
      { type: "http", name: "test-site.org", url: "https://test-site.org/a?token=x" },
    ],
    ["test-site.org:22", { type: "port", name: "test-site.org:22", host: "test-site.org", port: 22 }],
    ["test-site.org", { type: "ping", name: "test-site.org", host: "test-site.org" }],
    [`${LINK}\n`, { type: "vpn", protocol: "vless", name: "Berlin", url: LINK }],
    [WG, { type: "vpn", protocol: "wireguard", name: "vpn.test-site.org:51820" }],
  ])("%j is read", async (text, body) => {
    expect(await of(text)).toMatchObject({ path: "/servers", body });
  });

  it("is a subscription where a list is behind the address, or the user says so", async () => {
    const url = "https://provider.test-site.org/sub/token";
    const isList = async () => true;
    const added = { path: "/subscriptions", kind: "subscription", body: { url, name: "Mine", syncIntervalSec: 600 } };
    const words = { name: "Mine", intervalS: 600 };
    expect(await of(url, { ...words, isList })).toEqual(added);
    expect(await of(url, { ...words, kind: "subscription" })).toEqual(added);
    await expect(of("hello", { kind: "subscription" })).rejects.toThrow("http or https");
  });

  it("is of the kind that is named", async () => {
    const page = "https://test-site.org/";
    const fields = Object.fromEntries(["keyword=welcome", "invert_keyword=true", "interval=20"].map(fieldOfWord));
    expect((await of(page, { kind: "keyword", fields, intervalS: 5, tags: ["a"] })).body).toEqual({
      ...{ type: "keyword", name: "test-site.org", url: page, keyword: "welcome", invert_keyword: true },
      ...{ interval: 20, tags: ["a"] },
    });
    expect((await of("test-site.org", { kind: "dns" })).body).toMatchObject({ type: "dns", domain: "test-site.org" });
    expect((await of("test-site.org:443", { kind: "tls" })).body).toMatchObject({ type: "tls", host: "test-site.org" });
    const login = { username: "ada", password: "x" };
    expect((await of("gw.test-site.org", { kind: "openconnect", login })).body).toMatchObject({
      ...{ type: "vpn", protocol: "openconnect", host: "gw.test-site.org", username: "ada", password: "x" },
    });
    expect((await additionOf(null, { ...NOTHING, kind: "push", name: "Job" })).body).toEqual({
      type: "push",
      name: "Job",
    });
  });

  it("is called as its file, where it has no name", async () => {
    expect((await of(WG, {}, "/etc/vpn/office.conf")).body).toMatchObject({ name: "office" });
    expect((await of(LINK, {}, "/etc/vpn/office.txt")).body).toMatchObject({ name: "Berlin" });
    expect((await of(WG, { name: "Mine" }, "/etc/vpn/office.conf")).body).toMatchObject({ name: "Mine" });
  });

  it("or what is wrong is said", async () => {
    await expect(of("")).rejects.toThrow("nothing to check");
    await expect(of("x", { kind: "push" })).rejects.toThrow("push needs no address");
    await expect(of("", { kind: "dns" })).rejects.toThrow("dns needs its domain");
    await expect(of(`${LINK}\n${LINK}2`)).rejects.toThrow("more than one configuration");
    expect(() => addedKindNamed("gopher")).toThrow("--kind must be");
    expect(() => addedKindNamed("constructor")).toThrow("--kind must be");
    expect(addedKindNamed("VLESS")).toBe("vless");
  });
});
