/**
 * The fenced blocks of a Markdown page and what a comment before each says of it, invisible to readers:
 * `<!-- run -->`, `<!-- run: website wireguard -->` (what the block needs), `<!-- form: why it is not run -->`. Pure.
 */

/** What a block needs beside the folder that it runs in. */
export const NEEDS = [
  "website",
  "wireguard",
  "list",
  "cores",
  "data",
  "emptied",
  "stores",
  "systemd",
  "installed",
  "namespace",
  "service",
] as const;
export type Need = (typeof NEEDS)[number];

export type Plan =
  | { readonly type: "run"; readonly needs: readonly Need[] }
  | { readonly type: "form"; readonly reason: string };

export interface Block {
  /** Of the opening fence, from 1. */
  readonly line: number;
  /** `sh`, `console`, `json`, …; empty when the fence names none. */
  readonly language: string;
  readonly text: string;
  /** null: no comment says it. */
  readonly plan: Plan | null;
}

/** A command, and in a `console` block the output that the page shows. */
export interface Step {
  /** Of its first line in the page, from 1. */
  readonly line: number;
  readonly command: string;
  /** null: the page shows none. */
  readonly shown: string | null;
}

const FENCE = /^ {0,3}```(\S*)/;
const COMMENT = /^<!-- (run|form)(?:: (.+?))? -->$/;

export function blocksOf(page: string): readonly Block[] {
  const lines = page.split("\n");
  const blocks: Block[] = [];
  for (let at = 0; at < lines.length; at++) {
    const [, language] = FENCE.exec(lines[at] ?? "") ?? [];
    if (language === undefined) continue;
    const end = lines.findIndex((line, index) => index > at && line.trim() === "```");
    if (end === -1) throw new Error(`line ${at + 1}: the block has no end`);
    blocks.push({ line: at + 1, language, text: lines.slice(at + 1, end).join("\n"), plan: planBefore(lines, at) });
    at = end;
  }
  return blocks;
}

/** @throws when the comment says what is not known */
function planBefore(lines: readonly string[], fence: number): Plan | null {
  const before = lines[fence - 1]?.trim() === "" ? lines[fence - 2] : lines[fence - 1];
  const [, type, words = ""] = COMMENT.exec(before?.trim() ?? "") ?? [];
  if (type === undefined) return null;
  if (type === "form") {
    if (words === "") throw new Error(`line ${fence}: the comment gives no reason`);
    return { type, reason: words };
  }
  const needs = words.split(" ").filter((word) => word !== "");
  const unknown = needs.filter((word) => !NEEDS.some((need) => need === word));
  if (unknown.length > 0) throw new Error(`line ${fence}: the test knows no need ${unknown.join(", ")}`);
  return { type: "run", needs: NEEDS.filter((need) => needs.includes(need)) };
}

export const isShell = ({ language }: Block): boolean => ["sh", "bash", "shell", "console"].includes(language);

/** The commands of a shell block, in their order; lines that are comments are none. */
export function stepsOf({ language, line, text }: Block): readonly Step[] {
  const lines = text.split("\n").map((content, index) => ({ content, line: line + 1 + index }));
  return language === "console" ? shownSteps(lines) : plainSteps(lines);
}

interface Line {
  readonly content: string;
  readonly line: number;
}

function plainSteps(lines: readonly Line[]): readonly Step[] {
  const steps: Step[] = [];
  let open = null as Line | null;
  for (const { content, line } of lines) {
    if (open === null && /^\s*(?:#|$)/.test(content)) continue;
    open = open === null ? { content, line } : { ...open, content: `${open.content}\n${content}` };
    if (!isWhole(open.content)) continue;
    steps.push({ line: open.line, command: open.content, shown: null });
    open = null;
  }
  if (open !== null) throw new Error(`line ${open.line}: the command has no end`);
  return steps;
}

/** `$ ` begins a command, `> ` goes on with it, all else is what it answers. */
function shownSteps(lines: readonly Line[]): readonly Step[] {
  const steps: { line: number; command: string; shown: string[] }[] = [];
  for (const { content, line } of lines) {
    const last = steps.at(-1);
    if (content.startsWith("$ ")) steps.push({ line, command: content.slice(2), shown: [] });
    else if (last === undefined) throw new Error(`line ${line}: output before a command`);
    else if (content.startsWith("> ")) last.command += `\n${content.slice(2)}`;
    else last.shown.push(content);
  }
  return steps.map(({ line, command, shown }) => ({ line, command, shown: shown.join("\n").trimEnd() || null }));
}

/** Whether quotes are closed, no line goes on, and a here-document has its end. */
function isWhole(command: string): boolean {
  const [, end] = /<<'?([A-Z]+)'?\n/.exec(`${command}\n`) ?? [];
  if (end !== undefined) return command.split("\n").slice(1).includes(end);
  let quote = "";
  for (let at = 0; at < command.length; at++) {
    const letter = command[at] ?? "";
    if (quote === "'") quote = letter === "'" ? "" : quote;
    else if (letter === "\\") at++;
    else if (quote === '"') quote = letter === '"' ? "" : quote;
    else if (letter === "#" && /\s/.test(command[at - 1] ?? " ")) at = endOfLine(command, at);
    else if (letter === "'" || letter === '"') quote = letter;
  }
  return quote === "" && !command.endsWith("\\");
}

function endOfLine(text: string, from: number): number {
  const end = text.indexOf("\n", from);
  return end === -1 ? text.length : end;
}

/** The words of each simple command in a command: quotes taken off, redirections, assignments and comments left out. */
export function wordsOf(command: string): readonly (readonly string[])[] {
  const commands: string[][] = [[]];
  for (const [token, isQuoted] of tokensOf(command)) {
    const words = commands.at(-1) ?? [];
    if (!isQuoted && /^(?:[|;\n]|\|\||&&?|[{}]|[()]+)$/.test(token)) commands.push([]);
    else if (words.length > 0 || !/^[A-Za-z_]+=/.test(token)) words.push(token);
  }
  return commands.filter((words) => words.length > 0).map(withoutRedirections);
}

function withoutRedirections(words: readonly string[]): readonly string[] {
  return words.filter((word, at) => !/^\d?[<>]/.test(word) && !/^\d?(?:>>?|<)$/.test(words[at - 1] ?? ""));
}

/** Text between blanks, and what parts commands. */
function tokensOf(command: string): readonly (readonly [token: string, isQuoted: boolean])[] {
  const found = command.matchAll(
    /\\\n|(?<=\s|^)#[^\n]*|(\n|\|\||&&|[|;&])|((?:\d?>&\d|"(?:\\.|[^"\\])*"|'[^']*'|\$\([^)]*\)|\\.|[^\s|;&"'\\])+)/g,
  );
  return [...found].flatMap(([, parting, word]) => {
    if (parting !== undefined) return [[parting, false] as const];
    if (word === undefined) return [];
    const plain = word.replace(/"((?:\\.|[^"\\])*)"|'([^']*)'|\\(.)/g, (_all, double, single, one) =>
      double === undefined ? (single ?? one) : double.replace(/\\(.)/g, "$1"),
    );
    return [[plain, plain !== word] as const];
  });
}
