import { describe, expect, it } from "vitest";
import type { CheckSpec } from "../engine/contract/messages.ts";
import { InFlight } from "./in-flight.ts";

const SPEC: CheckSpec = { key: 7, kind: "http", settings: { url: "http://site.test/" }, timeoutMs: 1_000 };
const MINUTE_MS = 60_000;

describe("InFlight", () => {
  it("knows a spec again by its scheduler's name for it, and keeps those of two schedulers apart", () => {
    const inFlight = new InFlight<string>();
    const first = inFlight.define("a 7", SPEC, 0);
    expect(first).toEqual({ spec: { ...SPEC, key: first.spec.key }, isNew: true });
    expect(inFlight.define("a 7", SPEC, 1)).toEqual({ spec: first.spec, isNew: false });
    const other = inFlight.define("b 7", SPEC, 1);
    expect([other.isNew, other.spec.key === first.spec.key]).toEqual([true, false]);
    expect(inFlight.nextKey()).not.toBe(other.spec.key);
  });

  it("forgets a spec that no run named for ten minutes, and asks for it again", () => {
    const inFlight = new InFlight<string>();
    const old = inFlight.define("a 1", SPEC, 0);
    const kept = inFlight.define("a 2", SPEC, 0);
    inFlight.define("a 2", SPEC, 5 * MINUTE_MS);
    expect(inFlight.sweep(10 * MINUTE_MS)).toEqual([old.spec.key]);
    expect(inFlight.define("a 1", SPEC, 10 * MINUTE_MS).isNew).toBe(true);
    expect(inFlight.define("a 2", SPEC, 10 * MINUTE_MS)).toEqual({ spec: kept.spec, isNew: false });
  });

  it("never remembers more than its bound", () => {
    const inFlight = new InFlight<string>();
    for (let at = 0; at < 50_100; at++) inFlight.define(`a ${at}`, SPEC, 0);
    expect(inFlight.sweep(0)).toHaveLength(100);
  });

  it("gives every run a number of its own", () => {
    const inFlight = new InFlight<string>();
    const ids = [inFlight.begin("one"), inFlight.begin("two")];
    expect(ids.map((id) => inFlight.find(id))).toEqual(["one", "two"]);
    inFlight.end(ids[0] ?? 0);
    expect([inFlight.inFlight, inFlight.find(ids[0] ?? 0)]).toEqual([1, undefined]);
  });
});
