import { existsSync, readFileSync } from "node:fs";
import type { paths } from "sonde/api";
import { expect, expectTypeOf, it } from "vitest";
import type { paths as Own } from "./schema.d.ts";

const ROOT = new URL("../../", import.meta.url);

it("sonde/api is the API's types, for those who install this package", () => {
  const { exports } = JSON.parse(readFileSync(new URL("package.json", ROOT), "utf8")) as {
    exports: Readonly<Record<string, { readonly types: string }>>;
  };
  expect(existsSync(new URL(exports["./api"]?.types ?? "none", ROOT))).toBe(true);
  expectTypeOf<paths>().toEqualTypeOf<Own>();
});
