import { t } from "../words/words.ts";
import { say } from "./notices.ts";

/** Says that it was copied, or that it was not: a page without TLS that is not of this machine has no clipboard. @returns whether it was */
export async function copyText(text: string, copied: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    say(copied);
    return true;
  } catch {
    say(t("check.notCopied"), true);
    return false;
  }
}
