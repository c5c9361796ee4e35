/** The checks of the documents themselves: each finds what it is there to find. */
import { afterAll, describe, expect, it } from "vitest";
import { temporaryFolder } from "../../testkit/temporary-folder.ts";
import { commandFaults, nameFaults, spanFaults, spansOf } from "./forms.ts";
import { blocksOf, stepsOf, wordsOf } from "./page.ts";
import { openShell } from "./shell.ts";
import { differs } from "./shown.ts";

const page = (...lines: readonly string[]): string => lines.join("\n");

describe("blocks", () => {
  it("have the plan of the comment before them, with or without an empty line between", () => {
    const text = page("<!-- run: website -->", "", "```sh", "a", "```", "<!-- form: why -->", "```sh", "b", "```");
    expect(blocksOf(text)).toEqual([
      { line: 3, language: "sh", text: "a", plan: { type: "run", needs: ["website"] } },
      { line: 7, language: "sh", text: "b", plan: { type: "form", reason: "why" } },
    ]);
    expect(blocksOf(page("words", "```sh", "a", "```"))[0]?.plan).toBeNull();
  });

  it.each([
    ["a need that is not known", page("<!-- run: moon -->", "```sh", "a", "```")],
    ["a form without a reason", page("<!-- form -->", "```sh", "a", "```")],
    ["a block without an end", page("```sh", "a")],
  ])("refuse %s", (_what, text) => {
    expect(() => blocksOf(text)).toThrow();
  });

  const steps = (language: string, ...lines: readonly string[]) =>
    stepsOf({ line: 1, language, text: page(...lines), plan: null }).map(({ command, shown }) => [command, shown]);

  it("are parted into commands: quotes, continued lines and here-documents stay together", () => {
    expect(steps("sh", "# words", "a 'b", "c'  # it's", "d \\", "  e", "f <<'END'", "g", "END", "h")).toEqual(
      ["a 'b\nc'  # it's", "d \\\n  e", "f <<'END'\ng\nEND", "h"].map((command) => [command, null]),
    );
    expect(() => steps("sh", "a 'b")).toThrow(/no end/);
  });

  it("of a console have what each command shows", () => {
    expect(steps("console", "$ a \\", "> b", "one", "two", "$ c")).toEqual([
      ["a \\\nb", "one\ntwo"],
      ["c", null],
    ]);
  });

  it("are read as a shell reads them", () => {
    expect(wordsOf(`A=1 b 'c d' "e $F" > g 2>&1 | h -i && j # k`)).toEqual([["b", "c d", "e $F"], ["h", "-i"], ["j"]]);
  });
});

describe("what a page names", () => {
  it.each([
    ["sonde monitors --stat down", "unknown option"],
    ["npx sonde monitor", "unknown command"],
    ["sonde check", "missing required argument"],
    ["sonde bulk list.txt --concurrency many", "--concurrency"],
    ["sonde admin webhook create --project prj_1", "--url"],
    ["cat list | sonde bulk - --jsonl", "unknown option"],
    ["npm run benches", "no script benches"],
    ["curl $API/server", "no GET /server"],
    ["ask -X DELETE $API/servers", "no DELETE /servers"],
    [`ask $API/servers -d '{"type":"http"}'`, "POST /api/v1/servers"],
    [`ask $API/servers -d '{"type":"http",}'`, "no JSON"],
  ])("is a fault: %s", (command, word) => {
    expect(commandFaults(command).join()).toContain(word);
  });

  it.each([
    "sonde monitors --status down --json | head",
    "sonde up --help",
    "FOO=1 npx sonde check wg0.conf",
    "npm run bench -- uptime",
    "ask $API/servers -d @body.json",
    `ask $API/servers -d '{"type":"http","name":"A","url":"https://example.org/"}'`,
    `ask "$API/results/server/srv_1?period=1h"`,
  ])("is none: %s", (command) => {
    expect(commandFaults(command)).toEqual([]);
  });

  it("counts in sentences, too: commands, flags, paths, settings and metrics", () => {
    const text = page(
      "`sonde admn`, `GET /nothing`, `sonde check --fast`, `SONDE_NOTHING`, `sonde_nothing_total`",
      "",
      "```text",
      "`sonde x`",
      "```",
    );
    const found = spansOf(text).flatMap(({ line, text: span }) => spanFaults(span).map((fault) => `${line} ${fault}`));
    expect(found).toHaveLength(3);
    expect(found.every((fault) => fault.startsWith("1 "))).toBe(true);
    const names = new Set(["SONDE_PORT", "sonde_check_lateness_seconds"]);
    expect(nameFaults(text, names)).toHaveLength(2);
    expect(nameFaults("`SONDE_PORT` sonde_check_lateness_seconds_bucket sonde_cores_*", names)).toEqual([]);
  });
});

describe("what a page shows", () => {
  const shown = page("│ id    │ status  │", "│ srv_8 │ healthy │", "…", "PASSED in 0.05 s");

  it("is the output whatever its figures and widths are", () => {
    expect(differs(shown, page("head", "│ id │ status │", "│ srv_123 │ healthy │", "PASSED in 12 s"))).toBeUndefined();
    expect(differs('{"a":1,"b":[{"c":"x"}]}', '{"b":[{"c":"y"}],"a":2}')).toBeUndefined();
  });

  it.each([
    ["another word", shown, page("│ id │ status │", "│ srv_1 │ down │", "PASSED in 1 s")],
    ["another order", shown, page("PASSED in 1 s", "│ id │ status │", "│ srv_1 │ healthy │")],
    ["a field that is not shown", '{"a":1}', '{"a":1,"b":2}'],
    ["a field of another type", '{"a":1}', '{"a":"1"}'],
    ["an empty list", '{"a":[1]}', '{"a":[]}'],
    ["no JSON", '{"a":1}', "no"],
  ])("is not: %s", (_what, wanted, output) => {
    expect(differs(wanted, output)).toBeDefined();
  });
});

describe("a page's shell", () => {
  const folder = temporaryFolder();
  const shell = openShell(folder, { PATH: process.env.PATH ?? "" });
  afterAll(() => {
    shell.close();
  });

  it("keeps variables and functions, and says exit code and output of each command", async () => {
    expect(await shell.run("A=1; f() { echo $A; }")).toEqual({ code: 0, output: "" });
    expect(await shell.run("f; echo two >&2; (exit 3)")).toEqual({ code: 3, output: "1\ntwo\n" });
    expect((await shell.run("cat")).code).toBe(0);
  });

  it("fails where it ends", async () => {
    await expect(openShell(folder, {}).run("exit 4")).rejects.toThrow(/the shell ended/);
  });
});
