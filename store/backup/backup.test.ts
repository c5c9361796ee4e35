/** Backup and restore of a data folder that no service uses: what is refused, and that nothing is changed then. */
import { createHash, randomBytes } from "node:crypto";
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync, gzipSync } from "node:zlib";
import { beforeAll, describe, expect, it } from "vitest";
import { temporaryFolder } from "../../testkit/temporary-folder.ts";
import { claimDataFolder } from "../data-folder.ts";
import { StoreError } from "../errors.ts";
import { decideRestore, RESTORING } from "../restored-folder.ts";
import { openCheckedSealing } from "../sealing/sealing.ts";
import { openControlPlane } from "../sql/control-plane/open.ts";
import { backUp } from "./backup.ts";
import { newestParts } from "./engine-files.ts";
import { restoreBackup } from "./restore.ts";

const root = temporaryFolder();
const dataDir = join(root, "data");
const keyFile = join(root, "sealing.key");
const archive = join(root, "backup.tar.gz");
const progress = (): void => undefined;
let folders = 0;
const newFolder = (): string => join(root, `restored-${++folders}`);

async function refusal(work: Promise<unknown>): Promise<string> {
  const error: unknown = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(StoreError);
  return (error as StoreError).message;
}

const restore = (file: string, folder: string, key: string | null = keyFile) =>
  restoreBackup({ file, dataDir: folder, keyFile: key, keyElsewhere: null, progress });

/** Of inserts: of parts that are there, that were merged, and that came while the parts were linked. */
const TOKENS = ["1\t20261126_1_1_0\ta", "2\t20261101_1_1_0\tz", "1\t20261126_2_2_0\tb", "1\t20261126_4_4_0\tc"];
TOKENS.push("1\t20261126_5_5_0\td", "1\t20261127_6_6_0\te");

/** What a refused restore leaves. */
const isEmpty = (folder: string): boolean =>
  readdirSync(folder).filter((name) => !name.startsWith("owner.lock")).length === 0;

beforeAll(async () => {
  mkdirSync(dataDir, { mode: 0o700 });
  const plane = await openControlPlane({ file: join(dataDir, "control.sqlite") }, { role: "api" });
  const first = { email: "a@b.test", userName: "A", workspaceName: "W", plan: "business" as const, projectName: "P" };
  await plane.accounts.createFirst({ ...first, nowMs: 1 });
  await openCheckedSealing(plane.meta, { keyFile, createIfMissing: true });
  await plane.close();
  mkdirSync(join(dataDir, "spool"));
  writeFileSync(join(dataDir, "spool", "0000000000000001.seg"), randomBytes(3_000));
  const engine = join(dataDir, "clickhouse", "engine");
  const table = join(engine, "store", "aaa");
  for (const part of ["20261126_1_3_1", "20261126_1_1_0", "20261126_4_4_0"]) {
    mkdirSync(join(table, part), { recursive: true });
    writeFileSync(join(table, part, "count.txt"), "10");
    writeFileSync(join(table, part, "data.bin"), randomBytes(700));
  }
  mkdirSync(join(table, "tmp_insert_20261126_5_5_0"));
  mkdirSync(join(table, "deduplication_logs"));
  writeFileSync(join(table, "deduplication_logs", "deduplication_log_1.txt"), `${TOKENS.join("\n")}\n1\t2026112`);
  mkdirSync(join(engine, "data", "sonde"), { recursive: true });
  const { symlinkSync } = await import("node:fs");
  symlinkSync("../../store/aaa", join(engine, "data", "sonde", "results"));
  writeFileSync(join(dataDir, "owner.key"), "secret\n");
  await backUp({ dataDir, out: archive, version: "0.1.0", keyFiles: [], progress });
});

describe("a backup", () => {
  it("is closed to others, has no key, and leaves nothing behind", () => {
    expect(statSync(archive).mode & 0o777).toBe(0o600);
    const bytes = gunzipSync(readFileSync(archive));
    expect(bytes.includes(readFileSync(keyFile))).toBe(false);
    expect(bytes.includes("owner.key")).toBe(false);
    expect(readdirSync(dataDir)).not.toContain(".backup");
    expect(readdirSync(root).filter((name) => name.endsWith(".part"))).toEqual([]);
  });

  it("counts rows, of the newest parts only", async () => {
    const out = join(root, "second.tar.gz");
    const { manifest, leftOut } = await backUp({ dataDir, out, version: "0.1.0", keyFiles: [], progress });
    expect(manifest.results).toEqual({ results: 20 });
    expect(manifest.tables).toMatchObject({ users: 1, projects: 1, monitors: 0 });
    expect(leftOut).toEqual(["owner.key"]);
    expect(await refusal(backUp({ dataDir, out, version: "0.1.0", keyFiles: [], progress }))).toMatch(/there already/);
  });

  it("is refused of a folder that is none", async () => {
    const empty = join(root, "empty");
    mkdirSync(empty);
    const out = join(root, "none.tar.gz");
    expect(await refusal(backUp({ dataDir: empty, out, version: "0", keyFiles: [], progress }))).toMatch(/no control/);
    expect(existsSync(out)).toBe(false);
  });

  it("knows which parts are covered", () => {
    expect(newestParts(["all_1_1_0", "all_1_4_2", "all_5_5_0", "all_1_4_2_9", "x"])).toEqual([
      "all_5_5_0",
      "all_1_4_2_9",
    ]);
  });
});

