// `npm start`: everything in one process on embedded stores. Further words go to `sonde up`: npm start -- --demo
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { prepare, ROOT } from "./prepare.mjs";

await prepare();
process.argv.splice(2, 0, "up");
await import(pathToFileURL(join(ROOT, "dist/cli/sonde.js")).href);
