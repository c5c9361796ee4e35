// Module hooks of scripts/typescript.mjs.
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import swc from "@swc/core";

export async function load(url, context, next) {
  if (!url.startsWith("file:") || !url.endsWith(".ts") || url.includes("/node_modules/")) return next(url, context);
  const path = fileURLToPath(url);
  const { code } = swc.transformSync(readFileSync(path, "utf8"), {
    filename: path,
    sourceMaps: "inline",
    jsc: { parser: { syntax: "typescript" }, target: "es2022", transform: { verbatimModuleSyntax: true } },
  });
  return { format: "module", source: code, shortCircuit: true };
}
