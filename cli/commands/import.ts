/** `sonde import`: what another program watches, as a document for `sonde apply`. */
import type { Command } from "commander";
import { endsWrongCalls, usageError } from "../command.ts";

interface Options {
  readonly out: string;
  readonly report: "md" | "json";
  readonly secrets: boolean;
  readonly asPort?: boolean;
  readonly dropExtra?: boolean;
  readonly appriseServer?: string;
}

export function addImport(program: Command): void {
  endsWrongCalls(program.command("import"))
    .argument(
      "<source>",
      "the other program: kuma, gatus, blackbox, xray-checker, uptimerobot, betterstack, checkly, openstatus",
    )
    .argument("<file|folder|-...>", "its files, its folder, or - for stdin")
    .description("convert another program's monitors to a document for sonde apply; changes nothing")
    .option("--out <file>", "where the document is written; - is stdout", "sonde.yaml")
    .option("--report <form>", "md or json: what came over, what is lost, what is changed", reportOf, "md")
    .option("--no-secrets", "secrets become variables of the environment, which sonde apply fills in")
    .option("--as-port", "checks of databases and brokers become checks of their TCP port")
    .option("--drop-extra", "a monitor runs although one of its conditions could not be converted")
    .option("--apprise-server <url>", "Apprise API server for notifications that are Apprise addresses")
    .addHelpText(
      "after",
      [
        "\nThe document has the secrets of the source, and only you can read it (mode 0600).",
        "A monitor that would watch something else comes over paused, with the tag imported:incomplete.",
        "\nExit code: 0 written, 1 the files cannot be read, 2 wrong call.",
        "\nExamples:",
        "  sonde import kuma /opt/uptime-kuma/data",
        "  sonde import gatus config.yaml --no-secrets --out gatus.yaml",
        "  sonde import blackbox prometheus.yml blackbox.yml",
        "  sonde import uptimerobot monitors.json --report json > report.json\n",
      ].join("\n"),
    )
    .action(async (source: string, paths: readonly string[], options: Options) => {
      const { runImport } = await import("../import/run.ts");
      await runImport(source, paths, { ...options, nowMs: Date.now() });
    });
}

function reportOf(word: string): "md" | "json" {
  if (word === "md" || word === "json") return word;
  throw usageError("--report must be md or json");
}
