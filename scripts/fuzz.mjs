// `npm run fuzz -- --seconds 60`: installs what is missing, then fuzzes (docs/develop/tests.md).
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { install, ROOT } from "./prepare.mjs";

await install();
const loader = join(ROOT, "scripts/typescript.mjs");
const words = ["--enable-source-maps", "--import", loader, join(ROOT, "test/fuzz/main.ts"), ...process.argv.slice(2)];
process.exitCode = spawnSync(process.execPath, words, { cwd: ROOT, stdio: "inherit" }).status ?? 1;
