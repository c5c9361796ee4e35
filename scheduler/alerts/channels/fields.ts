/** Fields that settings of several kinds have. */
import { z } from "zod";
import { withoutTrailing } from "../../../model/text.ts";
import { parseUrl } from "../../../model/url.ts";

/** Bytes of UTF-8 would be more exact; characters are what people count. Of the configuration fields of the contract. */
const MOST_URL = 8_192;

/** Marks a secret field, which is never shown: it is sealed, and clients show a password field for it. */
const SECRET_MARK = "x-secret";

export function secret<Of extends z.ZodType>(field: Of): Of {
  return field.meta({ [SECRET_MARK]: true }) as Of;
}

export function isSecret(field: z.ZodType): boolean {
  return (field.meta() as Readonly<Record<string, unknown>> | undefined)?.[SECRET_MARK] === true;
}

/** A line of text. */
export function line(most: number, what: string) {
  const message = `must be a line of 1 to ${most} characters`;
  return z
    .string({ error: message })
    .trim()
    .min(1, message)
    .max(most, message)
    .refine((text) => !hasControl(text), message)
    .describe(what);
}

export function hasControl(text: string): boolean {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
  return /[\u0000-\u001f\u007f]/.test(text);
}

/** An http or https address; a user and a password have no place in it, because it is shown. */
export function address(what: string) {
  return z
    .string({ error: "must be an http or https address" })
    .trim()
    .max(MOST_URL, `must have at most ${MOST_URL} characters`)
    .refine(isWebAddress, "must be an http or https address without a user name")
    .describe(what);
}

/** Where a service is: an address to which paths are added. */
export function serverOf(what: string) {
  return address(what)
    .refine((text) => !/[?#]/.test(text), "must be an address without ? and #")
    .transform((text) => withoutTrailing(text, "/"));
}

export function server(standard: string, what: string) {
  return serverOf(what).default(standard);
}

/** A whole number of a range. */
export function whole(from: number, to: number, standard: number, what: string) {
  const message = `must be a whole number from ${from} to ${to}`;
  return z.int({ error: message }).min(from, message).max(to, message).default(standard).describe(what);
}

/** Absent or empty counts as none. */
export function optionalLine(most: number, what: string) {
  return line(most, what).nullable().default(null).describe(what);
}

function isWebAddress(text: string): boolean {
  const url = parseUrl(text);
  if (url === undefined || hasControl(text)) return false;
  return (url.protocol === "http:" || url.protocol === "https:") && url.username === "" && url.password === "";
}
