/** The process that opens foreign keys (opener-process.ts): one after the other, for as long as whoever started it lives. Holds nothing of ours. */

import { openKey } from "./open-key.ts";
import type { FromChild, ToChild } from "./opener-process.ts";

process.on("message", ({ id, key }: ToChild) => {
  const given = key.kind === "pkcs12" ? { ...key, bytes: Buffer.from(key.bytes, "base64") } : key;
  tell({ type: "answer", id, answer: openKey(given) });
});
process.on("disconnect", () => process.exit());
tell({ type: "ready" });

function tell(word: FromChild): void {
  process.send?.(word);
}