describe("a restore", () => {
  it("brings back every file, and the key that was named", async () => {
    const folder = newFolder();
    await restore(archive, folder);
    for (const name of ["spool/0000000000000001.seg", "clickhouse/engine/data/sonde/results/20261126_4_4_0/data.bin"])
      expect(readFileSync(join(folder, name)).equals(readFileSync(join(dataDir, name)))).toBe(true);
    expect(readFileSync(join(folder, "sealing.key")).equals(readFileSync(keyFile))).toBe(true);
    const plane = await openControlPlane({ file: join(folder, "control.sqlite") }, { role: "api", schema: "expect" });
    expect(await plane.accounts.isEmpty()).toBe(false);
    await plane.close();
  });

  it("knows no token of an insert whose part came too late for the backup", async () => {
    const folder = newFolder();
    await restore(archive, folder);
    const logs = join(folder, "clickhouse/engine/data/sonde/results/deduplication_logs");
    expect(readFileSync(join(logs, "deduplication_log_1.txt"), "utf8")).toBe(`${TOKENS.slice(0, 4).join("\n")}\n`);
  });

  it("takes a key that is in the backup, in the folder or elsewhere", async () => {
    const out = join(root, "with-key.tar.gz");
    await backUp({ dataDir, out, version: "0", keyFiles: [{ name: "sealing.key", path: keyFile }], progress });
    await restore(out, newFolder(), null);
    const folder = newFolder();
    mkdirSync(folder);
    cpSync(keyFile, join(folder, "sealing.key"));
    await restore(archive, folder, null);
    await restoreBackup({ file: archive, dataDir: newFolder(), keyFile: null, keyElsewhere: keyFile, progress });
  });

  it("is refused without the key, and with another one", async () => {
    const folder = newFolder();
    expect(await refusal(restore(archive, folder, null))).toMatch(/--key/);
    const other = join(root, "other.key");
    writeFileSync(other, randomBytes(32));
    expect(await refusal(restore(archive, folder, other))).toMatch(/is not the one .*: set --key to that one/);
    expect(isEmpty(folder)).toBe(true);
    await restore(archive, folder);
  });

  it("is refused into a folder that has something, or a service", async () => {
    const full = newFolder();
    mkdirSync(full);
    writeFileSync(join(full, "control.sqlite"), "");
    expect(await refusal(restore(archive, full))).toMatch(/not empty \(control.sqlite\)/);
    const used = newFolder();
    const claim = claimDataFolder(used);
    expect(await refusal(restore(archive, used))).toMatch(/another sonde uses/);
    claim.release();
  });

  it("is refused at every place where the archive is cut or changed, and changes nothing", async () => {
    const whole = readFileSync(archive);
    const folder = newFolder();
    const bad = join(root, "bad.tar.gz");
    for (let round = 0; round < 24; round++) {
      const at = Math.floor((whole.length * round) / 24);
      const changed = Buffer.from(whole);
      changed[at] = (changed[at] ?? 0) ^ 0x40;
      for (const bytes of [whole.subarray(0, at), changed]) {
        if (bytes === changed && hasSameContent(changed, whole)) continue;
        writeFileSync(bad, bytes);
        await refusal(restore(bad, folder));
        expect(isEmpty(folder)).toBe(true);
      }
    }
  });

  it.each([
    [
      "another file with the same name",
      (text: string) => text.replace(/"sha256":"([0-9a-f])/, (_all, digit) => `"sha256":"${digit === "0" ? "1" : "0"}`),
      /not what was saved/,
    ],
    [
      "a database of a newer version",
      (text: string) => text.replace('"0001-control-plane"', '"9999-control-plane"'),
      /newer version/,
    ],
    ["another format", (text: string) => text.replace('"format":1', '"format":9'), /newer version/],
  ])("is refused with %s", async (_what, change, words) => {
    const bytes = gunzipSync(readFileSync(archive));
    const size = Number.parseInt(bytes.toString("latin1", 124, 135), 8);
    const text = bytes.toString("utf8", 512, 512 + size);
    const changed = change(text);
    expect(changed).not.toBe(text);
    expect(changed.length).toBe(text.length);
    bytes.write(changed, 512);
    const bad = join(root, "other.tar.gz");
    writeFileSync(bad, gzipSync(bytes));
    const folder = newFolder();
    expect(await refusal(restore(bad, folder))).toMatch(words);
    expect(isEmpty(folder)).toBe(true);
  });

  it("that died after its decision is finished by the next to claim the folder", async () => {
    const folder = newFolder();
    await restore(archive, folder);
    const before = digestOf(folder);
    // As it stands when only some of it has moved up.
    const half = newFolder();
    mkdirSync(join(half, ".restored"), { recursive: true });
    for (const name of readdirSync(folder).filter((one) => !one.startsWith("owner.lock")))
      cpSync(join(folder, name), join(half, name === "spool" ? name : `.restored/${name}`), {
        recursive: true,
        verbatimSymlinks: true,
      });
    claimDataFolder(half).release();
    expect(digestOf(half)).toBe(before);
    expect(existsSync(join(half, ".restored"))).toBe(false);
  });

  it("decides once", () => {
    const folder = newFolder();
    mkdirSync(join(folder, RESTORING), { recursive: true });
    writeFileSync(join(folder, RESTORING, "a"), "1");
    decideRestore(folder);
    expect(readdirSync(folder)).toEqual(["a"]);
  });
});

/** Some bits of a compressed stream mean nothing. */
function hasSameContent(changed: Buffer, whole: Buffer): boolean {
  try {
    return gunzipSync(changed).equals(gunzipSync(whole));
  } catch {
    return false;
  }
}

function digestOf(folder: string): string {
  const hash = createHash("sha256");
  const names = (readdirSync(folder, { recursive: true }) as string[]).filter((name) => !name.includes("owner.lock"));
  for (const name of names.sort()) {
    hash.update(name);
    const path = join(folder, name);
    if (statSync(path).isFile()) hash.update(readFileSync(path));
  }
  return hash.digest("hex");
}
