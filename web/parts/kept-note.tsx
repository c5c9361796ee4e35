/** Says that a form still has what was written in it before its screen was left, and begins anew when it is told to. */
import { t } from "../words/words.ts";

export function KeptNote({ anew }: { anew: () => void }) {
  return (
    <p class="hint kept">
      {t("draft.kept")}{" "}
      <button type="button" class="button small" onClick={anew}>
        {t("draft.anew")}
      </button>
    </p>
  );
}
