// `npm run bench -- uptime --monitors 5000 --interval 1`: prepares, then measures.
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { prepare, ROOT } from "./prepare.mjs";

await prepare();
await import(pathToFileURL(join(ROOT, "dist/bench/main.js")).href);
