import { expect, it } from "vitest";
import { FreeNames } from "./free-names.ts";

it("numbers names that are taken, and looks at each number once", () => {
  const names = new FreeNames();
  names.take("shop");
  names.take("shop-3");
  let asked = 0;
  const next = (name: string): string =>
    names.free(name, (count) => {
      asked += 1;
      return `${name}-${count}`;
    });
  expect([next("shop"), next("shop"), next("mail"), next("mail")]).toEqual(["shop-2", "shop-4", "mail", "mail-2"]);
  asked = 0;
  for (let index = 0; index < 1_000; index++) next("shop");
  expect(next("shop")).toBe("shop-1005");
  expect(asked).toBe(1_001);
});
