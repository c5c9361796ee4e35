/**
 * The worked example of CONTRIBUTING.md, followed as it is written: in a copy of the tree its one file and its one line are all that is added.
 * It compiles, checks a server, and is in the API's document, the command line and the demo.
 */
import { execFile } from "node:child_process";
import { cpSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { beforeAll, describe, expect, it } from "vitest";
import { openTcpPeer } from "../../engine/transport/peers.suite.ts";
import { temporaryFolder } from "../../testkit/temporary-folder.ts";

const run = promisify(execFile);
const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const GUIDE = readFileSync(join(ROOT, "CONTRIBUTING.md"), "utf8");
/** What reads the descriptors. All else is only linked to: nothing of it is changed, and nothing of it reads them. */
const COPIED = ["engine", "api", "cli", "demo"];

let copy = "";
beforeAll(() => {
  copy = temporaryFolder();
  for (const name of readdirSync(ROOT)) {
    if (COPIED.includes(name)) cpSync(join(ROOT, name), join(copy, name), { recursive: true });
    else if (!/^(?:\.git|dist|data.*)$/.test(name)) symlinkSync(join(ROOT, name), join(copy, name));
  }
  const [, file = ""] = /```ts\n(.*?)```/s.exec(GUIDE) ?? [];
  const [, line = ""] = /^\*\*2\. Add the line\*\*.*?`(export \{.*?;)`/ms.exec(GUIDE) ?? [];
  writeFileSync(join(copy, "engine/probes/ssh.ts"), file);
  const list = join(copy, "engine/probes/index.ts");
  writeFileSync(list, `${readFileSync(list, "utf8")}${line}\n`);
  const config = { extends: join(ROOT, "tsconfig.json"), include: [], files: ["engine/contract/registry.ts"] };
  writeFileSync(join(copy, "guide.json"), JSON.stringify(config));
});

/** Runs a module in the copy. @returns what it printed as JSON */
async function evaluate(module: string): Promise<unknown> {
  const file = join(copy, "look.ts");
  writeFileSync(file, module);
  const { stdout } = await run(process.execPath, ["--import", join(ROOT, "scripts/typescript.mjs"), file], {
    cwd: copy,
    maxBuffer: 1 << 24,
  });
  return JSON.parse(stdout);
}

/** Rejects with the compiler's output when there is an error. */
function compile(): Promise<{ readonly stdout: string }> {
  return run(process.execPath, [join(ROOT, "node_modules/typescript/bin/tsc"), "-p", join(copy, "guide.json")]);
}

describe("a kind by the guide", () => {
  it("compiles", async () => {
    await expect(compile()).resolves.toMatchObject({ stdout: "" });
  });

  it("does not compile without one of its members", async () => {
    const file = join(copy, "engine/probes/ssh.ts");
    const whole = readFileSync(file, "utf8");
    writeFileSync(file, whole.replace(/^ {4}target: .*\n/m, ""));
    await expect(compile()).rejects.toMatchObject({ stdout: expect.stringContaining("engine/probes/ssh.ts") });
    writeFileSync(file, whole);
  });

  it("is in the document, the command line and the demo", async () => {
    const seen = await evaluate(`
      import { routes } from "./api/endpoints/index.ts";
      import { createOpenApi } from "./api/openapi.ts";
      import { targetOf } from "./cli/check/target.ts";
      import { uptimeKinds } from "./engine/contract/registry.ts";
      const document = createOpenApi(routes, { baseUrl: "http://a", docsUrl: "http://a/docs", version: "1" });
      const described = uptimeKinds.find(({ kind }) => kind === "ssh");
      console.log(JSON.stringify({
        schema: document.components.schemas.CreateSsh,
        target: targetOf("ssh://192.0.2.1?software=OpenSSH", null, {}),
        demo: described?.demo?.name,
      }));
    `);
    expect(seen).toEqual({
      schema: expect.objectContaining({ properties: expect.objectContaining({ software: expect.anything() }) }),
      target: expect.objectContaining({
        kind: "ssh",
        settings: { host: "192.0.2.1", port: 22, software: "OpenSSH" },
      }),
      demo: "Shell",
    });
  });

  it("checks a server", async () => {
    const peer = await openTcpPeer((socket) => void socket.end("SSH-2.0-OpenSSH_9.6\r\n"));
    try {
      const check = (software: string) => `await run(
        ssh.settings.parse({ host: "127.0.0.1", port: ${peer.port}, software: ${JSON.stringify(software)} }),
        makeCheck(loopbackTransport()).context,
      )`;
      const outcomes = await evaluate(`
        import { ssh } from "./engine/probes/ssh.ts";
        import { loopbackTransport, makeCheck } from "./engine/transport/peers.suite.ts";
        const { run } = await ssh.load();
        console.log(JSON.stringify([${check("OpenSSH")}, ${check("dropbear")}]));
      `);
      expect(outcomes).toMatchObject([{ verdict: "ok" }, { verdict: "rejected", peer: "SSH-2.0-OpenSSH_9.6" }]);
    } finally {
      await peer.close();
    }
  });
});
