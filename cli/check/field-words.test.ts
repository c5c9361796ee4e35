import { writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { temporaryFolder } from "../../testkit/temporary-folder.ts";
import { CommandError } from "../command.ts";
import { fieldOfWord } from "./field-words.ts";

const folder = temporaryFolder();

describe("a field of the API", () => {
  it.each([
    ["interval=60", ["interval", 60]],
    ["name=60 s", ["name", "60 s"]],
    ['keyword="60"', ["keyword", "60"]],
    ["active=false", ["active", false]],
    ["url=https://a/?b=c", ["url", "https://a/?b=c"]],
    ["keyword=a@b", ["keyword", "a@b"]],
    ['accepted_statuscodes=["200-299"]', ["accepted_statuscodes", ["200-299"]]],
    ['headers={"X-A":"b"}', ["headers", { "X-A": "b" }]],
    ["tags=[no json", ["tags", "[no json"]],
    ["keyword=", ["keyword", ""]],
  ])("%s", (word, field) => expect(fieldOfWord(word)).toEqual(field));

  it("is the text of a file after @, whatever it looks like", () => {
    const file = join(folder, "body.json");
    writeFileSync(file, '{"a": 1}\n');
    expect(fieldOfWord(`body@${file}`)).toEqual(["body", '{"a": 1}']);
    writeFileSync(file, "x".repeat(102_401));
    expect(() => fieldOfWord(`body@${file}`)).toThrow("larger than 100 KiB");
    expect(() => fieldOfWord(`body@${folder}/none`)).toThrow("(ENOENT)");
    expect(() => fieldOfWord(`body@${folder}`)).toThrow("(EISDIR)");
  });

  it("of any text is one, or a wrong call", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (word) => {
        try {
          expect(fieldOfWord(word)[0]).toMatch(/^[A-Za-z_]+$/);
        } catch (error) {
          if (!(error instanceof CommandError)) throw error;
        }
      }),
    );
    for (const word of ["", "=", "interval", "a-b=1", "1=1"]) expect(() => fieldOfWord(word)).toThrow("no field=value");
  });
});
