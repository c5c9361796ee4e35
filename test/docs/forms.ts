/** What a page may name: commands and their options, settings, scripts, metrics and the API's paths, held against the program itself. */
import { readFileSync } from "node:fs";
import { Ajv2020 } from "ajv/dist/2020.js";
import { Command } from "commander";
import { routes } from "../../api/endpoints/index.ts";
import { createOpenApi } from "../../api/openapi.ts";
import { commands } from "../../cli/commands/index.ts";
import { wordsOf } from "./page.ts";

type Operation = { readonly requestBody?: { readonly content: Readonly<Record<string, unknown>> } };
const document = createOpenApi(routes, {
  baseUrl: "http://127.0.0.1:8080",
  docsUrl: "http://docs.test",
  version: "0",
}) as {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
};
const ajv = new Ajv2020({ strict: false, validateFormats: false });
ajv.addSchema(document, "document");

const scripts = Object.keys(
  (JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8")) as { scripts: object }).scripts,
);

/** The tree that `sonde` parses its words with; nothing is done. */
function tree(): Command {
  const program = new Command("sonde");
  for (const add of Object.values(commands).flat()) add(program);
  const mute = (command: Command): void => {
    command.exitOverride().configureOutput({ writeOut: () => undefined, writeErr: () => undefined });
    if (command.commands.length === 0) command.action(() => undefined);
    for (const inner of command.commands) mute(inner);
  };
  mute(program);
  return program;
}

/** Of a command as it would be typed. @returns what is wrong with it */
export function commandFaults(command: string): readonly string[] {
  return wordsOf(command).flatMap((words) => {
    const [program = "", ...rest] = words[0] === "npx" ? words.slice(1) : words;
    if (program === "sonde") return sondeFaults(rest);
    if (program === "npm") return npmFaults(rest);
    return program === "curl" || program === "ask" ? requestFaults(rest) : [];
  });
}

/** What each command prints for --help. */
export function helpTexts(): readonly string[] {
  const helps: string[] = [];
  const walk = (command: Command): void => {
    command.configureOutput({ writeOut: (text) => void helps.push(text) }).outputHelp();
    for (const inner of command.commands) walk(inner);
  };
  walk(tree());
  return helps;
}

/** Commands that the help of each command shows. */
export function helpExamples(): readonly string[] {
  const lines = helpTexts().flatMap((help) => /\nExamples?:\n([\s\S]*)/.exec(help)?.[1]?.split("\n") ?? []);
  return lines.map((line) => line.trim()).filter((line) => line !== "");
}

function sondeFaults(words: readonly string[]): readonly string[] {
  try {
    tree().parse([...words], { from: "user" });
    return [];
  } catch (error) {
    const { code = "", message } = error as Error & { readonly code?: string };
    return code === "commander.helpDisplayed" || code === "commander.version"
      ? []
      : [`sonde ${words.join(" ")}: ${message}`];
  }
}

function npmFaults([verb = "", name = ""]: readonly string[]): readonly string[] {
  const script = verb === "run" ? name : verb;
  const isOurs = verb === "run" || verb === "start" || verb === "test";
  return isOurs && !scripts.includes(script) ? [`package.json has no script ${script}`] : [];
}

/** Of words in a sentence, which name a command without all that it needs. */
function mentionFaults(words: string): readonly string[] {
  const [first = "", ...rest] = words.replace(/^npx /, "").split(/\s+/);
  if (first === "npm") return npmFaults(rest);
  if (first !== "sonde") return [];
  let command = tree();
  const known = new Set(["--help", "--version"]);
  for (const word of rest) {
    const inner = command.commands.find((each) => each.name() === word);
    if (inner !== undefined) command = inner;
    else if (command.commands.length > 0 && /^[a-z]/.test(word)) return [`there is no sonde command ${words}`];
    for (const option of command.options) known.add(option.long ?? "");
  }
  const unknown = (words.match(/(?<=\s)--[a-z-]+/g) ?? []).filter((flag) => !known.has(flag));
  return unknown.map((flag) => `${words}: ${command.name()} has no option ${flag}`);
}

/** Of curl's words: method, path below the API's address, body. */
function requestFaults(words: readonly string[]): readonly string[] {
  const address = words.find((word) => /^\$API\/|^"?\$\{?API|\/api\/v1\//.test(word));
  if (address === undefined) return [];
  const after = (flag: string): string | undefined => words[words.indexOf(flag) + 1];
  const body = words.includes("-d") ? after("-d") : undefined;
  const method = words.includes("-X") ? (after("-X") ?? "") : body === undefined ? "GET" : "POST";
  // A body in a file is made by the page's own commands.
  const text = body?.startsWith("@") === true ? undefined : body;
  return pathFaults(method, address.replace(/^(?:\$API|.*\/api\/v1)/, ""), text);
}

/** @param path below /api/v1 or from the root, with its query · @param body JSON; undefined: none is sent */
function pathFaults(method: string, path: string, body?: string): readonly string[] {
  const plain = (path.split("?")[0] ?? "").replace(/^\/api\/v1(?=\/)/, "");
  const found = Object.keys(document.paths).find((each) => fits(each.replace(/^\/api\/v1/, ""), plain));
  const operation = found === undefined ? undefined : document.paths[found]?.[method.toLowerCase()];
  if (found === undefined || operation === undefined) return [`the API has no ${method} ${plain}`];
  return body === undefined ? [] : bodyFaults(found, method, body);
}

/** Names in braces stand for anything; a document's name is not taken for an id. */
function fits(known: string, path: string): boolean {
  const [left, right] = [known.split("/"), path.split("/")];
  return left.length === right.length && left.every((part, at) => part === right[at] || /^\{/.test(part));
}

function bodyFaults(path: string, method: string, text: string): readonly string[] {
  const escaped = path.replaceAll("~", "~0").replaceAll("/", "~1");
  const at = `/paths/${escaped}/${method.toLowerCase()}/requestBody/content/application~1json/schema`;
  const validate = ajv.compile({ $ref: `document#${encodeURI(at)}` });
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    return [`${method} ${path}: the body is no JSON: ${text}`];
  }
  return validate(body) ? [] : [`${method} ${path}: ${ajv.errorsText(validate.errors)}: ${text}`];
}

/** @param known names in the sources · @returns the settings and metrics that a page names and the sources do not */
export function nameFaults(page: string, known: ReadonlySet<string>): readonly string[] {
  const named = [...page.matchAll(/\bSONDE_[A-Z0-9_]*[A-Z0-9]\b|\bsonde_[a-z0-9_]*[a-z0-9]\b(?!\*)(?!_\*)/g)].map(
    ([name]) => name,
  );
  return [...new Set(named)]
    .filter((name) => !known.has(baseOf(name)))
    .map((name) => `nothing in the sources is called ${name}`);
}

const baseOf = (name: string): string => name.replace(/_(?:bucket|count|sum)$/, "");

/** Code in a sentence, outside blocks. */
export function spansOf(page: string): readonly { readonly line: number; readonly text: string }[] {
  let isFenced = false;
  return page.split("\n").flatMap((content, index) => {
    if (/^ {0,3}```/.test(content)) isFenced = !isFenced;
    if (isFenced) return [];
    return [...content.matchAll(/`([^`]+)`/g)].map(([, text = ""]) => ({ line: index + 1, text }));
  });
}

/** @returns the faults of a span */
export function spanFaults(text: string): readonly string[] {
  const [, method, path] = /^(GET|POST|PUT|DELETE) (\/[^\s]*)/.exec(text) ?? [];
  if (method !== undefined && path !== undefined) return pathFaults(method, path);
  return mentionFaults(text);
}
