import { chmodSync, mkdirSync, mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { claimDataFolder, warnOfPermissions } from "./data-folder.ts";
import { StoreError } from "./errors.ts";

const folders: string[] = [];

function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "sonde-folder-"));
  folders.push(folder);
  return folder;
}

afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

describe("claimDataFolder", () => {
  it("makes the folder for us alone", () => {
    const folder = claimDataFolder(join(temporaryFolder(), "deep", "data"));
    expect(statSync(folder.path).mode & 0o777).toBe(0o700);
    folder.release();
  });

  it("says that a file is in its place", () => {
    const file = join(temporaryFolder(), "file");
    writeFileSync(file, "");
    for (const path of [file, join(file, "data")])
      expect(() => claimDataFolder(path)).toThrow(
        /^.* cannot be the data folder \((?:EEXIST|ENOTDIR)\): a file is in its place/,
      );
  });

  it("says what is wrong with the lock's file, and what to do", () => {
    const path = temporaryFolder();
    writeFileSync(join(path, "owner.lock"), "x".repeat(4_096));
    expect(() => claimDataFolder(path)).toThrow(/owner\.lock is not a database: move it away/);
  });

  it("lets one owner in at a time, and the next one after release", () => {
    const path = temporaryFolder();
    const first = claimDataFolder(path);
    expect(() => claimDataFolder(path)).toThrow(/another sonde uses the data folder/);
    first.release();
    claimDataFolder(path).release();
  });

  it("closes what was open to others, names it, and makes new files for us alone", () => {
    const path = temporaryFolder();
    const outside = join(temporaryFolder(), "outside");
    writeFileSync(outside, "");
    chmodSync(outside, 0o644);
    mkdirSync(join(path, "spool"));
    const names = ["control.sqlite", "control.sqlite-wal", "spool/1.segment", "private"];
    for (const name of names) writeFileSync(join(path, name), "");
    for (const name of names) chmodSync(join(path, name), name === "private" ? 0o600 : 0o664);
    chmodSync(join(path, "spool"), 0o755);
    symlinkSync(outside, join(path, "link"));
    const folder = claimDataFolder(path);
    expect([...folder.tightened].sort()).toEqual(["control.sqlite", "control.sqlite-wal", "spool", "spool/1.segment"]);
    expect(folder.open).toEqual([]);
    const modeOf = (name: string): number => statSync(join(path, name)).mode & 0o777;
    expect(names.map(modeOf)).toEqual([0o600, 0o600, 0o600, 0o600]);
    expect(modeOf("spool")).toBe(0o700);
    expect(statSync(outside).mode & 0o777).toBe(0o644);
    writeFileSync(folder.file("new"), "");
    expect([modeOf("new"), modeOf("owner.lock")]).toEqual([0o600, 0o600]);
    const said: unknown[] = [];
    warnOfPermissions(folder, (what, text) => said.push([what, text]));
    expect(said).toEqual([[expect.objectContaining({ path, files: 4 }), expect.stringContaining("are closed now")]]);
    folder.release();
    const again = claimDataFolder(path);
    expect([again.tightened, again.open]).toEqual([[], []]);
    again.release();
  });

  it("says what to do when the path is not a folder", () => {
    const file = join(temporaryFolder(), "file");
    writeFileSync(file, "");
    expect(() => claimDataFolder(join(file, "data"))).toThrow(StoreError);
    expect(() => claimDataFolder(join(file, "data"))).toThrow(/SONDE_DATA_DIR/);
  });
});
