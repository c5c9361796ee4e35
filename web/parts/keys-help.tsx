/** The keys that the page hears, as a list. */
import { keysOpen } from "../state/palette-open.ts";
import { type Key, t } from "../words/words.ts";
import { Dialog } from "./dialog.tsx";

const KEYS: readonly (readonly [keys: readonly string[], what: Key])[] = [
  [["Ctrl K"], "palette.open"],
  [["/"], "shortcut.filter"],
  [["g o", "g m", "g i", "g s", "g a"], "shortcut.go"],
  [["j", "k"], "shortcut.move"],
  [["Enter"], "shortcut.open"],
  [["x"], "shortcut.choose"],
  [["e"], "act.edit"],
  [["p"], "shortcut.pause"],
  [["t"], "monitor.checkNow"],
  [["a"], "incident.acknowledge"],
  [["."], "shortcut.acts"],
  [["?"], "shortcut.help"],
];

export function KeysHelp() {
  const close = () => {
    keysOpen.value = false;
  };
  return (
    <Dialog title={t("shortcut.title")} close={close}>
      <dl class="facts keys-help">
        {KEYS.map(([keys, what]) => (
          <div key={what}>
            <dt dir="ltr">
              {keys.map((one) => (
                <kbd key={one}>{one}</kbd>
              ))}
            </dt>
            <dd>{t(what)}</dd>
          </div>
        ))}
      </dl>
      <p class="hint">{t("shortcut.off")}</p>
      <div class="dialog-acts">
        <button type="button" class="button" onClick={close}>
          {t("act.close")}
        </button>
      </div>
    </Dialog>
  );
}
