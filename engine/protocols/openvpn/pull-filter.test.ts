import { expect, it } from "vitest";
import { parseProfile } from "./profile.ts";
import { filtered, MOST_FILTERS, pullFiltersOf } from "./pull-filter.ts";

const filtersOf = (...lines: readonly string[]) => pullFiltersOf(parseProfile(lines.join("\n")).options);
const PUSHED = ["route 10.0.0.0", "dhcp-option DNS 1.1.1.1", "dhcp-option DOMAIN lan", "ifconfig 10.8.0.2 10.8.0.1"];

it("takes of what is pushed what the first filter that fits lets through", () => {
  expect(filtered(PUSHED, [])).toEqual({ taken: PUSHED, rejectedBy: null });
  const filters = filtersOf('pull-filter accept "dhcp-option DNS"', "", "pull-filter ignore dhcp-option");
  expect(filtered(PUSHED, filters)).toEqual({ taken: [PUSHED[0], PUSHED[1], PUSHED[3]], rejectedBy: null });
  expect(filtered(PUSHED, filtersOf("client", "pull-filter reject route")).rejectedBy).toBe(2);
  expect(filtered(PUSHED, filtersOf("pull-filter ignore route", "pull-filter reject route")).rejectedBy).toBeNull();
  expect(filtered(PUSHED, filtersOf('pull-filter ignore ""')).taken).toEqual([]);
});

it.each(["pull-filter ignore", "pull-filter deny route", "pull-filter ignore dhcp-option DNS"])(
  "refuses %s",
  (line) => {
    expect(() => filtersOf("client", line)).toThrow("config line 2: pull-filter needs accept, ignore or reject");
  },
);

it("refuses more of them than providers write", () => {
  const many = Array.from({ length: MOST_FILTERS + 1 }, (_, index) => `pull-filter ignore a${index}`);
  expect(filtersOf(...many.slice(1))).toHaveLength(MOST_FILTERS);
  expect(() => filtersOf(...many)).toThrow("at most 64 pull-filter");
});
