/** What another program watches, as a document of ours (docs/use/import.md): nothing is changed, and nothing is kept. */
import { z } from "zod";
import type { ImportFile } from "../../cli/import/importer.ts";
import { importerNamed, importers } from "../../cli/import/index.ts";
import type { Api } from "../api.ts";
import { fieldOf, type JsonObject, readObject } from "../body.ts";
import { badRequest, refusal } from "../errors.ts";
import { type ApiResponse, ok } from "../http.ts";
import { EDITORS_ONLY, type ProjectCall, type Route, shape } from "../route.ts";

/** One program's files: two of blackbox_exporter, some of a folder of Gatus. */
const MOST_FILES = 50;
/** Characters of a file's name. */
const LONGEST_NAME = 255;
/** A project has no more; writing so many takes 0.2 s of a processor. */
const MOST_MONITORS = 10_000;

const convertBody = z
  .object({
    source: z.enum(importers.map(({ source }) => source)).describe("The other program"),
    text: z.string().optional().describe("Its file; of Uptime Kuma the JSON backup"),
    files: z
      .array(z.object({ name: z.string().max(LONGEST_NAME), text: z.string() }))
      .max(MOST_FILES)
      .optional()
      .describe("Several files of one program, instead of `text`"),
    as_port: z.boolean().optional().describe("Checks of databases and brokers become checks of their TCP port"),
    drop_extra: z.boolean().optional().describe("A monitor runs although a condition of it could not be said"),
  })
  .meta({
    id: "ConvertImport",
    examples: [
      {
        source: "gatus",
        text: 'endpoints: [{ name: shop, url: "https://www.test-site.org/", conditions: ["[STATUS] == 200"] }]',
      },
    ],
  });

async function convert(api: Api, call: ProjectCall): Promise<ApiResponse> {
  const body = readObject(call.request);
  const source = fieldOf(body, "source");
  if (typeof source !== "string" || importerNamed(source) === undefined) throw refusal("importSourceInvalid");
  const options = { asPort: isTrue(body, "as_port"), dropExtra: isTrue(body, "drop_extra"), nowMs: call.nowMs };
  const converted = await api.texts.convert(call.workspace.id, { source, files: filesOf(body), options });
  if ("fault" in converted) throw badRequest(converted.fault);
  const { text, report } = converted;
  if ((report.counts.monitors ?? 0) > MOST_MONITORS) throw refusal("importTooMany");
  // The other program's secrets are in it.
  return { ...ok({ document: text, report }), holdsSecrets: true };
}

/** @throws 400 */
function isTrue(body: JsonObject, field: string): boolean {
  const value = fieldOf(body, field) ?? false;
  if (typeof value !== "boolean") throw badRequest(`${field} must be true or false.`);
  return value;
}

/** @throws 400 */
function filesOf(body: JsonObject): readonly ImportFile[] {
  const [text, files] = [fieldOf(body, "text") ?? null, fieldOf(body, "files") ?? null];
  if (typeof text === "string" && files === null) return [{ name: "text", text }];
  const isList = text === null && Array.isArray(files) && files.length > 0 && files.length <= MOST_FILES;
  if (!isList || !files.every(isFile)) throw refusal("importTextInvalid");
  return files.map(({ name, text: inside }) => ({ name, text: inside }));
}

function isFile(value: unknown): value is ImportFile {
  const { name, text } = (value ?? {}) as Readonly<Record<string, unknown>>;
  return typeof name === "string" && name !== "" && name.length <= LONGEST_NAME && typeof text === "string";
}

export const imports: readonly Route[] = [
  {
    method: "POST",
    path: "/import/convert",
    operationId: "convertImport",
    audit: null,
    group: "Documents",
    summary: "Make a document of what another program watches, and tell what is lost",
    description: "An addition of ours. Nothing is changed; the document is for `sonde apply`.",
    scope: "project",
    editorsOnly: EDITORS_ONLY,
    body: { schema: convertBody, required: true },
    responses: { 200: shape("convertedImport") },
    refusals: [
      "importSourceInvalid",
      "importTextInvalid",
      "importTooMany",
      "textTooMuch",
      "textsBusy",
      [400, "text: line 3: it is YAML that cannot be read (bad indentation of a mapping entry)"],
    ],
    handle: convert,
  },
];
