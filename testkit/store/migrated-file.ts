/** A new database of the control plane in SQLite, as a copy: running all migrations takes many times as long, and hundreds of tests want one. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openControlPlane } from "../../store/sql/control-plane/open.ts";
import { temporaryFolder } from "../temporary-folder.ts";

const OWNER_ONLY = 0o600;

let migrated: Promise<Buffer> | undefined;

/** Makes the file. @param path in a folder that is there */
export async function makeMigratedFile(path: string): Promise<void> {
  migrated ??= bytesOfMigrated();
  writeFileSync(path, await migrated, { mode: OWNER_ONLY });
}

async function bytesOfMigrated(): Promise<Buffer> {
  const file = join(temporaryFolder(), "control.sqlite");
  await (await openControlPlane({ file }, { role: "api" })).close();
  return readFileSync(file);
}
