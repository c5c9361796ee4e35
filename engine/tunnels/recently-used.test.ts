import { describe, expect, it } from "vitest";
import { RecentlyUsed } from "./recently-used.ts";

class Named {
  readonly ref = new WeakRef(this);
  readonly #name: string;
  readonly #forgotten: string[];

  constructor(name: string, forgotten: string[]) {
    this.#name = name;
    this.#forgotten = forgotten;
  }

  forget(): void {
    this.#forgotten.push(this.#name);
  }
}

describe("holders", () => {
  it("that were used last keep what they made", () => {
    const forgotten: string[] = [];
    const recent = new RecentlyUsed(2);
    const [one, two, three] = ["one", "two", "three"].map((name) => new Named(name, forgotten));
    for (const each of [one, two, one, three, three, one]) if (each !== undefined) recent.use(each.ref);
    expect(forgotten).toEqual(["two"]);
    if (two !== undefined) recent.use(two.ref);
    expect(forgotten).toEqual(["two", "three"]);
  });
});
