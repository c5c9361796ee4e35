// `npm run web:types`: makes anew what the page has committed: web/api/schema.d.ts from the API's document, web/look/icons.svg from lucide.
// The generators are installed here the first time (about half a minute).
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { pageDocument, SCHEMA_FILE, typesOf } from "../../scripts/page-document.mjs";

const HERE = fileURLToPath(new URL(".", import.meta.url));
const ROOT = fileURLToPath(new URL("../..", import.meta.url));

if (!existsSync(join(HERE, "node_modules/openapi-typescript")))
  execFileSync("npm", ["ci", "--ignore-scripts", "--no-audit", "--no-fund"], { cwd: HERE, stdio: "inherit" });
const { hash, text } = await pageDocument();
writeFileSync(join(ROOT, SCHEMA_FILE), await typesOf({ hash, text }));
writeFileSync(join(ROOT, "web/look/icons.svg"), sprite());
process.stdout.write(`${SCHEMA_FILE}: document ${hash}\n`);

/** One file that holds each icon of web/look/icons.json as a symbol. */
function sprite() {
  const names = JSON.parse(readFileSync(join(ROOT, "web/look/icons.json"), "utf8"));
  const folder = join(
    createRequire(pathToFileURL(join(HERE, "main.mjs"))).resolve("lucide-static/package.json"),
    "../icons",
  );
  const symbols = names.map((name) => {
    const text = readFileSync(join(folder, `${name}.svg`), "utf8");
    const start = text.indexOf(">", text.indexOf("<svg")) + 1;
    const inside = text
      .slice(start, text.indexOf("</svg>"))
      .split("\n")
      .map((line) => line.trim().replace(" />", "/>"))
      .join("");
    return `<symbol id="${name}" viewBox="0 0 24 24">${inside}</symbol>`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg"><!-- lucide 1.62.0, ISC License, Lucide Contributors -->\n${symbols.join("\n")}\n</svg>\n`;
}
