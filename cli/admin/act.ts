/** One act of the operator: its words, its example, and what it does on the stores. */
import type { Command } from "commander";
import { type IdKind, parseId } from "../../model/ids.ts";
import { CommandError } from "../command.ts";
import { printJson } from "../service-options.ts";
import { type Cell, type Column, renderTable, tableOptions } from "../table.ts";
import { type AdminStores, withControlPlane } from "./stores.ts";

/** What was done: facts for `--json`, lines for people. */
export interface Done {
  readonly facts: Readonly<Record<string, unknown>>;
  readonly text: string;
  /** It did not come out as it should: the command ends with 1, and people read this instead of the text. */
  readonly fault?: string;
}

/** Values of the options by name; those of arguments by their place. */
export interface ActOptions {
  readonly [option: string]: string | boolean | undefined;
}

export interface Act {
  /** As commander reads it: `suspend <workspace>`. */
  readonly usage: string;
  /** What it was called before: goes on working. */
  readonly formerly?: string;
  readonly summary: string;
  /** Flags and what they mean; one that begins with `!` must be given. */
  readonly options?: readonly (readonly [flags: string, description: string])[];
  /** Shown under Example, without `sonde admin`. */
  readonly example: string;
  run(stores: AdminStores, options: ActOptions, args: readonly string[]): Promise<Done>;
}

/** A group of acts: `sonde admin <name> …`. */
export interface ActGroup {
  readonly name: string;
  readonly summary: string;
  readonly acts: readonly Act[];
}

export function addGroup(admin: Command, { name, summary, acts }: ActGroup): void {
  const group = admin.command(name).description(summary);
  for (const act of acts) addAct(group, act);
}

function addAct(group: Command, act: Act): void {
  const command = group.command(act.usage).description(act.summary);
  if (act.formerly !== undefined) command.alias(act.formerly);
  for (const [flags, description] of act.options ?? []) {
    if (flags.startsWith("!")) command.requiredOption(flags.slice(1), description);
    else command.option(flags, description);
  }
  command
    .option("--json", "print one JSON object")
    .addHelpText("after", `\nExample:\n  sonde admin ${act.example}\n`)
    .action(async () => {
      const words = command.opts<ActOptions>();
      const { facts, text, fault } = await withControlPlane((stores) => act.run(stores, words, command.args));
      if (words.json === true) printJson(facts);
      else if (fault !== undefined) throw new CommandError(fault);
      else process.stdout.write(`${text}\n`);
      if (fault !== undefined) process.exitCode = 1;
    });
}

/** A list for people, as wide as their terminal. @param what the name of its members: "webhooks" */
export function listText(
  what: string,
  columns: readonly (string | Column)[],
  rows: readonly (readonly Cell[])[],
  options = tableOptions(),
): string {
  return rows.length === 0 ? `no ${what}` : renderTable(columns, rows, options);
}

const EXAMPLES = {
  server: "srv_12",
  project: "prj_1",
  subscription: "5",
  channel: "ch_3",
  key: "31",
  organization: "3",
  user: "7",
  incident: "inc_9",
  passkey: "3",
} as const;

/** @param what how the message names it: `--workspace`, `the key` */
export function idOf(kind: keyof typeof EXAMPLES & IdKind, text: unknown, what: string): number {
  const id = typeof text === "string" ? parseId(kind, text) : undefined;
  if (id === undefined) throw new CommandError(`${what} must be an id, such as ${EXAMPLES[kind]}`);
  return id;
}

/** What was found; undefined and false stand for nothing. */
export function known<T>(value: T | undefined | false, what: string): T {
  if (value === undefined || value === false) throw new CommandError(`there is no ${what}`);
  return value;
}

export function oneOf<const W extends string>(words: readonly W[], text: unknown, what: string): W {
  const found = words.find((word) => word === text);
  if (found === undefined)
    throw new CommandError(`${what} must be ${words.slice(0, -1).join(", ")} or ${words.slice(-1).join("")}`);
  return found;
}

export function flagOf(text: unknown, what: string): boolean {
  return oneOf(["true", "false"], text, what) === "true";
}

/** Any text of 1 to 255 characters, trimmed: names of people, workspaces, projects. */
export function nameOf(text: unknown, what: string): string {
  const name = typeof text === "string" ? text.trim() : "";
  if (name === "" || [...name].length > MAX_NAME)
    throw new CommandError(`${what} must have 1 to ${MAX_NAME} characters`);
  return name;
}

const MAX_NAME = 255;

/** No more than that it can be one: mail is not what it is for. RFC 5321 section 4.5.3.1.3 bounds a path. */
export function emailOf(text: unknown, what: string): string {
  const email = String(text).trim();
  if (!/^[^\s@]+@[^\s@]+$/.test(email) || email.length > 254) {
    throw new CommandError(`${what} must be an e-mail address, such as ada@example.org`);
  }
  return email;
}
