/**
 * OpenVPN profiles as lines: options with their parameters, inline files, <connection> blocks. Pure text; no path is ever followed and no
 * script is read. Grammar: openvpn(8) "INLINE FILE SUPPORT", options.c parse_line.
 */
import { TunnelConfigError } from "../../contract/tunnel.ts";

export interface Option {
  readonly name: string;
  readonly parameters: readonly string[];
  /** Of the file, from 1. */
  readonly line: number;
  /** `setenv opt …`: clients that do not know it leave it out. */
  readonly isOptional?: true;
}

export interface Scope {
  readonly options: readonly Option[];
  /** Inline files by lowercased tag; the last of a tag counts. */
  readonly inline: ReadonlyMap<string, string>;
}

export interface Profile extends Scope {
  /** Each <connection> block, in the order of the file. */
  readonly connections: readonly Scope[];
}

/** options.h MAX_PARMS and OPTION_PARM_SIZE. */
const MAX_PARAMETERS = 16;
const MAX_PARAMETER_LENGTH = 255;
/** options.h CONNECTION_LIST_SIZE. */
const MAX_CONNECTIONS = 64;
/** options.h OPTION_LINE_SIZE; inline files have lines of 64 characters. */
const MAX_LINE_LENGTH = 4_096;
/** Of a profile with every key and a chain of certificates, ten times. */
const MAX_LINES = 5_000;
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
const CONTROL_CHARACTER = /[\u0000-\u0008\u000b\u000e-\u001f\u007f]/;

/** @throws TunnelConfigError naming the line by number: its text may be a secret */
export function parseProfile(text: string): Profile {
  const lines = text.replace(/^\ufeff/, "").split(/\r\n|\n|\r/);
  if (lines.length > MAX_LINES) throw new TunnelConfigError(`config has more than ${MAX_LINES} lines`);
  for (const [index, line] of lines.entries()) requireText(line, index + 1);
  const connections: Scope[] = [];
  const scope = parseScope(lines, 0, (body, first) => {
    if (connections.length === MAX_CONNECTIONS) {
      throw new TunnelConfigError(`config has more than ${MAX_CONNECTIONS} <connection> blocks`);
    }
    connections.push(parseScope(body, first, null));
  });
  return { ...scope, connections };
}

function requireText(line: string, number: number): void {
  if (line.length > MAX_LINE_LENGTH) {
    throw new TunnelConfigError(`config line ${number} has more than ${MAX_LINE_LENGTH} characters`);
  }
  if (CONTROL_CHARACTER.test(line)) throw new TunnelConfigError(`config line ${number} is not text`);
}

/** @param before lines of the file above these. @param onConnection null: within a block, where there are no more of them */
function parseScope(
  lines: readonly string[],
  before: number,
  onConnection: ((body: readonly string[], before: number) => void) | null,
): Scope {
  const options: Option[] = [];
  const inline = new Map<string, string>();
  for (let index = 0; index < lines.length; index++) {
    const number = before + index + 1;
    const tag = openingTag(lines[index] ?? "");
    if (tag === undefined) {
      const option = parseOption(lines[index] ?? "", number);
      if (option !== undefined) options.push(option);
      continue;
    }
    const end = closingLine(lines, index, tag);
    if (end === undefined) throw new TunnelConfigError(`config line ${number}: <${tag}> is not closed`);
    const body = lines.slice(index + 1, end);
    if (tag !== "connection") inline.set(tag, body.join("\n"));
    else if (onConnection !== null) onConnection(body, number);
    else throw new TunnelConfigError(`config line ${number}: <connection> within <connection>`);
    index = end;
  }
  return { options, inline };
}

/** Parameters of the last line with the option, undefined when there is none. */
export function optionOf(options: readonly Option[], name: string): readonly string[] | undefined {
  return options.findLast((option) => option.name === name)?.parameters;
}

function openingTag(line: string): string | undefined {
  return /^\s*<([a-z0-9_-]{1,32})>\s*$/i.exec(line)?.[1]?.toLowerCase();
}

function closingLine(lines: readonly string[], from: number, tag: string): number | undefined {
  for (let index = from + 1; index < lines.length; index++) {
    if ((lines[index] ?? "").trim().toLowerCase() === `</${tag}>`) return index;
  }
  return undefined;
}

/** @returns undefined for blank lines and comments */
function parseOption(line: string, number: number): Option | undefined {
  const words = wordsOf(line, number);
  const [first, ...parameters] = words;
  if (first === undefined) return undefined;
  if (words.length > MAX_PARAMETERS) throw new TunnelConfigError(`config line ${number} has too many parameters`);
  const name = first.replace(/^--/, "").toLowerCase();
  const [word, optional, ...rest] = parameters;
  if (name !== "setenv" || word !== "opt" || optional === undefined) return { name, parameters, line: number };
  return { name: optional.toLowerCase(), parameters: rest, line: number, isOptional: true };
}

/** Blanks separate; quotes keep them; a backslash takes the next character as it is, but within single quotes. */
function wordsOf(line: string, number: number): string[] {
  const words: string[] = [];
  let word: string | null = null;
  let quote: string | null = null;
  for (let index = 0; index < line.length; index++) {
    const letter = line[index] ?? "";
    if (quote === null && word === null && (letter === "#" || letter === ";")) break;
    if (letter === "\\" && quote !== "'") {
      index += 1;
      word = (word ?? "") + (line[index] ?? "");
    } else if (quote !== null) {
      if (letter === quote) quote = null;
      else word = (word ?? "") + letter;
    } else if (letter === '"' || letter === "'") {
      quote = letter;
      word ??= "";
    } else if (/\s/.test(letter)) {
      if (word !== null) words.push(word);
      word = null;
    } else word = (word ?? "") + letter;
  }
  if (quote !== null) throw new TunnelConfigError(`config line ${number}: a quotation is not closed`);
  if (word !== null) words.push(word);
  if (words.some((one) => one.length > MAX_PARAMETER_LENGTH)) {
    throw new TunnelConfigError(
      `config line ${number} has a parameter of more than ${MAX_PARAMETER_LENGTH} characters`,
    );
  }
  return words;
}
