/** What `npm start` says when a fresh clone cannot be prepared: the reason and what to do, in one line, exit code 1. */
import { execFile } from "node:child_process";
import { chmodSync, cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { temporaryFolder } from "../testkit/temporary-folder.ts";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const folder = temporaryFolder();

/** A clone with nothing installed, where npm and the compiler are shell scripts of the test. */
function clone(
  npm: string,
  tsc?: string,
): { dir: string; start(before?: string): Promise<{ code: number; said: string }> } {
  const dir = mkdtempSync(join(folder, "clone-"));
  for (const name of ["scripts", "package.json", "package-lock.json", "tsconfig.build.json"])
    cpSync(join(ROOT, name), join(dir, name), { recursive: true });
  // It bundles what a compiler wrote: the compilers of these tests write nothing.
  writeFileSync(join(dir, "scripts/bundle.mjs"), "");
  const bin = join(dir, "bin");
  mkdirSync(bin);
  writeFileSync(join(bin, "npm"), `#!/bin/sh\n${npm}\n`);
  chmodSync(join(bin, "npm"), 0o755);
  if (tsc !== undefined) {
    mkdirSync(join(dir, "node_modules/typescript/bin"), { recursive: true });
    writeFileSync(join(dir, "node_modules/typescript/bin/tsc"), tsc);
    mkdirSync(join(dir, "node_modules/better-sqlite3"), { recursive: true });
    writeFileSync(join(dir, "node_modules/better-sqlite3/index.js"), "module.exports = class { close() {} };\n");
  }
  const start = (before = ""): Promise<{ code: number; said: string }> =>
    new Promise((resolve) => {
      const script = `${before}await import(${JSON.stringify(join(dir, "scripts/start.mjs"))});`;
      const env = { ...process.env, PATH: `${bin}:${process.env.PATH}` };
      writeFileSync(join(dir, "run.mjs"), script);
      execFile(process.execPath, [join(dir, "run.mjs")], { cwd: dir, env }, (error, stdout, stderr) =>
        resolve({ code: error === null ? 0 : Number(error.code), said: stderr + stdout }),
      );
    });
  return { dir, start };
}

function lastLine(said: string): string {
  return said.trimEnd().split("\n").at(-1) ?? "";
}

describe("a start that cannot be prepared", () => {
  it.each([
    [
      "npm ERR! code ENOTFOUND\nnpm ERR! getaddrinfo ENOTFOUND registry",
      /registry cannot be reached: check the network/,
    ],
    [
      "prebuild-install warn ECONNREFUSED\ngyp ERR! stack Error: not found: make",
      /neither downloaded nor compiled: apt-get install g\+\+ make python3/,
    ],
    [
      "gyp ERR! stack FetchError: request to headers failed, ENOTFOUND",
      /headers cannot be downloaded: set npm_config_nodedir/,
    ],
    [
      "gyp ERR! stack is related to network connectivity. In most cases you are behind a proxy",
      /headers cannot be downloaded: set npm_config_nodedir/,
    ],
    ["npm ERR! code ENOSPC", /the disk is full/],
    ["npm ERR! code EACCES", /not writable for this user/],
    ["npm ERR! something new", /the reason is above \(code 7\)/],
  ])("npm says %s", async (output, advice) => {
    const { start } = clone(`printf '%s\\n' ${JSON.stringify(output)} >&2; exit 7`);
    const { code, said } = await start();
    expect(code).toBe(1);
    expect(lastLine(said)).toMatch(/^sonde: installing the pinned dependencies failed: /);
    expect(lastLine(said)).toMatch(advice);
    expect(said).toContain(output.split("\n")[0]);
  });

  it("there is no npm", async () => {
    const { dir, start } = clone("");
    rmSync(join(dir, "bin/npm"));
    const { code, said } = await start("process.env.PATH = '/nowhere'; ");
    expect(code).toBe(1);
    expect(lastLine(said)).toMatch(/cannot run npm \(ENOENT\); install Node with npm/);
  });

  it("better-sqlite3 was installed and does not load, and a rebuild does not help", async () => {
    const { start } = clone('[ "$1" != rebuild ] || echo rebuilt >> log; exit 0');
    const { code, said } = await start();
    expect(code).toBe(1);
    expect(lastLine(said)).toMatch(/^sonde: better-sqlite3 neither downloaded nor compiled: apt-get install/);
    expect(said).toContain("compiling better-sqlite3");
  });

  it.each(["18.20.4", "20.18.1"])("Node %s is too old, and nothing is installed with it", async (version) => {
    const { dir, start } = clone("touch installed");
    const { code, said } = await start(
      `Object.defineProperty(process.versions, "node", { value: ${JSON.stringify(version)} }); `,
    );
    expect(code).toBe(1);
    expect(said).toBe(`sonde: Node ${version} is too old: install Node 20.19.0 or newer (Node 20 and 24 are tested)\n`);
    expect(existsSync(join(dir, "installed"))).toBe(false);
  });

  it("does not build", async () => {
    const { dir, start } = clone("exit 0", "console.log('a.ts(1,1): error TS1: no'); process.exit(2);");
    for (let attempt = 0; attempt < 2; attempt++) {
      const { code, said } = await start();
      expect(code).toBe(1);
      expect(said).toContain("a.ts(1,1): error TS1: no");
      expect(lastLine(said)).toBe("sonde: building failed: the reason is above (code 2)");
    }
    expect(existsSync(join(dir, "dist/.sonde-built"))).toBe(false);
  });
});

describe("better-sqlite3's sources", () => {
  /** Which of its two lines this Node loads (scripts/prune.mjs). */
  const SQLITE = Number(process.versions.napi) >= 10 ? "better-sqlite3-napi" : "better-sqlite3";
  const LOADS = "module.exports = class { close() {} };";
  const BRINGS = `d=node_modules/${SQLITE}; [ -d $d ] || { mkdir -p $d; echo '${LOADS}' > $d/index.js; touch $d/binding.gyp; echo brought >> log; }; echo $* >> words`;

  it("are gone after an install, and brought again for a Node that must compile them", async () => {
    const { dir, start } = clone(BRINGS);
    const again = async (): Promise<string> => {
      rmSync(join(dir, "node_modules/.sonde-installed"), { force: true });
      await start();
      expect(existsSync(join(dir, "node_modules", SQLITE, "binding.gyp"))).toBe(false);
      return readFileSync(join(dir, "log"), "utf8");
    };
    expect(await again()).toBe("brought\n");
    expect(await again()).toBe("brought\n");
    writeFileSync(join(dir, "node_modules", SQLITE, "index.js"), "throw new Error('compiled for another Node');\n");
    expect(await again()).toBe("brought\nbrought\n");
    // Nothing that npm installs runs a script of its own, but for the one that is built by its name.
    for (const words of readFileSync(join(dir, "words"), "utf8").trim().split("\n"))
      expect(words).toMatch(/^((ci|install) --ignore-scripts|rebuild better-sqlite3) /);
  });
});

describe("a second start", () => {
  const BUILDS = `
    const { mkdirSync, writeFileSync, appendFileSync } = require("node:fs");
    appendFileSync("builds", "x");
    mkdirSync("dist/cli", { recursive: true });
    writeFileSync("dist/package.json", '{"type":"module"}');
    writeFileSync("dist/cli/sonde.js", "console.log('started', ...process.argv.slice(2));");
  `;

  it("neither installs nor builds again until something changes", async () => {
    const { dir, start } = clone("echo installed >> installs", BUILDS);
    mkdirSync(join(dir, "model"));
    writeFileSync(join(dir, "model/a.ts"), "export const a = 1;\n");
    expect(await start()).toMatchObject({
      code: 0,
      said: expect.stringMatching(/installing[\s\S]*building[\s\S]*started up/),
    });
    expect(await start()).toEqual({ code: 0, said: "started up\n" });
    writeFileSync(join(dir, "model/a.test.ts"), "export const a = 1;\n");
    expect(await start()).toEqual({ code: 0, said: "started up\n" });
    writeFileSync(join(dir, "model/b.ts"), "export const b = 1;\n");
    expect((await start()).said).toMatch(/^building …\n[\s\S]*started up\n$/);
    writeFileSync(join(dir, "dist/stale.js"), "");
    rmSync(join(dir, "model/b.ts"));
    expect((await start()).said).toMatch(/^building …\n/);
    expect(existsSync(join(dir, "dist/stale.js"))).toBe(false);
    writeFileSync(join(dir, "package-lock.json"), "{}");
    expect((await start()).said).toMatch(/^installing [\s\S]*\nbuilding …\n/);
  });

  it("builds again when a file of any folder of the build changes", { timeout: 60_000 }, async () => {
    const { include } = JSON.parse(readFileSync(join(ROOT, "tsconfig.build.json"), "utf8")) as { include: string[] };
    const folders = include.filter((name) => !name.endsWith(".ts"));
    expect(folders.length).toBeGreaterThan(5);
    const { dir, start } = clone("exit 0", BUILDS);
    await start();
    for (const name of folders) {
      mkdirSync(join(dir, name));
      writeFileSync(join(dir, name, "a.ts"), "");
      expect((await start()).said, name).toMatch(/^building …\n/);
    }
  });
});
