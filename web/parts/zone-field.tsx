import { t } from "../words/words.ts";
import { TextField } from "./field.tsx";

/** A time zone by its name, with all that the browser knows to choose from. */
export function ZoneField({
  error,
  value,
  onValue,
}: {
  error: string | null;
  value: string;
  onValue: (text: string) => void;
}) {
  return (
    <>
      <TextField label={t("quiet.zone")} error={error} required list="zones" value={value} onValue={onValue} />
      <datalist id="zones">
        {Intl.supportedValuesOf("timeZone").map((one) => (
          <option key={one} value={one} />
        ))}
      </datalist>
    </>
  );
}
