/** A secret that is shown once: a key, a webhook's secret, a link that signs its reader in. */
import { copyText } from "../state/clipboard.ts";
import { t } from "../words/words.ts";
import { Dialog } from "./dialog.tsx";
import { Icon } from "./icon.tsx";

interface ShownOnceProps {
  readonly title: string;
  readonly text: string;
  readonly value: string;
  /** What is said when it was copied. */
  readonly copied: string;
  readonly close: () => void;
}

export function ShownOnce({ title, text, value, copied, close }: ShownOnceProps) {
  return (
    <Dialog title={title} close={close}>
      <div class="form">
        <p>{text}</p>
        <p class="made-key">
          <code dir="ltr">{value}</code>
        </p>
        <div class="dialog-acts">
          <button type="button" class="button" onClick={() => void copyText(value, copied)}>
            <Icon name="copy" size={16} /> {t("keys.copy")}
          </button>
          <button type="button" class="button primary" onClick={close}>
            {t("act.close")}
          </button>
        </div>
      </div>
    </Dialog>
  );
}
