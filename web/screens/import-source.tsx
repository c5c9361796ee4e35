/** What is imported: our own document, or files of another program, and what the API makes of these. */
import { useSignal } from "@preact/signals";
import type { Schemas } from "../api/client.ts";
import { Card } from "../parts/card.tsx";
import { download } from "../parts/download.ts";
import { AreaField } from "../parts/field.tsx";
import { Icon } from "../parts/icon.tsx";
import { t } from "../words/words.ts";
import { MOST_SHOWN } from "./import-plan.tsx";

type Program = Schemas["ConvertImport"]["source"];
export type Source = "document" | Program;

/** Names of programs are the same in each language. */
const PROGRAMS: Readonly<Record<Program, string>> = {
  kuma: "Uptime Kuma",
  gatus: "Gatus",
  blackbox: "Prometheus blackbox_exporter",
  "xray-checker": "xray-checker",
  uptimerobot: "UptimeRobot",
  betterstack: "Better Stack",
  checkly: "Checkly",
  openstatus: "OpenStatus",
};
export const SOURCES: readonly Source[] = ["document", ...(Object.keys(PROGRAMS) as Program[])];

export function titleOf(source: Source): string {
  return source === "document" ? t("import.ownDocument") : PROGRAMS[source];
}

/** The API takes no more in one request, bytes. */
const MOST_BYTES = { document: 4 << 20, program: 1 << 20 } as const;
const MOST_FILES = 50;
const LEVELS = ["lost", "changed", "info"] as const;

export interface Sent {
  readonly text: string;
  /** More than one: `text` does not count. */
  readonly files: readonly { readonly name: string; readonly text: string }[];
}

export function FilesField({
  source,
  sent: { text, files },
  refused,
  onSent,
}: {
  source: Source;
  sent: Sent;
  /** What the service says of it. */
  refused: string | null;
  onSent: (sent: Sent) => void;
}) {
  const error = useSignal<string | null>(null);
  const most = MOST_BYTES[source === "document" ? "document" : "program"];
  const read = async (input: HTMLInputElement) => {
    const chosen = [...(input.files ?? [])].slice(0, MOST_FILES);
    input.value = "";
    if (chosen.length === 0) return;
    const isTooLong = chosen.reduce((sum, { size }) => sum + size, 0) > most;
    const command = source === "document" ? "sonde apply" : "sonde import";
    error.value = isTooLong ? t("import.tooLong", { n: most >> 20, command }) : null;
    if (isTooLong) return;
    const read = await Promise.all(chosen.map(async (file) => ({ name: file.name, text: await file.text() })));
    // A database is no text: the command line reads it.
    if (read.some((one) => one.text.includes("\0"))) error.value = t("import.noText");
    else onSent({ text: read[0]?.text ?? "", files: read.length > 1 ? read : [] });
  };
  return (
    <>
      {files.length > 1 ? (
        <FileNames files={files} clear={() => onSent({ text: "", files: [] })} />
      ) : (
        <AreaField
          label={t("import.text")}
          error={error.value ?? refused}
          class="paste"
          rows={10}
          required
          spellcheck={false}
          value={text}
          onValue={(text) => onSent({ text, files: [] })}
        />
      )}
      <label class="button file">
        <Icon name="file-text" size={16} /> {t("import.file")}
        <input
          type="file"
          class="sr-only"
          multiple={source !== "document"}
          onChange={(event) => void read(event.currentTarget)}
        />
      </label>
    </>
  );
}

function FileNames({ files, clear }: { files: Sent["files"]; clear: () => void }) {
  return (
    <ul class="plain-list">
      {files.map(({ name }) => (
        <li key={name}>
          <Icon name="file-text" size={16} /> <bdi>{name}</bdi>
        </li>
      ))}
      <li>
        <button type="button" class="button small" onClick={clear}>
          {t("import.clear")}
        </button>
      </li>
    </ul>
  );
}

/** What came over, what was changed, what was lost; and the document, to keep. */
export function Converted({ converted: { document, report } }: { converted: Schemas["ConvertedImport"] }) {
  const { notes, more_notes: more } = report;
  return (
    <Card
      id="converted"
      title={t("import.report")}
      beside={
        <button type="button" class="button small" onClick={() => download("sonde.yaml", "text/yaml", document)}>
          {t("import.document")}
        </button>
      }
    >
      {notes.length === 0 && <p>{t("import.allTaken")}</p>}
      {LEVELS.map((level) => {
        const own = notes.filter((note) => note.level === level);
        return (
          own.length > 0 && (
            <details key={level} open={level === "lost"}>
              <summary>{t(`import.level.${level}`, { n: own.length })}</summary>
              <ul class="plain-list">
                {own.slice(0, MOST_SHOWN).map(({ path, message }) => (
                  <li key={`${path} ${message}`} dir="auto">
                    <b>{path}</b>: {message}
                  </li>
                ))}
                {own.length > MOST_SHOWN && <li class="faint">{t("import.more", { n: own.length - MOST_SHOWN })}</li>}
              </ul>
            </details>
          )
        );
      })}
      {more > 0 && <p class="hint">{t("import.more", { n: more })}</p>}
    </Card>
  );
}
