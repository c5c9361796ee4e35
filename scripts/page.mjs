// Builds the page of web/ into dist/web, with compressed twins of its files beside them: `node scripts/page.mjs`.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import { build } from "vite";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const OUT = join(ROOT, "dist/web");
/** A smaller file is not smaller in its packet. */
const LEAST_BYTES = 512;
/** The first versions that know light-dark() and popover. */
const BROWSERS = ["chrome123", "firefox125", "safari17.5"];

/** Not what later screens alone use, as the chart, and of the languages only English: the others are loaded when they are chosen. */
const LATER =
  "chart|schema|edit-|selector-|shown-once|download|tabs|monitor-form|checked|line|hand-over|world-|places|clipboard|detect|drafts|sheet|kept-|zone-";
/** Of English, what no screen of the first load says (web/words/words.ts). */
const LATER_WORDS = "ru|fa|zh|zone|refusals|en\\.ts|en/(?:telling|keeping|moving|refusing|schema|taking)";
const SHARED = new RegExp(
  `node_modules/(?:preact|@preact|openapi-fetch)/|/web/(?:(?:api|state|parts)/(?!${LATER})|words/(?!${LATER_WORDS}))`,
);

/** A language's words are two files, each below what a lazy file may have. */
const FURTHER_WORDS = /\/web\/words\/(ru|fa|zh)\/(?:setting|telling)/;

await build({
  configFile: false,
  root: join(ROOT, "web"),
  // Relative addresses work below any path of a proxy.
  base: "./",
  logLevel: "warn",
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  build: {
    outDir: OUT,
    emptyOutDir: true,
    target: BROWSERS,
    // A data: address of the sprite cannot be referred into.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    // What screens share is one file, so that a first load is five requests; the chart stays apart.
    rolldownOptions: {
      output: {
        codeSplitting: {
          groups: [
            { name: "base", test: SHARED },
            { debugName: "more words", name: (id) => `${FURTHER_WORDS.exec(id)?.[1]}-more`, test: FURTHER_WORDS },
          ],
        },
      },
    },
  },
});
for (const name of readdirSync(OUT, { recursive: true })) {
  if (!/\.(js|css|svg|html|json)$/.test(name)) continue;
  const content = readFileSync(join(OUT, name));
  if (content.length < LEAST_BYTES) continue;
  writeFileSync(join(OUT, `${name}.gz`), gzipSync(content, { level: 9 }));
  const params = { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: content.length };
  writeFileSync(join(OUT, `${name}.br`), brotliCompressSync(content, { params }));
}
