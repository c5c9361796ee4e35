/** `sonde schema`: how documents of `sonde apply` are written, for editors. */
import type { Command } from "commander";
import { endsWrongCalls } from "../command.ts";
import { printJson } from "../service-options.ts";

export function addSchema(program: Command): void {
  endsWrongCalls(program.command("schema"))
    .description("print the JSON Schema of documents, by which editors complete and check them")
    .addHelpText(
      "after",
      [
        "\nThe first line of a document names it:",
        "  # yaml-language-server: $schema=./sonde.schema.json",
        "\nExample:",
        "  sonde schema > sonde.schema.json\n",
      ].join("\n"),
    )
    .action(async () => {
      const { documentSchema } = await import("../document/schema.ts");
      printJson(documentSchema());
    });
}
