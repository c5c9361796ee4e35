/** Another program's files to the text of a document. */
import { ImportError } from "../../cli/import/importer.ts";
import { importerNamed } from "../../cli/import/index.ts";
import { reportOf } from "../../cli/import/report.ts";
import { writeDocument } from "../../model/document/write.ts";
import type { Converted, ConvertOrder } from "./texts.ts";

/** More are counted in the last one. */
const MOST_NOTES = 5_000;

export function* convertSteps({ source, files, options }: ConvertOrder): Generator<void, Converted> {
  const importer = importerNamed(source);
  if (importer === undefined) throw new TypeError(`no importer is called ${source}`);
  try {
    const { document, notes } = yield* importer.convert(files, options);
    const report = reportOf(importer.title, document, notes.slice(0, MOST_NOTES));
    yield;
    const text = writeDocument(document, [
      `Imported from ${importer.title}. Its monitors are known by their keys: keep them.`,
    ]);
    return { text, report: { ...report, more_notes: notes.length - report.notes.length } };
  } catch (error) {
    if (error instanceof ImportError) return { fault: error.message };
    throw error;
  }
}
