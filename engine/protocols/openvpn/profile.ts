/**
 * OpenVPN profiles as lines: options with their parameters, inline files, <connection> blocks. Pure text; no path is ever followed and no
 * script is looked at. Grammar: openvpn(8) "INLINE FILE SUPPORT", options.c parse_line.
 */
import { TunnelConfigError } from "../../tunnel.ts";

export interface Option {
  readonly name: string;
  readonly parameters: readonly string[];
}

export interface Profile {
  readonly options: readonly Option[];
  /** Inline files by lowercased tag; the last of a tag counts. */
  readonly inline: ReadonlyMap<string, string>;
  /** Options of each <connection> block, in the order of the file. */
  readonly connections: readonly (readonly Option[])[];
}

/** options.h MAX_PARMS and OPTION_PARM_SIZE. */
const MAX_PARAMETERS = 16;
const MAX_PARAMETER_LENGTH = 255;
/** options.h CONNECTION_LIST_SIZE. */
const MAX_CONNECTIONS = 64;

/** @throws TunnelConfigError naming the line by number: its text may be a secret */
export function parseProfile(text: string): Profile {
  const lines = text.replace(/^\ufeff/, "").split(/\r\n|\n|\r/);
  const options: Option[] = [];
  const inline = new Map<string, string>();
  const connections: (readonly Option[])[] = [];
  for (let index = 0; index < lines.length; index++) {
    const tag = openingTag(lines[index] ?? "");
    if (tag === undefined) {
      const option = parseOption(lines[index] ?? "", index + 1);
      if (option !== undefined) options.push(option);
      continue;
    }
    const end = closingLine(lines, index, tag);
    const body = lines.slice(index + 1, end);
    if (tag === "connection") {
      if (connections.length === MAX_CONNECTIONS) {
        throw new TunnelConfigError(`config has more than ${MAX_CONNECTIONS} <connection> blocks`);
      }
      const first = index + 2;
      connections.push(body.flatMap((line, at) => parseOption(line, first + at) ?? []));
    } else inline.set(tag, body.join("\n"));
    index = end;
  }
  return { options, inline, connections };
}

/** Parameters of the last line with the option, undefined when there is none. */
export function optionOf(options: readonly Option[], name: string): readonly string[] | undefined {
  return options.findLast((option) => option.name === name)?.parameters;
}

function openingTag(line: string): string | undefined {
  return /^\s*<([a-z0-9_-]+)>\s*$/i.exec(line)?.[1]?.toLowerCase();
}

function closingLine(lines: readonly string[], from: number, tag: string): number {
  for (let index = from + 1; index < lines.length; index++) {
    if ((lines[index] ?? "").trim().toLowerCase() === `</${tag}>`) return index;
  }
  throw new TunnelConfigError(`config line ${from + 1}: <${tag}> is not closed`);
}

/** @returns undefined for blank lines and comments */
function parseOption(line: string, number: number): Option | undefined {
  const words = wordsOf(line, number);
  const [first, ...parameters] = words;
  if (first === undefined) return undefined;
  if (words.length > MAX_PARAMETERS) throw new TunnelConfigError(`config line ${number} has too many parameters`);
  return { name: first.replace(/^--/, "").toLowerCase(), parameters };
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
