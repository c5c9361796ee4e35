/** Of a channel or a webhook: when its latest message arrived. */
import { t } from "../words/words.ts";
import { Ago } from "./time.tsx";

export function LastArrived({ at, isSaid }: { at: string | null; isSaid: boolean }) {
  if (!isSaid) return null;
  return (
    <>
      {" · "}
      {at === null ? (
        t("channel.never")
      ) : (
        <>
          {t("channel.arrived")} <Ago at={at} />
        </>
      )}
    </>
  );
}
