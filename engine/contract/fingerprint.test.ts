import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { configsOf, createFingerprint } from "./fingerprint.ts";
import type { CheckSpec } from "./messages.ts";

const fingerprint = createFingerprint("key");

describe("createFingerprint", () => {
  test("is the same in whatever order members are written, another for other values, kinds and keys", () => {
    const one = fingerprint({ kind: "openvpn", settings: { a: 1, b: { c: [1, 2], d: "x" } } });
    expect(one).toMatch(/^[\w-]{43}$/);
    expect(fingerprint({ kind: "openvpn", settings: { b: { d: "x", c: [1, 2] }, a: 1 } })).toBe(one);
    expect(fingerprint({ kind: "openvpn", settings: { a: 1, b: { c: [2, 1], d: "x" } } })).not.toBe(one);
    expect(fingerprint({ kind: "wireguard", settings: { a: 1, b: { c: [1, 2], d: "x" } } })).not.toBe(one);
    expect(createFingerprint("other")({ kind: "openvpn", settings: { a: 1, b: { c: [1, 2], d: "x" } } })).not.toBe(one);
  });

  test("survives the way over JSON, and differs where the JSON does", () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.dictionary(fc.string(), fc.jsonValue()), (a, b) => {
        const sent = JSON.parse(JSON.stringify(a)) as Record<string, unknown>;
        const turned = Object.fromEntries(Object.entries(sent).reverse());
        expect(fingerprint({ kind: "http", settings: turned })).toBe(fingerprint({ kind: "http", settings: sent }));
        const isSame = fingerprint({ kind: "http", settings: a }) === fingerprint({ kind: "http", settings: b });
        if (isSame) expect(JSON.parse(JSON.stringify(b))).toEqual(sent);
      }),
    );
  });
});

describe("configsOf", () => {
  test("are the spec itself, or the configs that it stands for; what has a fault is not run", () => {
    const spec: CheckSpec = { key: 1, kind: "http", settings: { url: "a" }, timeoutMs: 1 };
    expect(configsOf(spec)).toEqual([{ id: 0, kind: "http", settings: { url: "a" } }]);
    expect(configsOf({ ...spec, fault: "no" })).toEqual([]);
    const configs = [
      { id: 5, kind: "vless", settings: { x: 1 } },
      { id: 6, kind: "vmess", settings: {}, fault: "no" },
    ] as const;
    expect(configsOf({ ...spec, settings: {}, configs })).toEqual([configs[0]]);
  });
});
