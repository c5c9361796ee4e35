/** Days of the week, a box for each. */
import { weekday } from "../words/times.ts";
import { CheckField } from "./field.tsx";

export const DAYS = [1, 2, 3, 4, 5, 6, 7] as const;

export function Week({ days, onDays }: { days: readonly number[]; onDays: (days: number[]) => void }) {
  return (
    <div class="week">
      {DAYS.map((day) => (
        <CheckField
          key={day}
          label={weekday(day)}
          checked={days.includes(day)}
          onChecked={(checked) => onDays(DAYS.filter((one) => (one === day ? checked : days.includes(one))))}
        />
      ))}
    </div>
  );
}
