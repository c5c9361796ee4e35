/** An OpenVPN profile with the files that lie beside it, as the one text that a check and the service take. */
import { readFileSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { usageError } from "../command.ts";
import { withFiles } from "./profile-files.ts";
import { protocolOfFile } from "./target.ts";

/** Of one file, bytes. */
const LARGEST_BYTES = 1024 * 1024;

/** @returns any other text as it is. @throws CommandError when a file cannot be had */
export function wholeProfile(text: string, path: string): string {
  if (protocolOfFile(text) !== "openvpn") return text;
  const folder = dirname(resolve(path));
  return withFiles(text, (file) => readBeside(folder, file));
}

/** Only from the profile's own folder: one that came from elsewhere does not choose what of this machine is read. */
function readBeside(folder: string, file: string): Buffer {
  const path = resolve(folder, file);
  if (!path.startsWith(join(folder, "/")))
    throw usageError(`the profile names ${file}, which is not beside it: put it there`);
  try {
    if (statSync(path).size <= LARGEST_BYTES) return readFileSync(path);
  } catch (error) {
    const { code = "unknown error" } = error as NodeJS.ErrnoException;
    throw usageError(`the profile names ${file}, which cannot be read (${code}): put it beside the profile`);
  }
  throw usageError(`the profile names ${file}, which is larger than 1 MiB`);
}
