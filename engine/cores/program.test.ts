import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { temporaryFolder } from "../../testkit/temporary-folder.ts";
import { faultOf } from "./install.ts";
import { coresFolder, errorOutputAbout, type FoundCore, findCore, versionOf } from "./program.ts";

const dir = temporaryFolder();

function script(folder: string, name: string, lines: string): string {
  mkdirSync(folder, { recursive: true });
  const path = join(folder, name);
  writeFileSync(path, `#!/bin/sh\n${lines}\n`);
  chmodSync(path, 0o755);
  return path;
}

const of = (path: string): FoundCore => ({ engine: "singbox", path, from: "PATH" });
const VERSION = 'echo "sing-box version 1.14.1"; echo "Tags: with_quic,with_utls"';

describe("a core's program", () => {
  it("is the one that was set, then the one that was installed, then the one on the path", () => {
    const dataDir = join(dir, "data");
    const onPath = script(join(dir, "bin"), "xray", "");
    const places = { xray: null, singbox: null, dataDir, path: `${join(dir, "none")}:${join(dir, "bin")}` };
    expect(findCore("singbox", places)).toBeUndefined();
    expect(findCore("xray", places)).toEqual({ engine: "xray", path: onPath, from: "PATH" });
    const installed = script(coresFolder(dataDir), "xray", "");
    expect(findCore("xray", places)).toEqual({ engine: "xray", path: installed, from: "data folder" });
    expect(findCore("xray", { ...places, xray: "set" })).toEqual({ engine: "xray", path: "set", from: "setting" });
  });

  it("says what it is, and is not believed when it does not", async () => {
    const path = script(dir, "a", VERSION);
    expect(await versionOf(of(path))).toEqual({ version: "1.14.1", tags: ["with_quic", "with_utls"] });
    expect(await faultOf(of(path))).toBe("it was built without with_grpc");
    const other = script(dir, "b", VERSION.replace("1.14.1", "1.13.0"));
    expect(await faultOf(of(other))).toBe("it is sing-box 1.13.0, and 1.14.1 is needed");
    const none = script(dir, "c", "echo hello");
    expect(await faultOf(of(none))).toBe(`${none} does not answer as sing-box`);
    expect(await versionOf(of(join(dir, "missing")))).toBeUndefined();
  });

  it("is given the file by stdin and nothing of the environment", async () => {
    const path = script(dir, "d", 'read -r line; echo "$line [$HOME]"; exit 3');
    expect(await errorOutputAbout(of(path), "the file\n")).toBe("the file []");
    expect(await errorOutputAbout(of(script(dir, "e", "exit 0")), "x".repeat(1_000_000))).toBeUndefined();
    expect(await errorOutputAbout(of(script(dir, "f", "kill -9 $$")), "")).toBe("ended with SIGKILL");
  });
});
