// Puts what each process and thread loads into few files: `node scripts/bundle.mjs`, after tsc. Node 20 takes about a millisecond for each module
// of its own, and a start of `sonde up` loads some hundreds in each of four threads. An entry below takes the place of the file that tsc wrote, so
// every path stays; a file that no entry bundles is loaded as tsc wrote it.
import { rmSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { rolldown } from "rolldown";
import { isBundled } from "./bundled-packages.mjs";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const DIST = join(ROOT, "dist");
/** What is started by its path: programs, threads and child processes. */
const ENTRIES = [
  "api/texts/reading-thread",
  "cli/sonde",
  "engine/key-opener/opener-child",
  "engine/prober/worker",
  "engine/text-judge/judge-child",
  "native/sandbox/broker-thread",
  "scheduler/alerts/attempts/thread",
  "scheduler/role/worker",
  "scheduler/subscriptions/thread",
  "store/results/embedded/front",
  "store/sql/sink/thread",
];
const CHUNKS = "chunks";
/**
 * Each thread keeps the text of what it has loaded, as two bytes a character when one of them is not in Latin 1: so there are no comments, no
 * indentation, and such characters are escaped. Names stay, because stacks in the log are read by people.
 */
const SHORT = {
  comments: false,
  minify: { compress: false, mangle: false, codegen: { removeWhitespace: true, asciiOnly: true } },
};

/** Modules find files beside themselves by their own address, which a bundle has not: the address of the file that tsc wrote takes its place. */
const addresses = {
  name: "addresses",
  transform(code, id) {
    if (id.includes("node_modules") || !code.includes("import.meta.url")) return null;
    const file = relative(ROOT, id).replace(/\.ts$/, ".js");
    return code.replaceAll("import.meta.url", `__addressOf("${file}")`);
  },
  renderChunk(code, { fileName }) {
    if (!code.includes("__addressOf(")) return null;
    return code.replaceAll(/__addressOf\("([^"]+)"\)/g, (_, file) => {
      const path = relative(dirname(fileName), file);
      return `new URL("${path.startsWith(".") ? path : `./${path}`}", import.meta.url).href`;
    });
  },
};

/** @throws where a character could not be escaped, as within a tagged template */
function requireLatin1({ fileName, code = "" }) {
  const at = code.search(/[^\0-\xff]/);
  if (at >= 0)
    throw new Error(`${fileName} has a character that is not Latin 1: …${code.slice(Math.max(0, at - 60), at + 20)}`);
}

rmSync(join(DIST, CHUNKS), { recursive: true, force: true });
// Each by itself: threads share no module, and what two entries share would be one more file for each pair.
for (const name of ENTRIES) {
  const bundle = await rolldown({
    cwd: ROOT,
    input: { [name]: join(ROOT, `${name}.ts`) },
    platform: "node",
    external: (id) => !/^[./]/.test(id) && !isBundled(id),
    plugins: [addresses],
    logLevel: "warn",
  });
  const { output } = await bundle.write({
    ...SHORT,
    dir: DIST,
    format: "esm",
    entryFileNames: "[name].js",
    chunkFileNames: `${CHUNKS}/${name.replaceAll("/", "-")}/[name]-[hash].js`,
  });
  await bundle.close();
  output.forEach(requireLatin1);
}

// Made for each request to come: half a second of the API's thread otherwise.
const built = (name) => import(pathToFileURL(join(DIST, "api", name)).href);
const { documentText } = await built("openapi.js");
const { routes } = await built("endpoints/index.js");
const { PLACES } = await built("document/published.js");
const text = documentText(routes, () => PLACES);
writeFileSync(join(DIST, "api/document/openapi.json"), text.json());
writeFileSync(join(DIST, "api/document/openapi.yaml"), text.yaml());
