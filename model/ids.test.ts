import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { assertProperty } from "../testkit/property.ts";
import { createResultIds, formatId, ID_PREFIXES, type IdKind, parseId } from "./ids.ts";

const KINDS = Object.keys(ID_PREFIXES) as IdKind[];

describe("parseId", () => {
  it.each<[IdKind, string, number]>([
    ["server", "srv_12", 12],
    ["server", "12", 12],
    ["project", "prj_1", 1],
    ["incident", "inc_9", 9],
    ["subscription", "sub_5", 5],
    ["subscription", "5", 5],
    ["key", "31", 31],
    ["organization", "3", 3],
    ["server", "9007199254740991", Number.MAX_SAFE_INTEGER],
  ])("reads %s %s", (kind, text, id) => {
    expect(parseId(kind, text)).toBe(id);
  });

  it.each<[IdKind, string]>([
    ["server", ""],
    ["server", "srv_"],
    ["server", "0"],
    ["server", "srv_0"],
    ["server", "prj_12"],
    ["server", "SRV_12"],
    ["server", "srv_srv_12"],
    ["server", "srv_+1"],
    ["server", "-1"],
    ["server", " 12"],
    ["server", "12 "],
    ["server", "12\n"],
    ["server", "1e3"],
    ["server", "0x10"],
    ["server", "1.0"],
    ["server", "١٢"],
    ["server", "9007199254740992"],
    ["server", "99999999999999999999999"],
    ["key", "uk_31"],
    ["key", "srv_31"],
  ])("refuses %s %j", (kind, text) => {
    expect(parseId(kind, text)).toBeUndefined();
  });

  it("reads what formatId writes", () => {
    const kind = fc.constantFrom("server", "project", "incident", "event", "history" as const);
    assertProperty(
      fc.property(kind, fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }), (kind, id) => {
        if (parseId(kind, formatId(kind, id)) !== id || parseId(kind, String(id)) !== id) throw new Error(`${id}`);
      }),
      { numRuns: 100_000 },
    );
  });

  it("gives a positive safe integer or nothing, and agrees with an obvious reading", () => {
    const text = fc.oneof(fc.string(), fc.stringMatching(/^(srv_|prj_|inc_|sub_|)[-+ 0-9.ex]{0,20}$/));
    assertProperty(
      fc.property(fc.constantFrom(...KINDS), text, (kind, text) => {
        const bare = text.startsWith(ID_PREFIXES[kind]) ? text.slice(ID_PREFIXES[kind].length) : text;
        const digits = bare.length > 0 && bare.length <= 16 && [...bare].every((c) => c >= "0" && c <= "9");
        const number = digits ? Number(bare) : 0;
        const wanted = number > 0 && number <= Number.MAX_SAFE_INTEGER ? number : undefined;
        if (parseId(kind, text) !== wanted) throw new Error(`${JSON.stringify(text)} read as ${parseId(kind, text)}`);
      }),
      { numRuns: 100_000 },
    );
  });
});

describe("createResultIds", () => {
  it("writes milliseconds, shard and counter", () => {
    const next = createResultIds(7);
    expect(next(1_763_700_000_000)).toBe("1763700000000070000");
    expect(next(1_763_700_000_000)).toBe("1763700000000070001");
    expect(next(1_763_700_000_001)).toBe("1763700000001070000");
  });

  it("goes on when the clock steps back", () => {
    const next = createResultIds(0);
    next(1_763_700_000_500);
    expect(next(1_763_600_000_000)).toBe("1763700000500000001");
  });

  it("borrows from the next millisecond after 10,000", () => {
    const next = createResultIds(99);
    let last = "";
    for (let i = 0; i < 25_001; i++) last = next(1_763_700_000_000);
    expect(last).toBe("1763700000002995000");
  });

  it.each([-1, 100, 1.5, Number.NaN])("refuses shard %s", (shard) => {
    expect(() => createResultIds(shard)).toThrow(RangeError);
  });

  it("is strictly increasing, as number and as text, whatever the clock does", () => {
    const clock = fc.array(fc.integer({ min: -5_000, max: 5_000 }), { minLength: 100, maxLength: 1_000 });
    assertProperty(
      fc.property(fc.integer({ min: 0, max: 99 }), clock, (shard, steps) => {
        const next = createResultIds(shard);
        let nowMs = 1_763_700_000_000;
        let last = next(nowMs);
        for (const step of steps) {
          nowMs += step;
          const id = next(nowMs);
          if (!(BigInt(id) > BigInt(last) && id > last && id.length === 19)) throw new Error(`${last} then ${id}`);
          last = id;
        }
      }),
      { numRuns: 1_000 },
    );
  });
});
