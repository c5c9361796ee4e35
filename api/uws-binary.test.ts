import { createHash } from "node:crypto";
import { chmodSync, copyFileSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, describe, expect, it, vi } from "vitest";
import { loadUws } from "./uws-binary.ts";
import { UWS_PINS } from "./uws-pins.ts";

/** What happens once, between the reading of an open file and its loading. */
const afterRead = vi.hoisted((): { act: (() => void) | null } => ({ act: null }));
vi.mock("node:fs", async (original) => {
  const fs = await original<typeof import("node:fs")>();
  const readAndAct = ((file: number | string, ...rest: []) => {
    const bytes = fs.readFileSync(file, ...rest);
    if (typeof file === "number") {
      afterRead.act?.();
      afterRead.act = null;
    }
    return bytes;
  }) as typeof fs.readFileSync;
  return { ...fs, readFileSync: readAndAct };
});

const folder = mkdtempSync(join(tmpdir(), "sonde-uws-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const NAME = `uws_${process.platform}_${process.arch}_${process.versions.modules}.node`;
const PACKAGED = join(dirname(createRequire(import.meta.url).resolve("uWebSockets.js/package.json")), NAME);
const PIN = UWS_PINS[NAME] ?? "";

function copied(name: string): string {
  const path = join(folder, name);
  copyFileSync(PACKAGED, path);
  chmodSync(path, 0o644);
  return path;
}

describe("the binary of uWebSockets.js", () => {
  it("is pinned for every Node that is run on Linux, and the installed one is the pinned one", () => {
    for (const arch of ["x64", "arm64"])
      for (const abi of [115, 127, 137]) expect(UWS_PINS).toHaveProperty([`uws_linux_${arch}_${abi}.node`]);
    for (const pin of Object.values(UWS_PINS)) expect(pin).toMatch(/^[0-9a-f]{64}$/);
    expect(createHash("sha256").update(readFileSync(PACKAGED)).digest("hex")).toBe(PIN);
  });

  it("loads when it is the pinned one, once", () => {
    const uws = loadUws(null);
    expect(typeof uws.App).toBe("function");
    expect(loadUws(null)).toBe(uws);
  });

  it("loads from the path that the operator gives, with the hash that the operator gives", () => {
    expect(typeof loadUws({ path: copied("own.node"), sha256: PIN }).App).toBe("function");
  });

  it.each([0, 1_000_000, -1])("is refused when one bit differs (byte %i)", (at) => {
    const path = copied(`changed${at}.node`);
    const bytes = readFileSync(path);
    const index = at < 0 ? bytes.length + at : at;
    bytes[index] = (bytes[index] ?? 0) ^ 1;
    writeFileSync(path, bytes);
    expect(() => loadUws({ path, sha256: PIN })).toThrow(/has SHA-256 [0-9a-f]{64}, and [0-9a-f]{64} was expected$/);
  });

  it("is refused when more was added to it, or it is cut", () => {
    const path = copied("longer.node");
    writeFileSync(path, Buffer.concat([readFileSync(path), Buffer.from("x")]));
    expect(() => loadUws({ path, sha256: PIN })).toThrow(/was expected$/);
    writeFileSync(path, readFileSync(path).subarray(0, 1_000));
    expect(() => loadUws({ path, sha256: PIN })).toThrow(/was expected$/);
  });

  it("is refused when every user may change it", () => {
    const path = copied("open.node");
    chmodSync(path, 0o666);
    expect(() => loadUws({ path, sha256: PIN })).toThrow("open.node may be changed by every user of this machine");
  });

  it("is refused in a word when it is no library", () => {
    const path = join(folder, "text.node");
    writeFileSync(path, "text", { mode: 0o644 });
    const sha256 = createHash("sha256").update("text").digest("hex");
    expect(() => loadUws({ path, sha256 })).toThrow(/^text\.node does not load: /);
  });

  it("is the file that was hashed, though its name is given to another meanwhile", () => {
    const path = copied("swapped.node");
    const refuse = join(folder, "evil.node");
    writeFileSync(refuse, "evil");
    afterRead.act = () => renameSync(refuse, path);
    expect(typeof loadUws({ path, sha256: PIN }).App).toBe("function");
    expect(readFileSync(path, "utf8")).toBe("evil");
  });
});
