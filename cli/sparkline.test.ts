import fc from "fast-check";
import { expect, it } from "vitest";
import { sparkline } from "./sparkline.ts";

it("draws latencies from 0 to the greatest, and failures as a cross", () => {
  expect(sparkline([0, 50, null, 100], 10)).toBe("▁▅×█");
  expect(sparkline([40, 41, 40], 10)).toBe("███");
  expect(sparkline([1, 2, 3, 4], 2)).toBe("▇█");
  expect(sparkline([0, 0], 5)).toBe("▁▁");
  expect(sparkline([], 5)).toBe("");
});

it("is a letter for each of the latest checks", () => {
  const latencies = fc.array(fc.option(fc.nat(100_000)), { maxLength: 100 });
  fc.assert(
    fc.property(latencies, fc.nat(60), (all, columns) => {
      const line = sparkline(all, columns);
      expect([...line]).toHaveLength(Math.min(all.length, columns));
      expect(line).toMatch(/^[▁-█×]*$/);
    }),
  );
});
