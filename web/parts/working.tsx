/** Shown while something runs that takes longer than a moment. */
import { t } from "../words/words.ts";

export function Working({ text = "" }: { text?: string }) {
  return (
    <div class="progress-line working">
      <progress aria-label={t("state.working")} />
      {text !== "" && <span>{text}</span>}
    </div>
  );
}
