/** `sonde export`: what there is, as a document for `sonde apply`. */
import type { Command } from "commander";
import { addServiceOptions, connectTo, printJson, type ServiceOptions, tellWarnings } from "../service-options.ts";
import { plain } from "../table.ts";

interface Options extends ServiceOptions {
  readonly name?: string;
}

interface Answer {
  readonly name: string | null;
  readonly document: string;
  readonly secrets: readonly { readonly name: string; readonly path: readonly string[] }[];
}

export function addExport(program: Command): void {
  addServiceOptions(program.command("export"))
    .description("write a project as a document for sonde apply, without its secrets")
    .option("--name <name>", "only what belongs to this document; otherwise the whole project")
    .addHelpText(
      "after",
      [
        "\nA variable of the environment stands for each secret; they are listed on standard error.",
        "What no document has gets a key of its name: sonde apply --adopt takes it over.",
        "\nExamples:",
        "  sonde export > sonde.yaml",
        "  sonde export --name production > production.yaml\n",
      ].join("\n"),
    )
    .action(exportDocument);
}

async function exportDocument(options: Options): Promise<void> {
  const client = connectTo(options);
  const answer = await client.get<Answer>("/export", options.name === undefined ? {} : { name: options.name });
  tellWarnings(answer);
  if (options.json === true) return printJson(answer);
  process.stdout.write(answer.document);
  for (const { name, path } of answer.secrets) process.stderr.write(`${plain(name)} is ${plain(path.join("."))}\n`);
}
