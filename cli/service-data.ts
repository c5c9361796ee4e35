/** The database that a service has in its data folder, for commands that work on it beside the service. */
import { accessSync } from "node:fs";
import { join } from "node:path";
import { CommandError } from "./command.ts";

/** Never makes one: an act on a folder that was misspelt must fail, not succeed on nothing. @returns its path @throws CommandError */
export function serviceDatabase(dataDir: string): string {
  const file = join(dataDir, "control.sqlite");
  try {
    accessSync(file);
    return file;
  } catch (error) {
    const { code = "unknown error" } = error as NodeJS.ErrnoException;
    throw new CommandError(
      code === "ENOENT"
        ? `there is no data of a service in ${dataDir}: start one there (sonde up), or set SONDE_DATA_DIR or SONDE_DATABASE_URL to the one that is meant`
        : `cannot open ${file} (${code}): run this as the user that the service runs as, or as root`,
    );
  }
}
