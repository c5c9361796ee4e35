/** `sonde add`: whatever is to be watched, given to a running service. */
import type { Command } from "commander";
import { loadCorePaths } from "../../config.ts";
import { findCore } from "../../engine/cores/program.ts";
import type { AddedKind } from "../check/addition.ts";
import { addLoginOptions, type LoginOptions, loginOf, readSource } from "../check/source.ts";
import { AnswerError, type MonitorRow } from "../client.ts";
import { CommandError, collected, usageError } from "../command.ts";
import { addServiceOptions, connectTo, printJson, type ServiceOptions, tellWarnings } from "../service-options.ts";
import { plain } from "../table.ts";

interface Options extends ServiceOptions, LoginOptions {
  readonly kind?: string;
  readonly name?: string;
  readonly interval?: number;
  readonly tags?: string;
  readonly set?: readonly string[];
}

interface Added extends MonitorRow {
  readonly heartbeat_url?: string;
}

interface AddedSubscription {
  readonly id: number | string;
  readonly name: string | null;
}

export function addAdd(program: Command): void {
  const command = program
    .command("add")
    .argument(
      "[what]",
      "address, host, host:port, share link, configuration file, subscription's address, or - for stdin",
    )
    .description("add a monitor or a subscription to a running service")
    .option(
      "--kind <kind>",
      "its kind, where its text does not show it: keyword, dns, push, tls, openconnect, subscription …",
    )
    .option("--name <name>", "its name; otherwise the link's name, the file's, or the host")
    .option("--interval <s>", "seconds between checks, or between syncs of a subscription", secondsOf)
    .option("--tags <tags>", "words to find it by, comma-separated")
    .option(
      "--set <field=value>",
      "a field of the API, such as keyword=welcome, or body@file for what a file holds; may be given again",
      collected,
    );
  addServiceOptions(addLoginOptions(command))
    .addHelpText(
      "after",
      [
        "\nAn http or https address is read once: a list of configurations is a subscription, all else a website.",
        "Share links are checked through xray or sing-box: sonde cores install.",
        "\nExamples:",
        "  sonde add https://example.net/ --interval 30 --tags prod,shop",
        "  sonde add https://example.net/ --kind keyword --set keyword=welcome",
        "  sonde add https://api.example.net/ --set method=POST --set body@order.json --set bearer_token@token.txt",
        "  sonde add mail.example.net:25",
        "  sonde add 'vless://…@vpn.example.net:443?security=tls#Berlin'",
        "  sonde add wg0.conf --name Office",
        "  sonde add vpn.example.net --kind openconnect --username ada --password-file secret.txt",
        "  sonde add https://provider.example/sub/token",
        "  sonde add --kind push --name Backup --set period=86400 --set grace=3600\n",
      ].join("\n"),
    )
    .action(add);
}

async function add(word: string | undefined, options: Options): Promise<void> {
  const { addedKindNamed, additionOf, isList } = await import("../check/addition.ts");
  const { fieldOfWord } = await import("../check/field-words.ts");
  const kind = options.kind === undefined ? null : addedKindNamed(options.kind);
  if (word === undefined && kind !== "push")
    throw usageError("what is to be watched? sonde add --help shows what can be");
  const source = word === undefined ? null : await readSource(word, options);
  const client = connectTo(options);
  const addition = await additionOf(source, {
    kind,
    name: options.name ?? null,
    intervalS: options.interval ?? null,
    tags: (options.tags ?? "").split(",").filter((tag) => tag.trim() !== ""),
    fields: Object.fromEntries((options.set ?? []).map(fieldOfWord)),
    login: await loginOf(options, kind),
    isList,
  });
  const added = await client.post<Added | AddedSubscription>(addition.path, addition.body).catch(withOption);
  tellWarnings(added);
  if (await needsCore(addition.kind, client.url)) {
    process.stderr.write(
      "No xray and no sing-box is here to check it through: run sonde cores install (sonde cores list)\n",
    );
  }
  if (options.json === true) return printJson(added);
  process.stdout.write(`${plain("status" in added ? monitorWords(added) : subscriptionWords(added))}\n`);
}

/** What the API misses in the body is given by an option here. */
function withOption(error: unknown): never {
  const [, field] = (error instanceof AnswerError && /^Missing or invalid (\w+)$/.exec(error.message)) || [];
  throw field === undefined ? error : new CommandError(`${field} is missing or cannot be used: --set ${field}=…`);
}

function monitorWords({ id, name, protocol, interval, heartbeat_url: call }: Added): string {
  const often = interval === null ? "" : `, every ${interval} s`;
  if (call !== undefined) return `${id}  ${name} (${protocol}): the job calls ${call}`;
  return `${id}  ${name} (${protocol})${often}: sonde show ${id}`;
}

function subscriptionWords({ id, name }: AddedSubscription): string {
  return `subscription ${id}${name === null ? "" : `  ${name}`}: its servers come to sonde monitors`;
}

/** Of a service on this machine: what another one has is not known. */
async function needsCore(kind: AddedKind, url: string): Promise<boolean> {
  const isHere = /^https?:\/\/(?:127\.|localhost|\[::1\])/.test(url);
  const { mayNeedCore } = await import("../check/addition.ts");
  if (!isHere || !mayNeedCore(kind)) return false;
  const paths = loadCorePaths();
  return findCore("xray", paths) === undefined && findCore("singbox", paths) === undefined;
}

function secondsOf(text: string): number {
  if (!/^\d{1,6}$/.test(text)) throw usageError("--interval must be a whole number of seconds");
  return Number(text);
}
