/** Asks before something is deleted for good, and says that it is gone. */
import { say } from "../state/notices.ts";
import { t } from "../words/words.ts";
import { Confirm } from "./dialog.tsx";

interface Props {
  readonly what: "channel" | "maintenance" | "monitor" | "page" | "quiet" | "rule" | "subscription" | "webhook";
  readonly name: string;
  readonly close: () => void;
  /** Deletes it, and brings what is shown up to date. */
  readonly act: () => Promise<unknown>;
}

export function Delete({ what, name, close, act }: Props) {
  const remove = async () => {
    await act();
    say(t("act.deleted", { name }));
  };
  return (
    <Confirm title={t(`${what}.deleteTitle`)} close={close} confirm={t("act.delete")} danger act={remove}>
      <p>{t(`${what}.deleteText`, { name })}</p>
    </Confirm>
  );
}
