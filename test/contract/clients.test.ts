/** Clients that generators make of the published document work against the service, without a patch and without a setting of the generator. */
import { execFile } from "node:child_process";
import { copyFileSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, it } from "vitest";
import { freePort } from "../../testkit/free-port.ts";
import { temporaryFolder } from "../../testkit/temporary-folder.ts";
import { describeWith } from "../prerequisites.ts";
import { cleanUp, type RunningService, startService } from "../service.ts";
import { startWebsite, type Website } from "../targets.ts";
import { pythonModule } from "./python-tools.ts";
import { typescriptModules } from "./typescript-tools.ts";

const run = promisify(execFile);
const SCRIPTS = fileURLToPath(new URL("clients/", import.meta.url));
/** Strict, as in a project of a user's. */
const COMPILER_OPTIONS = {
  target: "ES2023",
  module: "NodeNext",
  moduleResolution: "NodeNext",
  strict: true,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  types: ["node"],
};

/** One for each: each makes what it reads. */
interface World {
  readonly service: RunningService;
  /** With the file of the published document. */
  readonly folder: string;
  readonly document: string;
  readonly settings: string;
}

async function openWorld(website: Website): Promise<World> {
  const service = await startService({ env: { SONDE_ALLOW_NETS: "127.0.0.0/8", SONDE_CANARIES: "" } });
  const folder = temporaryFolder();
  const document = join(folder, "openapi.json");
  writeFileSync(document, await (await fetch(`${service.url}/openapi.json`)).text());
  const closed = await freePort();
  const settings = JSON.stringify({
    url: service.url,
    key: service.firstKey,
    website: website.url,
    list: `${website.url}list`,
    nothing: `http://127.0.0.1:${closed}/`,
    port: website.port,
    link: `trojan://secret@127.0.0.1:${closed}?security=tls#Link`,
  });
  return { service, folder, document, settings };
}

let website: Website;
beforeAll(async () => {
  website = await startWebsite();
});
afterAll(async () => {
  await cleanUp();
  await website.close();
});

describeWith(["python tools"], "openapi-python-client", () => {
  it("makes a client that understands every answer", async () => {
    const { service, folder, document, settings } = await openWorld(website);
    const { command, env } = pythonModule("openapi_python_client");
    const [python = "", ...words] = command;
    // It formats what it made with ruff, which came with it.
    const tools = {
      ...process.env,
      ...env,
      PATH: `${env.PYTHONPATH}/bin:${process.env.PATH}`,
      PYTHONDONTWRITEBYTECODE: "1",
    };
    const made = ["generate", "--path", document, "--output-path", join(folder, "sonde_client"), "--meta", "none"];
    const { stdout } = await run(python, [...words, ...made, "--fail-on-warning"], { env: tools });
    expect(stdout).not.toMatch(/warning/i);
    const { stdout: said } = await run(python, [join(SCRIPTS, "use_client.py"), folder, document, settings], {
      env: tools,
    });
    expect(said).toMatch(/^\d+ operations, \d+ of them read\n$/);
    expect(service.output()).not.toMatch(/"level":(50|60)/);
  });
});

describeWith(["typescript tools"], "openapi-typescript", () => {
  it("makes types with which openapi-fetch compiles strictly, and works", async () => {
    const { folder, document, settings } = await openWorld(website);
    const modules = typescriptModules();
    symlinkSync(modules, join(folder, "node_modules"));
    writeFileSync(join(folder, "package.json"), '{"type":"module"}');
    const tool = (path: string, ...words: string[]) =>
      run(process.execPath, [join(modules, path), ...words], { cwd: folder });
    await tool("openapi-typescript/bin/cli.js", document, "-o", "sonde.d.ts");
    copyFileSync(join(SCRIPTS, "use-client.mts"), join(folder, "use-client.mts"));
    writeFileSync(
      join(folder, "tsconfig.json"),
      JSON.stringify({ compilerOptions: COMPILER_OPTIONS, files: ["use-client.mts"] }),
    );
    const compiled = await tool("typescript/bin/tsc").catch((error: { stdout: string }) => error);
    expect(compiled.stdout).toBe("");
    const { stdout } = await run(process.execPath, [join(folder, "use-client.mjs"), settings], { cwd: folder });
    expect(stdout).toBe("every call was understood\n");
  });

  it("the examples of the docs, with the types that come as sonde/api, name what is watched", async () => {
    const { service, folder } = await openWorld(website);
    const modules = typescriptModules();
    symlinkSync(modules, join(folder, "node_modules"));
    writeFileSync(join(folder, "package.json"), '{"type":"module"}');
    writeFileSync(join(folder, "example.ts"), exampleOf("ts", service));
    writeFileSync(join(folder, "example.py"), exampleOf("python", service));
    const paths = { "sonde/api": [fileURLToPath(new URL("../../web/api/schema.d.ts", import.meta.url))] };
    writeFileSync(
      join(folder, "tsconfig.json"),
      JSON.stringify({ compilerOptions: { ...COMPILER_OPTIONS, paths }, files: ["example.ts"] }),
    );
    const tsc = run(process.execPath, [join(modules, "typescript/bin/tsc")], { cwd: folder });
    expect((await tsc.catch((error: { stdout: string }) => error)).stdout).toBe("");
    const key = service.firstKey ?? "";
    const headers = { "X-API-Key": key, "X-Project-Id": "prj_1", "Content-Type": "application/json" };
    const body = JSON.stringify({ type: "push", name: "Nightly job", period: 60 });
    expect((await fetch(`${service.url}/api/v1/servers`, { method: "POST", headers, body })).status).toBe(200);
    const env = { ...process.env, SONDE_KEY: key };
    for (const [program, file] of [
      [process.execPath, "example.js"],
      ["python3", "example.py"],
    ] as const) {
      expect((await run(program, [file], { cwd: folder, env })).stdout).toBe("Nightly job unknown\n");
    }
  });
});

/** @returns the page's block in that language, for this service */
function exampleOf(language: string, { url }: RunningService): string {
  const page = readFileSync(new URL("../../docs/use/clients.md", import.meta.url), "utf8");
  const [, block = ""] = new RegExp(`\`\`\`${language}\\n(.*?)\`\`\``, "s").exec(page) ?? [];
  return block.replace("http://127.0.0.1:8080", url);
}
