import { expect, it } from "vitest";
import { HeldBytes, type Holder } from "./held-bytes.ts";

it("the one that has held longest gives up when all hold too much, and no other", () => {
  const held = new HeldBytes(100);
  const gone: string[] = [];
  const holder = (name: string): Holder => {
    const one: Holder = {
      giveUp() {
        gone.push(name);
        held.set(one, 0);
      },
    };
    return one;
  };
  const [first, second, third] = [holder("first"), holder("second"), holder("third")];
  held.set(first, 10);
  held.set(second, 40);
  held.set(first, 50);
  held.set(third, 10);
  expect(gone).toEqual([]);
  held.set(second, 41);
  expect(gone).toEqual(["first"]);
  held.set(third, 0);
  held.set(second, 100);
  expect(gone).toEqual(["first"]);
  held.set(third, 1);
  expect(gone).toEqual(["first", "second"]);
  // More than all may hold is given up by itself.
  held.set(third, 101);
  expect(gone).toEqual(["first", "second", "third"]);
});
