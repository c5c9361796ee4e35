import { expect, it } from "vitest";
import { judgeText } from "./judge-text.ts";

const ask = (query: string, expected: string | null, text: string) => judgeText({ regex: null, query, expected }, text);
/** Puts a function of its own in the place of one of the library's, which keeps what it is given in another. */
const HOSTILE =
  '($put := function($f) { {} ~> |$uppercase|{"implementation": $f}| }; $put(function($s) { ($keep := function($g) { {} ~> |$count|{"implementation": $g}| }; $kept := $keep(function($x) { $s }); "FORGED") }))';

it("what a query writes into the library's functions, no other query sees", async () => {
  await ask(HOSTILE, null, "{}");
  expect(await ask("$uppercase(token)", "SECRET", '{"token":"secret"}')).toEqual({ type: "passed" });
  expect(await ask("$count([1, 2])", "2", "{}")).toEqual({ type: "passed" });
  expect(await ask('({} ~> |$sum|{"signature": 1}|)', null, "{}")).toEqual({ type: "passed" });
  expect(await ask("$sum([1, 2])", "3", "{}")).toEqual({ type: "passed" });
});
