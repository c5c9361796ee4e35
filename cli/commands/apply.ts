/** `sonde apply`: makes a project what a document says. */
import type { Command } from "commander";
import { documentEnvironment, loadClientConfig } from "../../config.ts";
import { MOST_DOCUMENT_BYTES } from "../../model/document/document.ts";
import type { Plan } from "../../model/document/plan.ts";
import { askYes, canAsk } from "../ask.ts";
import { readStdin } from "../check/stdin.ts";
import { AnswerError, type Client } from "../client.ts";
import { CommandError, collected } from "../command.ts";
import { type FileLine, type LocalDocument, readLocalDocument } from "../document/files.ts";
import { planWords } from "../document/words.ts";
import {
  addServiceOptions,
  connectTo,
  FIRST_PROJECT,
  printJson,
  type ServiceOptions,
  tellWarnings,
} from "../service-options.ts";
import { plain } from "../table.ts";

/** A plan of 20,000 things takes seconds. */
const WITHIN_MS = 120_000;
/** With --plan: there are changes. */
const CHANGES = 2;
const STANDARD_FILE = "sonde.yaml";

interface Options extends ServiceOptions {
  readonly file?: readonly string[];
  readonly name?: string;
  readonly plan?: boolean;
  readonly yes?: boolean;
  readonly prune?: boolean;
  readonly adopt?: boolean;
  readonly skipRefused?: boolean;
}

type Answer = Plan & { readonly applied: boolean };

export function addApply(program: Command): void {
  addServiceOptions(program.command("apply"))
    .description("change a project to match a document: monitors, subscriptions and more, as code")
    .argument("[file|folder...]", "the document, or the files and folders that it consists of; - is stdin")
    .option("-f, --file <file|folder>", "the same, as an option; once for each", collected)
    .option("--name <name>", "the document's name; otherwise the one that is written in it")
    .option("--plan", "only show what would change; exit code 2 when something would")
    .option("-y, --yes", "do not ask")
    .option("--prune", "remove what the document had and has no more, with its history")
    .option("--adopt", "take over what has the same name and target, instead of creating it twice")
    .option("--skip-refused", "apply the others when some things are refused")
    .addHelpText(
      "after",
      [
        "\nWithout a file it is sonde.yaml. In texts of the document $" +
          "{env:NAME} and $" +
          "{file:PATH} are filled in on this machine; $$" +
          "{ is a literal $" +
          "{.",
        "Exit codes: 0 nothing to do, or done; 1 failed; 2 with --plan: there are changes.",
        "\nExamples:",
        "  sonde apply --plan",
        "  sonde apply monitoring/ --yes",
        "  sonde apply --prune --yes\n",
      ].join("\n"),
    )
    .action(apply);
}

async function apply(files: readonly string[], options: Options): Promise<void> {
  const named = [...files, ...(options.file ?? [])];
  const local = await localDocument(named.length === 0 ? [STANDARD_FILE] : named);
  const client = connectTo(options);
  const body = {
    document: local.text,
    ...(options.name !== undefined && { name: options.name }),
    prune: options.prune === true,
    adopt: options.adopt === true,
    skip_refused: options.skipRefused === true,
  };
  const plan = await ask(client, { ...body, dry_run: true }, local);
  const isRefused = plan.refused.length > 0 && options.skipRefused !== true;
  if (options.plan === true || plan.changes.length === 0 || isRefused) {
    show(plan, options, local);
    if (isRefused)
      throw new CommandError(
        "some things are refused, so nothing was changed: correct them, or apply the rest with --skip-refused",
      );
    if (options.plan === true && plan.changes.length > 0) process.exitCode = CHANGES;
    return;
  }
  if (options.json !== true) show(plan, options, local);
  if (options.yes !== true) await confirm(options);
  const done = await ask(client, { ...body, expect: plan.hash }, local);
  if (options.json === true) return printJson(done);
  process.stdout.write("Done.\n");
}

async function localDocument(paths: readonly string[]): Promise<LocalDocument> {
  const tooLarge = new CommandError(`the document is larger than ${MOST_DOCUMENT_BYTES / 1_048_576} MiB`);
  const stdin = paths.includes("-") ? await readStdin(MOST_DOCUMENT_BYTES, tooLarge) : null;
  let read: ReturnType<typeof readLocalDocument>;
  try {
    read = readLocalDocument(paths, { environment: documentEnvironment(), stdin });
  } catch (error) {
    const { path = paths.join(", "), code = String(error) } = error as NodeJS.ErrnoException;
    if (code === "ENOENT")
      throw new CommandError(`there is no file ${path}: name the document, or begin with sonde export`);
    throw new CommandError(`${path} cannot be read (${code})`);
  }
  if (!("length" in read)) return read;
  throw new CommandError(
    `the document has errors\n${read.map(({ place, message }) => faultLine(place, message)).join("\n")}`,
  );
}

function faultLine({ file, line }: FileLine, message: string): string {
  return `  ${plain(file)}${line === null ? "" : `:${line}`}: ${plain(message)}`;
}

async function ask(client: Client, body: object, local: LocalDocument): Promise<Answer> {
  try {
    const answer = await client.post<Answer>("/apply", body, WITHIN_MS);
    tellWarnings(answer);
    return answer;
  } catch (error) {
    if (!(error instanceof AnswerError)) throw error;
    if (isOtherPlan(error))
      throw new CommandError(
        "something else was changed meanwhile, so that the plan is another one now. Nothing was done: run sonde apply again, and look at it",
      );
    const lines = errorsOf(error.answer).map(({ path, line, message }) => {
      const place = (line === null ? undefined : local.placeOf(line)) ?? { file: "the document", line: null };
      return faultLine(place, path === "" ? message : `${path}: ${message}`);
    });
    throw lines.length === 0 ? error : new CommandError(`the document has errors\n${lines.join("\n")}`);
  }
}

/** Another writer came between the plan that was shown and its apply. */
function isOtherPlan({ status, answer }: AnswerError): boolean {
  const plan = (answer as { readonly details?: { readonly plan?: Plan } } | undefined)?.details?.plan;
  return status === 409 && plan !== undefined;
}

interface DocumentError {
  readonly path: string;
  readonly line: number | null;
  readonly message: string;
}

function errorsOf(answer: unknown): readonly DocumentError[] {
  const details = (answer as { readonly details?: { readonly errors?: readonly DocumentError[] } } | undefined)
    ?.details;
  return Array.isArray(details?.errors) ? details.errors : [];
}

function show(plan: Answer, options: Options, local: LocalDocument): void {
  if (options.json === true) {
    printJson(plan);
    return;
  }
  process.stdout.write(planWords(plan, loadClientConfig(options).project ?? FIRST_PROJECT));
  for (const { line, path } of plan.refused) {
    const place = line === null ? undefined : local.placeOf(line);
    if (place !== undefined) process.stderr.write(`${faultLine(place, `${path} is refused`)}\n`);
  }
}

async function confirm({ json }: Options): Promise<void> {
  if (json === true || !canAsk())
    throw new CommandError("there is no terminal to ask at: give --yes, or --plan to look only");
  if (!(await askYes("Apply it?"))) throw new CommandError("nothing was changed");
}
