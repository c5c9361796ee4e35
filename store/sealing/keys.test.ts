import { chmodSync, chownSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { beforeEach, describe, expect, it } from "vitest";
import { temporaryFolder } from "../../testkit/temporary-folder.ts";
import { StoreError } from "../errors.ts";
import { addKey, createKeyFile, keyFileWarning, readKeyRing, replaceKeys } from "./keys.ts";
import { openSealing } from "./sealing.ts";

let folder = "";
let keyFile = "";
beforeEach(() => {
  folder = temporaryFolder();
  keyFile = join(folder, "sealing.key");
});

const idsOf = (): readonly string[] => readKeyRing(keyFile).map(({ id }) => id);

describe("the file of sealing keys", () => {
  it("puts a new key first and keeps the others in order, for us alone", () => {
    createKeyFile(keyFile);
    const [first] = idsOf();
    const second = addKey(keyFile)[0].id;
    const third = addKey(keyFile)[0].id;
    expect(idsOf()).toEqual([third, second, first]);
    expect(statSync(keyFile).mode & 0o777).toBe(0o600);
    expect(readdirSync(folder)).toEqual(["sealing.key"]);
    const [one, two] = readKeyRing(keyFile);
    if (two === undefined) throw new Error("no second key");
    replaceKeys(keyFile, [two, one]);
    expect(idsOf()).toEqual([second, third]);
  });

  it("keeps its owner and mode, so that a service still reads what root has rotated", () => {
    createKeyFile(keyFile);
    if (process.geteuid?.() === 0) chownSync(keyFile, 12_345, 12_346);
    chmodSync(keyFile, 0o640);
    const before = statSync(keyFile);
    addKey(keyFile);
    const { uid, gid, mode } = statSync(keyFile);
    expect([uid, gid, mode]).toEqual([before.uid, before.gid, before.mode]);
  });

  it("is told of where others may use it", () => {
    createKeyFile(keyFile);
    expect(keyFileWarning(keyFile)).toBeNull();
    chmodSync(keyFile, 0o400);
    expect(keyFileWarning(keyFile)).toBeNull();
    for (const [mode, written] of [
      [0o440, "0440"],
      [0o644, "0644"],
      [0o602, "0602"],
    ] as const) {
      chmodSync(keyFile, mode);
      expect(keyFileWarning(keyFile)).toContain(`${keyFile} has mode ${written}`);
    }
    expect(keyFileWarning(join(folder, "none"))).toBeNull();
  });

  it("is followed by a process that has it open: sealing with the first, opening with all", () => {
    createKeyFile(keyFile);
    const running = openSealing({ keyFile, createIfMissing: false });
    const before = running.seal("p", "old");
    const { id } = addKey(keyFile)[0];
    const fresh = openSealing({ keyFile, createIfMissing: false });
    expect(running.open("p", fresh.seal("p", "new"))).toBe("new");
    expect(running.seal("p", "x").split(".")[1]).toBe(id);
    expect(fresh.open("p", before)).toBe("old");
  });

  it("that is away or broken for a moment changes nothing for a process that has it open", () => {
    createKeyFile(keyFile);
    const running = openSealing({ keyFile, createIfMissing: false });
    const sealed = running.seal("p", "text");
    const content = readFileSync(keyFile);
    rmSync(keyFile);
    expect(running.open("p", running.seal("p", "x"))).toBe("x");
    writeFileSync(keyFile, "half a key");
    expect(running.open("p", running.seal("p", "y"))).toBe("y");
    expect(() => openSealing({ keyFile, createIfMissing: false })).toThrow(/holds no key/);
    writeFileSync(keyFile, content);
    expect(openSealing({ keyFile, createIfMissing: false }).open("p", sealed)).toBe("text");
  });

  it("takes comments and blank lines, and refuses whatever else stands beside a key", () => {
    const good = Buffer.alloc(32, 1).toString("base64");
    writeFileSync(keyFile, `# first\n\n ${good} # seals\r\n${Buffer.alloc(32, 2).toString("hex")}\n`);
    expect(idsOf()).toHaveLength(2);
    writeFileSync(keyFile, `${good}\nnot a key\n`);
    expect(() => readKeyRing(keyFile)).toThrow(StoreError);
  });

  it("holds at least one key or is refused, whatever is in it", () => {
    const lines = fc.array(
      fc.oneof(
        fc.string(),
        fc.uint8Array({ minLength: 32, maxLength: 32 }).map((bytes) => Buffer.from(bytes).toString("base64")),
      ),
    );
    fc.assert(
      fc.property(
        fc.oneof(
          fc.uint8Array({ maxLength: 80 }),
          lines.map((all) => Buffer.from(all.join("\n"))),
        ),
        (content) => {
          writeFileSync(keyFile, content);
          try {
            for (const { id, bytes } of readKeyRing(keyFile)) {
              expect(bytes).toHaveLength(32);
              expect(id).toMatch(/^[0-9a-f]{8}$/);
            }
          } catch (error) {
            expect(error).toBeInstanceOf(StoreError);
            expect(String(error)).not.toContain("\n");
          }
        },
      ),
      { numRuns: 500 },
    );
  });
});
