import { describe, expect, it } from "vitest";
import type { Document } from "../../model/document/document.ts";
import { Slices } from "../../store/slices.ts";
import { documentOf, partsOf } from "./parts.ts";

const website = (n: number) => ({ type: "http", name: `web ${n}`, url: `https://w${n}.test-site.org/` });

describe("A document in parts", () => {
  it("is the same when it is whole again, with names that objects have of their own", async () => {
    const monitors = Object.fromEntries([
      ["__proto__", website(0)],
      ["constructor", website(1)],
      ["1", website(2)],
    ]);
    const rules = Array.from({ length: 250 }, (_, n) => ({ name: `rule ${n}` }));
    const document = { sonde: 1, name: "shop", monitors, channels: {}, alert_rules: rules } as unknown as Document;
    const made = await documentOf([...partsOf(document)], new Slices());
    expect(made).toEqual(document);
    expect(Object.keys(made.monitors ?? {})).toEqual(Object.keys(monitors));
    expect(Object.getPrototypeOf(made.monitors)).toBe(Object.prototype);
    expect(JSON.stringify(made)).toBe(JSON.stringify(document));
  });

  it("has no part that takes long to read", () => {
    const monitors = Object.fromEntries(Array.from({ length: 10_000 }, (_, n) => [`web-${n}`, website(n)]));
    const parts = [...partsOf({ sonde: 1, monitors } as unknown as Document)];
    expect(parts).toHaveLength(101);
    expect(Math.max(...parts.map(({ text }) => text.length))).toBeLessThan(10_000);
  });
});
