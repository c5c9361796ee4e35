/** The document is OpenAPI 3.1 to two validators that share no code: one of JavaScript, one of Python. */
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { routes } from "../../api/endpoints/index.ts";
import { createOpenApi, documentText } from "../../api/openapi.ts";
import { validate } from "../../testkit/api/document.suite.ts";
import { temporaryFolder } from "../../testkit/temporary-folder.ts";
import { describeWith } from "../prerequisites.ts";
import { pythonModule } from "./python-tools.ts";

const options = { baseUrl: "http://127.0.0.1:8080", docsUrl: "http://127.0.0.1:8080/docs", version: "0.1.0" };
const folder = temporaryFolder();

it("@seriousme/openapi-schema-validator accepts the document", async () => {
  expect(await validate({ ...createOpenApi(routes, options) })).toEqual([]);
});

describeWith(["python tools"], "openapi-spec-validator", () => {
  const judge = (name: string, text: string): string => {
    const file = join(folder, name);
    writeFileSync(file, text);
    const { command, env } = pythonModule("openapi_spec_validator");
    const [program = "", ...words] = command;
    return execFileSync(program, [...words, file], {
      env: { ...process.env, ...env },
      encoding: "utf8",
    });
  };

  it("accepts both forms of the document", () => {
    const text = documentText(routes, () => options);
    expect(judge("openapi.json", text.json())).toContain("OK");
    expect(judge("openapi.yaml", text.yaml())).toContain("OK");
  });

  it("refuses a document that is broken", () => {
    const broken = JSON.parse(documentText(routes, () => options).json());
    delete broken.info.version;
    expect(() => judge("broken.json", JSON.stringify(broken))).toThrow();
  });
});
