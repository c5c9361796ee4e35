import { describe, expect, it } from "vitest";
import type { CheckSpec } from "../engine/check.ts";
import { CheckerDesk } from "./checker-desk.ts";

const SPEC: CheckSpec = { key: 7, kind: "http", settings: { url: "http://site.test/" }, timeoutMs: 1_000 };
const MINUTE_MS = 60_000;

describe("CheckerDesk", () => {
  it("knows a spec again by its scheduler's name for it, and keeps those of two schedulers apart", () => {
    const desk = new CheckerDesk<string>();
    const first = desk.define("a 7", SPEC, 0);
    expect(first).toEqual({ spec: { ...SPEC, key: first.spec.key }, isNew: true });
    expect(desk.define("a 7", SPEC, 1)).toEqual({ spec: first.spec, isNew: false });
    const other = desk.define("b 7", SPEC, 1);
    expect([other.isNew, other.spec.key === first.spec.key]).toEqual([true, false]);
    expect(desk.nextKey()).not.toBe(other.spec.key);
  });

  it("forgets a spec that no run named for ten minutes, and asks for it again", () => {
    const desk = new CheckerDesk<string>();
    const old = desk.define("a 1", SPEC, 0);
    const kept = desk.define("a 2", SPEC, 0);
    desk.define("a 2", SPEC, 5 * MINUTE_MS);
    expect(desk.sweep(10 * MINUTE_MS)).toEqual([old.spec.key]);
    expect(desk.define("a 1", SPEC, 10 * MINUTE_MS).isNew).toBe(true);
    expect(desk.define("a 2", SPEC, 10 * MINUTE_MS)).toEqual({ spec: kept.spec, isNew: false });
  });

  it("never remembers more than its bound", () => {
    const desk = new CheckerDesk<string>();
    for (let at = 0; at < 50_100; at++) desk.define(`a ${at}`, SPEC, 0);
    expect(desk.sweep(0)).toHaveLength(100);
  });

  it("gives every run a number of its own", () => {
    const desk = new CheckerDesk<string>();
    const ids = [desk.begin("one"), desk.begin("two")];
    expect(ids.map((id) => desk.find(id))).toEqual(["one", "two"]);
    desk.end(ids[0] ?? 0);
    expect([desk.inFlight, desk.find(ids[0] ?? 0)]).toEqual([1, undefined]);
  });
});
