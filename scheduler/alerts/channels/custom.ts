/** Any request over HTTP, in one's own words. */
import { z } from "zod";
import type { Message } from "../../../model/alert-message.ts";
import { firstMembers } from "../../../model/first-members.ts";
import { faultOf } from "../rule-words.ts";
import { MOST_TEMPLATE, Rendering, templateContext } from "../template.ts";
import { delivered, refused } from "./answers.ts";
import { defineChannel } from "./define.ts";
import { hasControl, secret } from "./fields.ts";
import { tidy } from "./tidy.ts";

/** Characters of templates: they are read for each message. */
const MOST_URL = 2_048;
const MOST_HEADERS = 20;
/** Of a header once it is rendered; servers take 8 KiB of all. */
const MOST_HEADER = 4_096;
const MOST_SECRETS = 20;
const MOST_VALUE = 1_024;
/** Characters; a certificate or a long token. */
const MOST_SECRET = 8_192;
/** RFC 9110 section 5.6.2: a token. */
const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}$/;
/** They frame the request, and are ours to say. */
const OUR_HEADERS: ReadonlySet<string> = new Set(
  "host content-length transfer-encoding connection keep-alive te trailer upgrade expect proxy-connection user-agent".split(
    " ",
  ),
);

function template(most: number, what: string) {
  return z
    .string({ error: "must be a template" })
    .max(most, `must have at most ${most} characters`)
    .check((context) => {
      const fault = faultOf(context.value);
      if (fault === null) return;
      context.issues.push({
        code: "custom",
        message: `is no template that can be used: ${fault}`,
        input: context.value,
      });
    })
    .describe(what);
}

const schema = z.strictObject({
  url: template(MOST_URL, "Where the request goes; a template, so that a token can be {{ secret.token }}").refine(
    (text) => /^https?:\/\/[^{]/.test(text) && !hasControl(text),
    "must begin with http:// or https:// and a host",
  ),
  method: z
    .enum(["POST", "PUT", "GET", "PATCH", "DELETE"], { error: "must be POST, PUT, GET, PATCH or DELETE" })
    .default("POST")
    .describe("Method"),
  headers: z
    .preprocess(
      firstMembers(MOST_HEADERS),
      z.record(z.string().regex(HEADER_NAME, "must have names of headers"), template(MOST_VALUE, "Value, a template"), {
        error: "must be an object of names and values",
      }),
    )
    .refine((headers) => Object.keys(headers).length <= MOST_HEADERS, `must have at most ${MOST_HEADERS}`)
    .refine(
      (headers) => !Object.keys(headers).some((name) => OUR_HEADERS.has(name.toLowerCase())),
      "must not frame the request: no host, content-length, connection …",
    )
    .default({})
    .describe("Headers; their values are templates, which are shown: name what is secret {{ secret.<name> }}"),
  body: template(MOST_TEMPLATE, "A template")
    .nullable()
    .default(null)
    .describe("Body, a template; {{ message.title | json }} is safe within JSON"),
  statuses: z
    .array(
      z.int({ error: "must be statuses" }).min(200, "must be from 200 to 599").max(599, "must be from 200 to 599"),
      {
        error: "must be a list of statuses",
      },
    )
    .max(20, "must have at most 20")
    .nullable()
    .default(null)
    .describe("Statuses that mean that it was taken; without it every 2xx"),
  secrets: secret(
    z
      .record(
        z.string().regex(/^[a-z][a-z0-9_]{0,39}$/, "must have names of a-z, 0-9 and _"),
        z.string().max(MOST_SECRET),
        {
          error: "must be an object of names and values",
        },
      )
      .refine((values) => Object.keys(values).length <= MOST_SECRETS, `must have at most ${MOST_SECRETS}`)
      .default({})
      .describe("Values that templates name as {{ secret.<name> }}"),
  ),
});
type Settings = z.infer<typeof schema>;

/** Line ends would begin another header. */
function headerValue(text: string): string {
  return tidy(text, MOST_HEADER).replace(/[^\u0020-\u00ff]/g, "?");
}

function rendered(message: Message, { url, headers, body, secrets }: Settings) {
  const rendering = new Rendering({ ...templateContext(message), secret: secrets });
  const lines = Object.entries(headers).map(([name, value]) => {
    return [name.toLowerCase(), headerValue(rendering.render(value))] as const;
  });
  return {
    // A space of a rendered value is no part of an address.
    url: rendering.render(url).trim(),
    headers: Object.fromEntries(lines),
    body: body === null ? null : rendering.render(body),
  };
}

export const custom = defineChannel({
  kind: "custom",
  name: "Custom request",
  summary: "Any request over HTTP, with your own words",
  isForPrograms: true,
  schema,
  docs: "docs/use/channels/custom.md",
  places: ["url", "headers", "body"],
  request(message, settings) {
    const { url, headers, body } = rendered(message, settings);
    const type = headers["content-type"] === undefined && body !== null ? { "content-type": "application/json" } : {};
    return {
      method: settings.method,
      url,
      headers: { ...type, ...headers },
      body: settings.method === "GET" ? null : body,
    };
  },
  masked: (settings) => ({
    ...settings,
    secrets: Object.fromEntries(Object.keys(settings.secrets).map((name) => [name, "***"])),
  }),
  judge(answer, { statuses }) {
    const isTaken = statuses?.includes(answer.status) ?? (answer.status >= 200 && answer.status < 300);
    return isTaken ? delivered(answer) : refused(answer);
  },
});
