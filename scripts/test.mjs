// `npm test`: prepares, then runs every suite. Further words go to vitest: npm test -- engine/
import { spawn } from "node:child_process";
import { join } from "node:path";
import { prepare, ROOT } from "./prepare.mjs";

await prepare();
const child = spawn(process.execPath, [join(ROOT, "node_modules/vitest/vitest.mjs"), "run", ...process.argv.slice(2)], {
  cwd: ROOT,
  stdio: "inherit",
});
child.on("close", (code, signal) => process.exit(code ?? (signal === null ? 0 : 1)));
