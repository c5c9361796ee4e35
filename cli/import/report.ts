/** The report of an import: how much came over, and what is lost, changed, or to be known. Pure. */
import type { Document } from "../../model/document/document.ts";
import type { Note, NoteLevel } from "./importer.ts";

const TITLES: Readonly<Record<NoteLevel, string>> = { lost: "Lost", changed: "Changed", info: "Good to know" };
const INCOMPLETE = "imported:incomplete";

export interface Report {
  readonly source: string;
  /** Things of each section, and how many monitors are paused because they would watch something else. */
  readonly counts: Readonly<Record<string, number>>;
  readonly notes: readonly Note[];
}

export function reportOf(source: string, document: Document, notes: readonly Note[]): Report {
  const monitors = Object.values(document.monitors ?? {});
  const counts = {
    monitors: monitors.length,
    incomplete: monitors.filter(({ tags }) => tags?.includes(INCOMPLETE) === true).length,
    subscriptions: size(document.subscriptions),
    channels: size(document.channels),
    alert_rules: document.alert_rules?.length ?? 0,
    maintenance: size(document.maintenance),
    status_pages: size(document.status_pages),
  };
  return { source, counts, notes };
}

function size(section: object | undefined): number {
  return Object.keys(section ?? {}).length;
}

function sectionWords(section: string, count: number): string {
  const words = section.replaceAll("_", " ");
  return count === 1 ? words.replace(/s$/, "") : words;
}

/** As Markdown. */
export function reportText({ source, counts, notes }: Report): string {
  const { incomplete = 0, ...sections } = counts;
  const parts = Object.entries(sections)
    .filter(([section, count]) => count > 0 || section === "monitors")
    .map(([section, count]) => `${count} ${sectionWords(section, count)}`);
  const paused =
    incomplete === 0
      ? ""
      : `\n\n${incomplete} of the monitors would watch something else: they are paused and tagged \`${INCOMPLETE}\`.`;
  const lists = (["lost", "changed", "info"] as const).flatMap((level) => {
    const lines = notes.filter((note) => note.level === level).map(({ path, message }) => `- ${path}: ${message}`);
    return lines.length === 0 ? [] : [`\n## ${TITLES[level]}\n\n${lines.join("\n")}\n`];
  });
  return `# Import from ${source}\n\n${parts.join(", ")}${paused}\n${lists.join("")}`;
}
