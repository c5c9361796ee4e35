// The part of the API's document that the page's types are made of. Run it with `--import ./scripts/typescript.mjs`: it prints JSON.
import { createHash } from "node:crypto";
import { routes } from "../../api/endpoints/index.ts";
import { createOpenApi } from "../../api/openapi.ts";

const PREFIX = "/api/v1";
const METHODS = ["get", "put", "post", "delete", "patch"];
/** Neither changes the types. */
const OPTIONS = { baseUrl: "http://127.0.0.1", docsUrl: "http://127.0.0.1/docs", version: "0" };

/** Whole, its types would be four times as long: headers come from a middleware, and errors are all of one shape. */
function trimmed(document) {
  const paths = {};
  for (const [path, item] of Object.entries(document.paths)) {
    if (!path.startsWith(`${PREFIX}/`)) continue;
    paths[path.slice(PREFIX.length)] = Object.fromEntries(
      METHODS.filter((method) => item[method] !== undefined).map((method) => [method, operation(item[method])]),
    );
  }
  return {
    openapi: document.openapi,
    info: { title: "Sonde", version: "1" },
    paths,
    components: { schemas: document.components.schemas },
  };
}

function operation({ operationId, parameters = [], requestBody, responses }) {
  const answers = Object.entries(responses).filter(([status]) => Number(status) < 300);
  return {
    operationId,
    parameters: parameters.filter((parameter) => parameter.in !== "header"),
    ...(requestBody !== undefined && { requestBody }),
    responses: Object.fromEntries(
      answers.map(([status, { description, content }]) => [status, { description, ...(content && { content }) }]),
    ),
  };
}

const text = JSON.stringify(trimmed(createOpenApi(routes, OPTIONS)));
process.stdout.write(
  `${JSON.stringify({ hash: createHash("sha256").update(text).digest("hex").slice(0, 16), text })}\n`,
);
