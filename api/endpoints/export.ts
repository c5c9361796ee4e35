/** A project as a document (docs/api-contract.md#documents). */
import type { Api } from "../api.ts";
import { makeExport } from "../export/make-export.ts";
import { type ApiResponse, ok } from "../http.ts";
import { readQuery, textParameter } from "../query.ts";
import { EDITORS_ONLY, type ProjectCall, type Route, shape } from "../route.ts";

const exportQuery = { name: textParameter("What this document has. Without it: all of the project") } as const;

async function exportDocument(api: Api, call: ProjectCall): Promise<ApiResponse> {
  const { name } = readQuery(exportQuery, call.request.query);
  const { text, secrets, ...exported } = await makeExport(api, call, name === "" ? null : name);
  return ok({ ...exported, document: text, secrets: secrets.map((one) => ({ ...one, path: one.path.map(String) })) });
}

export const exports: readonly Route[] = [
  {
    method: "GET",
    path: "/export",
    operationId: "exportDocument",
    group: "Documents",
    summary: "Write what there is as a document",
    description:
      "An addition of ours. Applying what it answers changes nothing. Secrets are never in it: a variable of the environment stands for each.",
    scope: "project",
    editorsOnly: EDITORS_ONLY,
    query: exportQuery,
    responses: { 200: shape("exportedDocument") },
    refusals: ["documentNotFound"],
    handle: exportDocument,
  },
];
