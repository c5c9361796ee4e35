/** A Lua operation: text in a module, because the build carries only modules. Its head names keys, arguments with units, and output. */
import { createHash } from "node:crypto";

export interface Script {
  readonly lua: string;
  /** The script's SHA-1, by which Redis knows it after the first use. */
  readonly sha1: string;
  readonly keyCount: number;
}

export function script(keyCount: number, lua: string): Script {
  return { lua, sha1: createHash("sha1").update(lua).digest("hex"), keyCount };
}
