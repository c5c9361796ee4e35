/** Query parameters as data: one definition reads the text and documents it. An empty value means the default (docs/api-contract.md#conventions). */
import { z } from "zod";
import { parseId } from "../model/ids.ts";
import { parseTime } from "../model/time.ts";
import { badRequest } from "./errors.ts";

export interface QueryParameter<T> {
  /** What the document shows: the value as its readers understand it. */
  readonly schema: z.ZodType;
  /** The message for a bad value, for the document. */
  readonly refusal?: string;
  /** @param text empty when absent @param all every value that was sent, where it may be sent several times */
  read(text: string, all: readonly string[]): T;
}
// biome-ignore lint/suspicious/noExplicitAny: a set holds parameters of any type; readQuery gives each its own back
export type QueryParameters = Readonly<Record<string, QueryParameter<any>>>;
export type QueryOf<P extends QueryParameters> = {
  readonly [K in keyof P]: P[K] extends QueryParameter<infer T> ? T : never;
};

/** Reads the declared parameters in their order; the first bad one is thrown as a 400. Of one sent twice the first counts, unless it may have several values. */
export function readQuery<P extends QueryParameters>(parameters: P, query: string): QueryOf<P> {
  const sent = query === "" ? null : new URLSearchParams(query);
  const values: Record<string, unknown> = {};
  for (const name in parameters) {
    values[name] = parameters[name]?.read(sent?.get(name) ?? "", sent?.getAll(name) ?? []);
  }
  return values as QueryOf<P>;
}

/** Those of the greatest whole number that is exact. */
const DIGITS = /^[0-9]{1,16}$/;

function wholeNumber(
  min: number,
  max: number,
  fallback: number,
  message: string,
  description: string,
): QueryParameter<number> {
  return {
    schema: z.int().min(min).max(max).default(fallback).describe(description),
    refusal: message,
    read(text) {
      if (text === "") return fallback;
      const value = DIGITS.test(text) ? Number(text) : Number.NaN;
      if (!(value >= min && value <= max)) throw badRequest(message);
      return value;
    },
  };
}

export function limitParameter(
  fallback: number,
  description = "How many to return.",
  most = 1_000,
): QueryParameter<number> {
  return wholeNumber(1, most, fallback, `limit must be a whole number from 1 to ${most}.`, description);
}

export const offsetParameter: QueryParameter<number> = wholeNumber(
  0,
  Number.MAX_SAFE_INTEGER,
  0,
  "offset must be a whole number, 0 or more.",
  "How many matching ones to skip.",
);

/** One of a few words; without a fallback an empty value means null. */
export function wordParameter<const W extends readonly [string, ...string[]], F extends W[number] | null>(options: {
  readonly words: W;
  readonly fallback: F;
  readonly message: string;
  readonly description: string;
  /** Further spellings. */
  readonly aliases?: Readonly<Record<string, W[number]>>;
  readonly lowercase?: boolean;
}): QueryParameter<W[number] | F> {
  const words = new Map<string, W[number]>(options.words.map((word) => [word, word]));
  for (const [alias, word] of Object.entries(options.aliases ?? {})) words.set(alias, word);
  const schema = z.enum([...words.keys()] as [string, ...string[]]).describe(options.description);
  return {
    schema: options.fallback === null ? schema.optional() : schema.default(options.fallback),
    refusal: options.message,
    read(text) {
      if (text === "") return options.fallback;
      const word = words.get(options.lowercase === true ? text.toLowerCase() : text);
      if (word === undefined) throw badRequest(options.message);
      return word;
    },
  };
}

/** `1` or `true` is on, anything else off. */
export function switchParameter(description: string): QueryParameter<boolean> {
  return {
    schema: z.string().optional().describe(`${description} \`1\` or \`true\` is on; anything else is off.`),
    read: (text) => text === "1" || text === "true",
  };
}

/** Any text, as sent. */
export function textParameter(description: string): QueryParameter<string> {
  return { schema: z.string().optional().describe(description), read: (text) => text };
}

/** Any texts: the parameter may be sent several times. Empty ones do not count. @param most of them */
export function textsParameter(name: string, most: number, description: string): QueryParameter<readonly string[]> {
  const message = `${name} may be sent ${most} times at most.`;
  return {
    schema: z.array(z.string()).max(most).optional().describe(description),
    refusal: message,
    read(_, all) {
      const sent = all.filter((text) => text !== "");
      if (sent.length > most) throw badRequest(message);
      return sent;
    },
  };
}

/** `true` or `false`; null when absent. */
export function choiceParameter(name: string, description: string): QueryParameter<boolean | null> {
  const message = `${name} must be true or false.`;
  return {
    schema: z.boolean().optional().describe(description),
    refusal: message,
    read(text) {
      if (text === "") return null;
      if (text !== "true" && text !== "false") throw badRequest(message);
      return text === "true";
    },
  };
}

/** An ISO time as Unix ms; null when absent. */
export function timeParameter(name: string, description: string): QueryParameter<number | null> {
  const message = `${name} must be an ISO time, such as 2026-11-21T06:10:00Z.`;
  return {
    schema: z.string().optional().describe(description),
    refusal: message,
    read(text) {
      if (text === "") return null;
      const atMs = parseTime(text);
      if (atMs === undefined) throw badRequest(message);
      return atMs;
    },
  };
}

/** Ids of monitors between commas, each once; null when absent. @param most of them */
export function monitorIdsParameter(
  name: string,
  most: number,
  description: string,
): QueryParameter<readonly number[] | null> {
  const message = `${name} must be at most ${most} ids between commas.`;
  return {
    schema: z.string().optional().describe(description),
    refusal: message,
    read(text) {
      if (text === "") return null;
      const words = text.split(",");
      if (words.length > most) throw badRequest(message);
      const ids = words.map((word) => {
        const id = parseId("server", word.trim());
        if (id === undefined) throw badRequest(message);
        return id;
      });
      return [...new Set(ids)];
    },
  };
}
