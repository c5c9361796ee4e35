/** What a website check asks for beside a plain GET: additions to the contract's fields, each with the message that refuses it. */
import { z } from "zod";
import { firstMembers } from "../../model/first-members.ts";
import { parseUrl } from "../../model/url.ts";
import { headersFault, MOST_HEADER_BYTES, MOST_HEADERS } from "../protocols/http/request-headers.ts";
import { clientFault } from "./client-certificate.ts";

// Of the document too, whose readers do not all know \p{Cc}.
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is refused
const USER_NAME = /^[^\u0000-\u001f\u007f-\u009f:]*$/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is refused
const PASSWORD = /^[^\u0000-\u001f\u007f-\u009f]*$/;

const METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"] as const;
/** Bytes of UTF-8: with the head it fits in one message to a checker. */
const MOST_BODY_BYTES = 65_536;
/** Characters. With the headers it stays within what servers take. */
const MOST_AUTH = 1_024;
/** RFC 6750 section 2.1 names these characters; tokens of JWT have three parts of them. */
const TOKEN = /^[A-Za-z0-9\-._~+/]{1,4096}=*$/;
const MOST_TOKEN = 4_096;
/** Characters: a chain of a dozen certificates. */
const MOST_PEM = 32_768;
/** docs/api-contract.md#uptime-fields. */
export const STANDARD_REDIRECTS = 10;
const MOST_REDIRECTS = 20;

const METHOD_MESSAGE = `method must be one of ${METHODS.join(", ")}.`;
const HEADERS_MESSAGE = 'headers must be an object of texts, such as {"X-Api-Key": "abc"}, or null.';
const BODY_MESSAGE = `body must be a text of at most ${MOST_BODY_BYTES} bytes, or null.`;
const TOKEN_MESSAGE = `bearer_token must be a token of at most ${MOST_TOKEN} characters, or null.`;
const REDIRECTS_MESSAGE = `max_redirects must be a whole number from 0 to ${MOST_REDIRECTS}.`;

function authField(field: string, form: RegExp, what: string) {
  const message = `${field} must be a text of at most ${MOST_AUTH} characters${what}, or null.`;
  return z.string({ error: message }).max(MOST_AUTH, message).regex(form, message).nullable().default(null);
}

function pemField(field: string, what: string) {
  const message = `${field} must be a text in PEM of at most ${MOST_PEM} characters, or null.`;
  return z
    .string({ error: message })
    .max(MOST_PEM, message)
    .nullable()
    .default(null)
    .describe(`${what}, in PEM. Kept sealed, reads back as ***`);
}

export const requestFields = {
  method: z
    .enum(METHODS, { error: METHOD_MESSAGE })
    .nullable()
    .default("GET")
    .transform((method) => method ?? "GET")
    .describe("Method of the request; null is GET"),
  headers: z
    .preprocess(
      firstMembers(MOST_HEADERS),
      z
        .record(z.string(), z.string({ error: HEADERS_MESSAGE }), { error: HEADERS_MESSAGE })
        .superRefine((headers, context) => {
          const message = headersFault(headers);
          if (message !== undefined) context.addIssue({ code: "custom", message, input: headers });
        }),
    )
    .nullable()
    .default(null)
    .transform((headers) => (headers !== null && Object.keys(headers).length === 0 ? null : headers))
    .describe(
      `Headers to send, at most ${MOST_HEADERS} and ${MOST_HEADER_BYTES} bytes. Their values are kept sealed and read back as ***, which keeps the value when it is sent back`,
    ),
  body: z
    .string({ error: BODY_MESSAGE })
    .refine((text) => Buffer.byteLength(text) <= MOST_BODY_BYTES, BODY_MESSAGE)
    .nullable()
    .default(null)
    .describe(
      `Body to send, at most ${MOST_BODY_BYTES} bytes; application/json or text/plain unless headers say otherwise. Kept sealed, reads back as ***`,
    ),
  basic_auth_username: authField("basic_auth_username", USER_NAME, " without a colon").describe(
    "User name for Basic authentication. Kept sealed, reads back as ***",
  ),
  basic_auth_password: authField("basic_auth_password", PASSWORD, "").describe(
    "Password for Basic authentication. Kept sealed, reads back as ***",
  ),
  bearer_token: z
    .string({ error: TOKEN_MESSAGE })
    .max(MOST_TOKEN, TOKEN_MESSAGE)
    // What stands for a kept token is none.
    .refine((token) => token === "***" || TOKEN.test(token), TOKEN_MESSAGE)
    .nullable()
    .default(null)
    .describe("Token for `Authorization: Bearer`. Kept sealed, reads back as ***"),
  client_certificate: pemField(
    "client_certificate",
    "Certificate to show to an https server that asks for one, with its chain",
  ),
  client_key: pemField("client_key", "Its private key, RSA up to 4,096 bits or EC"),
  max_redirects: z
    .int({ error: REDIRECTS_MESSAGE })
    .min(0, REDIRECTS_MESSAGE)
    .max(MOST_REDIRECTS, REDIRECTS_MESSAGE)
    .nullable()
    .default(STANDARD_REDIRECTS)
    .transform((most) => most ?? STANDARD_REDIRECTS)
    .describe(
      `Redirects to follow, null is ${STANDARD_REDIRECTS}; 0 follows none and judges the redirect's own status code`,
    ),
};

/** Sealed; what is shown of them is *** alone. */
export const SECRET_FIELDS = [
  "headers",
  "body",
  "basic_auth_username",
  "basic_auth_password",
  "bearer_token",
  "client_certificate",
  "client_key",
] as const satisfies readonly (keyof typeof requestFields)[];

export interface RequestSettings {
  readonly method?: (typeof METHODS)[number];
  readonly headers?: Readonly<Record<string, string>> | null;
  readonly body?: string | null;
  readonly basic_auth_username?: string | null;
  readonly basic_auth_password?: string | null;
  readonly bearer_token?: string | null;
  readonly client_certificate?: string | null;
  readonly client_key?: string | null;
  readonly max_redirects?: number;
}

/** Rules between fields. */
export function checkRequestFields(
  settings: RequestSettings & { readonly url: string; readonly keyword?: string | undefined },
  context: z.RefinementCtx,
): void {
  const { method, headers, body, basic_auth_username: user, basic_auth_password: password, bearer_token } = settings;
  const refuse = (field: keyof RequestSettings, message: string): void =>
    context.addIssue({ code: "custom", path: [field], message, input: settings[field] });
  if (method === "HEAD" && settings.keyword !== undefined) {
    refuse("method", "method must not be HEAD: its answer has no text to look at.");
  }
  if (method === "HEAD" && typeof body === "string") refuse("body", "body is not sent with method HEAD.");
  if (typeof password === "string" && typeof user !== "string") {
    refuse("basic_auth_password", "basic_auth_password needs basic_auth_username.");
  }
  const ways = [
    ...(namesUser(settings.url) ? ["url"] : []),
    ...(typeof user === "string" ? ["basic_auth_username"] : []),
    ...(typeof bearer_token === "string" ? ["bearer_token"] : []),
    ...(Object.keys(headers ?? {}).some((name) => name.toLowerCase() === "authorization") ? ["headers"] : []),
  ];
  if (ways.length > 1) {
    const last = ways.at(-1) as keyof RequestSettings;
    refuse(last, `${ways.join(" and ")} each say who asks: one of them may.`);
  }
  const fault = clientFault(settings);
  if (fault !== undefined) refuse(fault.field, fault.message);
}

function namesUser(address: string): boolean {
  const url = parseUrl(address);
  return url !== undefined && (url.username !== "" || url.password !== "");
}
