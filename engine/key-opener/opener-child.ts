/** The process that opens users' keys (opener-process.ts), one after the other, until its parent ends. It holds no secrets of Sonde. */

import { openKey } from "./open-key.ts";
import type { FromChild, ToChild } from "./opener-process.ts";

process.on("message", ({ id, key }: ToChild) => {
  const decoded = key.kind === "pkcs12" ? { ...key, bytes: Buffer.from(key.bytes, "base64") } : key;
  tell({ type: "answer", id, answer: openKey(decoded) });
});
process.on("disconnect", () => process.exit());
tell({ type: "ready" });

function tell(word: FromChild): void {
  process.send?.(word);
}
