/** A secret that is shown once: a key, a webhook's secret, a link that signs its reader in. It is lost by its button alone until it was copied. */
import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { copyText } from "../state/clipboard.ts";
import { t } from "../words/words.ts";
import { Dialog, Told, useStaysHere } from "./dialog.tsx";
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
  const isCopied = useSignal(false);
  const isAsking = useSignal(false);
  const stays = () => {
    isAsking.value = !isCopied.value;
    return isAsking.value;
  };
  useStaysHere(stays);
  useEffect(() => {
    const ask = (event: Event) => !isCopied.peek() && event.preventDefault();
    addEventListener("beforeunload", ask);
    return () => removeEventListener("beforeunload", ask);
  }, [isCopied]);
  const taken = () => {
    isCopied.value = true;
    isAsking.value = false;
  };
  const copy = async () => {
    if (await copyText(value, copied)) taken();
  };
  return (
    <Dialog title={title} close={close} stays={stays}>
      <div class="form">
        <p>{text}</p>
        <p class="made-key" onCopy={taken}>
          <code dir="ltr">{value}</code>
        </p>
        {isAsking.value && <Told>{t("keys.notCopied")}</Told>}
        <div class="dialog-acts">
          <button type="button" class="button" onClick={() => void copy()}>
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
