/** `npm start` as a person and a supervisor use it: Ctrl-C in a terminal, SIGTERM to npm, a second start on the same data. */
import { spawn } from "node:child_process";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { afterAll, expect, it } from "vitest";
import { freePort } from "../testkit/free-port.ts";
import { temporaryFolder } from "../testkit/temporary-folder.ts";
import { describeWith } from "./prerequisites.ts";
import { cleanUp, ended, eventually } from "./service.ts";

/** As much of node-pty as is used; its own types name the package that it is an alias of. */
interface Terminals {
  spawn(
    program: string,
    words: readonly string[],
    options: { readonly cwd: string; readonly env: Readonly<Record<string, string>>; readonly cols: number },
  ): {
    write(text: string): void;
    onData(listener: (text: string) => void): void;
    onExit(listener: (end: { readonly exitCode: number }) => void): void;
  };
}
const require = createRequire(import.meta.url);
const terminals = require("node-pty") as Terminals;

const ROOT = fileURLToPath(new URL("..", import.meta.url));

async function settings(dataDir: string): Promise<Record<string, string>> {
  return {
    PATH: process.env.PATH ?? "",
    HOME: process.env.HOME ?? "",
    SONDE_DATA_DIR: dataDir,
    SONDE_PORT: String(await freePort()),
    SONDE_LOG: "warn",
  };
}

/** Presses Ctrl-C when it listens. @returns exit code and what the terminal showed */
async function startAndInterrupt(dataDir: string): Promise<{ code: number; shown: string }> {
  const terminal = terminals.spawn("npm", ["start"], { cwd: ROOT, env: await settings(dataDir), cols: 200 });
  let shown = "";
  terminal.onData((text) => {
    shown += text;
  });
  const exit = new Promise<number>((resolve) => terminal.onExit(({ exitCode }) => resolve(exitCode)));
  await eventually(async () => (shown.includes("Project: prj_1") ? true : undefined), 120_000);
  terminal.write("\u0003");
  return { code: await exit, shown };
}

describeWith(["npm"], "npm start", () => {
  afterAll(cleanUp);

  it("one Ctrl-C in a terminal drains and ends with 0, time after time", { timeout: 180_000 }, async () => {
    const dataDir = `${temporaryFolder()}/data`;
    // npm forwards the signal that the terminal has sent already, sooner or later: more than one try.
    for (const isFirst of [true, false, false]) {
      const { code, shown } = await startAndInterrupt(dataDir);
      expect(shown).toContain("stopping: ");
      expect(shown.includes("Key (shown once")).toBe(isFirst);
      if (!isFirst) expect(shown).not.toMatch(/installing|building/);
      expect(code, shown).toBe(0);
    }
  });

  it("SIGTERM to npm drains the service before npm ends, with 0", { timeout: 120_000 }, async () => {
    const env = await settings(`${temporaryFolder()}/data`);
    const npm = spawn("npm", ["start"], { cwd: ROOT, env, stdio: ["ignore", "pipe", "pipe"] });
    let shown = "";
    for (const stream of [npm.stdout, npm.stderr]) {
      stream.setEncoding("utf8").on("data", (text: string) => {
        shown += text;
      });
    }
    await eventually(async () => (shown.includes("Project: prj_1") ? true : undefined), 60_000);
    const code = await ended(npm, () => npm.kill("SIGTERM"));
    expect(shown).toContain("stopping: ");
    expect(code, shown).toBe(0);
    // No process is left: the port does not answer any more.
    await expect(fetch(`http://127.0.0.1:${env.SONDE_PORT}/api/v1/health`)).rejects.toThrow();
  });
});
