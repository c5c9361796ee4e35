import fc from "fast-check";
import { expect, it } from "vitest";
import { property } from "../testkit/property.ts";
import { BoundedMap } from "./bounded-map.ts";

const step = fc.oneof(
  fc.record({ act: fc.constantFrom("get" as const, "use" as const, "delete" as const), key: fc.nat(9) }),
  fc.record({ act: fc.constant("set" as const), key: fc.nat(9), value: fc.nat() }),
);

property([fc.integer({ min: 1, max: 6 }), fc.array(step, { maxLength: 60 })], { numRuns: 2_000 })(
  "agrees with a list whose last entry is the newest",
  (limit, steps) => {
    const map = new BoundedMap<number, number>(limit);
    let list: (readonly [key: number, value: number])[] = [];
    for (const each of steps) {
      const known = list.find(([key]) => key === each.key);
      const others = list.filter(([key]) => key !== each.key);
      if (each.act === "set") {
        map.set(each.key, each.value);
        list = [...others, [each.key, each.value] as const].slice(-limit);
      } else if (each.act === "delete") {
        expect(map.delete(each.key)).toBe(known !== undefined);
        list = others;
      } else {
        expect(map[each.act](each.key)).toBe(known?.[1]);
        if (each.act === "use" && known !== undefined) list = [...others, known];
      }
      expect([...map]).toEqual(list);
      expect(map.size).toBe(list.length);
      expect(map.has(each.key)).toBe(list.some(([key]) => key === each.key));
    }
    map.clear();
    expect(map.size).toBe(0);
  },
);

it("keeps what was read with use(), not what was read with get()", () => {
  const map = new BoundedMap<string, number>(2).set("a", 1).set("b", 2);
  map.get("a");
  map.set("c", 3);
  expect([...map]).toEqual([
    ["b", 2],
    ["c", 3],
  ]);
  map.use("b");
  map.set("d", 4);
  expect([...map]).toEqual([
    ["b", 2],
    ["d", 4],
  ]);
});

it.each([0, -1, Number.NaN])("refuses a limit of %s", (limit) => {
  expect(() => new BoundedMap(limit)).toThrow(RangeError);
});
