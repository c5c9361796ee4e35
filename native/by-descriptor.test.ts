import fc from "fast-check";
import { expect } from "vitest";
import { property } from "../testkit/property.ts";
import { ByDescriptor } from "./by-descriptor.ts";

const step = fc.record({ act: fc.constantFrom("set", "take", "clear"), fd: fc.nat(30) });

property([fc.array(step, { maxLength: 100 })], { numRuns: 500 })("agrees with a Map", (steps) => {
  const list = new ByDescriptor<{ n: number }>();
  const map = new Map<number, { n: number }>();
  steps.forEach(({ act, fd }, n) => {
    if (act === "set") {
      list.set(fd, { n });
      map.set(fd, { n });
    } else if (act === "take") {
      expect(list.take(fd)).toEqual(map.get(fd));
      map.delete(fd);
    } else if (n % 10 === 0) {
      list.clear();
      map.clear();
    }
    expect(list.get(fd)).toEqual(map.get(fd));
    expect(list.size).toBe(map.size);
    expect(list.values()).toEqual([...map].sort(([a], [b]) => a - b).map(([, value]) => value));
  });
});
