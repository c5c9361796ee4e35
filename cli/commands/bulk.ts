/** `sonde bulk`: thousands of configurations, now, without a server. */
import { type Command, Option } from "commander";
import type { BulkOptions, Requirement } from "../bulk/options.ts";
import { collected, endsWrongCalls, usageError } from "../command.ts";
import { engineOf } from "./check.ts";

/** Checks in flight. */
const CONCURRENCY = { least: 1, most: 4_096, standard: 512 } as const;
const TIMEOUT_S = { least: 1, most: 120, standard: 10 } as const;

export function addBulk(program: Command): void {
  endsWrongCalls(program.command("bulk"))
    .argument("<url|file|folder|->", "subscription, list, folder of .conf and .ovpn files, or - for stdin")
    .description("check a whole list now: no server, no root, nothing is kept")
    .option("--concurrency <n>", "checks in flight", wholeOf("--concurrency", CONCURRENCY), CONCURRENCY.standard)
    .option("--timeout <s>", "seconds for each", wholeOf("--timeout", TIMEOUT_S), TIMEOUT_S.standard)
    .option("--engine <name>", "share links: through xray or singbox only", engineOf)
    .option("--protocol <names>", "only these, such as vless,trojan")
    .option("--json", "a line of JSON for each result as it comes, then for each line left out, then a summary")
    .option("--csv", "a line of CSV for each result as it comes; with --speed at the end")
    .option("--links", "only the links that are healthy, the fastest first (with --json: the link in each line)")
    .option("--clash", "the healthy links as a file for Clash (mihomo), with a group that takes the fastest")
    .option("--sing-box", "the same as outbounds for sing-box")
    .option("--failures", "show failures in the table too, with the reason")
    .option(
      "--url <address>",
      "what is asked through each proxy (again for more), as SONDE_VERIFY_URLS has it",
      collected,
    )
    .option("--speed [address]", "share links: then download 10 MiB, for 10 s at most, through the fastest 30 (--top)")
    .option("--top <n>", "rows of the table; all in a pipe, otherwise 30", topOf)
    .addOption(
      new Option("--require <n>", "exit code 0 needs so many healthy, such as 10 or 90%")
        .argParser(requirementOf)
        .default({ least: 1, isShare: false } satisfies Requirement, "1"),
    )
    .option("--resume <file>", "keep results in this file, and skip what it already has")
    .addHelpText(
      "after",
      [
        "\nLists are links line by line, base64 of them, Clash YAML, sing-box, xray or SIP008 JSON.",
        "The first Ctrl-C ends the run, shows what there is and how to go on; the second ends at once.",
        "Progress is on stderr, and only on a terminal; results are on stdout.",
        "\nExit code: 0 enough are healthy, 1 too few, 2 wrong call, 130 interrupted, 141 the reader has gone.",
        "\nExamples:",
        "  sonde bulk https://provider.example/sub/token",
        "  sonde bulk list.txt --links > healthy.txt",
        "  sonde bulk list.txt --resume night.jsonl --timeout 20",
        "  cat *.txt | sonde bulk - --json | jq -r 'select(.status == \"healthy\") | .server'",
        "  sonde bulk ~/vpn-files --csv > vpn.csv",
        "  sonde bulk list.txt --failures --url https://example.org/",
        "  sonde bulk list.txt --clash > healthy.yaml",
        "  sonde bulk list.txt --speed --top 10",
        "  sonde bulk list.txt --require 90% || echo 'more than a tenth is gone'\n",
      ].join("\n"),
    )
    .action(async (word: string, options: BulkOptions) => {
      refuseTogether(options);
      const { bulk } = await import("../bulk/bulk.ts");
      process.exitCode = await bulk(word, options);
    });
}

/** One form of output; --links adds the links to --json; failures have a place in the table and in --json, speeds in --csv too. */
function refuseTogether(options: BulkOptions): void {
  const { json, csv, links, clash, singBox } = options;
  const forms = Object.entries({
    "--json": json,
    "--csv": csv,
    "--links": links,
    "--clash": clash,
    "--sing-box": singBox,
  });
  const given = forms.flatMap(([name, isGiven]) => (isGiven === true ? [name] : []));
  const [first, second] = given;
  const isLinked = json === true && links === true && given.length === 2;
  if (second !== undefined && !isLinked) throw usageError(`${first} and ${second} cannot be had together`);
  const isTable = first === undefined;
  if (options.failures === true && !isTable)
    throw usageError(`--failures is for the table: ${first} has every result, or only healthy ones`);
  if (options.speed !== undefined && !isTable && json !== true && csv !== true)
    throw usageError(`--speed is shown in the table, by --json and by --csv, not by ${first}`);
}

function wholeOf(option: string, { least, most }: { readonly least: number; readonly most: number }) {
  return (text: string): number => {
    const number = Number(text);
    if (!/^\d{1,6}$/.test(text) || number < least || number > most) {
      throw usageError(`${option} must be a whole number from ${least} to ${most}`);
    }
    return number;
  };
}

function topOf(text: string): number | null {
  if (text === "all") return null;
  if (!/^\d{1,6}$/.test(text)) throw usageError("--top must be a whole number or all");
  return Number(text);
}

function requirementOf(text: string): Requirement {
  const [, digits = "", percent = ""] = /^(\d{1,6}(?:\.\d+)?)(%?)$/.exec(text) ?? [];
  const least = Number(digits);
  if (digits === "" || (percent === "%" && least > 100))
    throw usageError("--require must be a number such as 10 or 90%");
  return { least, isShare: percent === "%" };
}
