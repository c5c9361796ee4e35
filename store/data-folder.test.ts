import { mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { claimDataFolder, DataFolderError } from "./data-folder.ts";

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

  it("lets one owner in at a time, and the next one after release", () => {
    const path = temporaryFolder();
    const first = claimDataFolder(path);
    expect(() => claimDataFolder(path)).toThrow(/another sonde uses the data folder/);
    first.release();
    claimDataFolder(path).release();
  });

  it("says what to do when the path is not a folder", () => {
    const file = join(temporaryFolder(), "file");
    writeFileSync(file, "");
    expect(() => claimDataFolder(join(file, "data"))).toThrow(DataFolderError);
    expect(() => claimDataFolder(join(file, "data"))).toThrow(/SONDE_DATA_DIR/);
  });
});
