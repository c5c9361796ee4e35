/** Buttons that give what a table shows as files. What makes them is loaded when it is wanted. */
import { attempt } from "../state/notices.ts";
import type { Sheet } from "../state/sheet.ts";

interface ExportsProps {
  /** Of the file, without what follows the dot. */
  readonly name: string;
  readonly sheet: () => Sheet;
}

export function Exports({ name, sheet }: ExportsProps) {
  const give = (kind: "csv" | "json") =>
    attempt(async () => {
      const [{ csvOf, jsonOf }, { download }] = await Promise.all([
        import("../state/sheet.ts"),
        import("./download.ts"),
      ]);
      if (kind === "csv") download(`${name}.csv`, "text/csv", csvOf(sheet()));
      else download(`${name}.json`, "application/json", jsonOf(sheet()));
    });
  return (
    <span class="exports">
      <button type="button" class="button small" onClick={() => void give("csv")}>
        CSV
      </button>
      <button type="button" class="button small" onClick={() => void give("json")}>
        JSON
      </button>
    </span>
  );
}
