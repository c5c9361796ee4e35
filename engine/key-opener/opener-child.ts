/** The process that opens users' keys (opener-process.ts). */
import { serveBounded } from "../bounded/bounded-child.ts";
import { openKey } from "./open-key.ts";
import type { KeyWord } from "./opener-process.ts";

serveBounded((key: KeyWord) =>
  openKey(key.kind === "pkcs12" ? { ...key, bytes: Buffer.from(key.bytes, "base64") } : key),
);
