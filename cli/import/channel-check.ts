/** Settings of a channel, held against what its kind takes: a document with a channel that cannot be made could not be applied. */
import type { ChannelEntry, FieldValue } from "../../model/document/document.ts";
import { channelKind } from "../../scheduler/alerts/channels/index.ts";
import { mapTexts, standIn } from "./marks.ts";
import type { Notes } from "./notes.ts";

type Settings = Record<string, FieldValue | undefined>;

/** @returns undefined when no channel can be made of it, which is noted */
export function usableChannel(entry: ChannelEntry, path: string, notes: Notes): ChannelEntry | undefined {
  const { kind, name: _name, active, ...rest } = entry;
  const settings: Settings = { ...rest };
  const schema = channelKind(kind)?.schema;
  // What stands for a variable is judged when it is filled in.
  const later = new Set(Object.keys(settings).filter((field) => hasMark(settings[field])));
  for (;;) {
    const judged = Object.fromEntries(
      Object.entries(settings).filter(([field, value]) => value !== undefined && !later.has(field)),
    );
    const issues = schema?.safeParse(judged).error?.issues ?? [];
    const issue = issues.find(({ path: [first] }) => !later.has(String(first)));
    if (issue === undefined) break;
    const fields = issue.code === "unrecognized_keys" ? issue.keys : [String(issue.path[0])];
    const present = fields.filter((field) => Object.hasOwn(judged, field));
    if (present.length === 0) {
      notes.add(
        "lost",
        path,
        `the channel is left out: ${fields.join(", ")} ${issue.code === "invalid_type" ? "is missing" : issue.message}`,
      );
      return undefined;
    }
    for (const field of present) {
      notes.add(
        "changed",
        path,
        `${field} is left out: it ${issue.code === "unrecognized_keys" ? "is not known here" : issue.message}`,
      );
      delete settings[field];
    }
  }
  const said = Object.entries(settings).filter((one): one is [string, FieldValue] => one[1] !== undefined);
  return { kind, ...(active !== undefined && { active }), ...Object.fromEntries(said) };
}

function hasMark(value: unknown): boolean {
  return JSON.stringify(mapTexts(value, standIn)) !== JSON.stringify(value);
}
