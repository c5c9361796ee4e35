/**
 * Long texts of callers, read: documents, files of other programs, lists of share links. What reads YAML and JSON cannot be interrupted (0.2 s for each MB of YAML), so a long
 * text is read by a separate thread (reading-thread.ts), and a short one in steps on the caller's. Both do the same work (steps.ts).
 */
import type { ImportFile, ImportOptions } from "../../cli/import/importer.ts";
import type { Report } from "../../cli/import/report.ts";
import type { DocumentFault } from "../../model/document/tree.ts";
import type { LinkList, NoLinkList } from "../checks/link-lists.ts";
import type { DocumentPart } from "./parts.ts";

/** A position in a document. */
export type TextPath = readonly (string | number)[];

export interface ReadText {
  /** null: it has faults. */
  readonly parts: readonly DocumentPart[] | null;
  readonly faults: readonly DocumentFault[];
}

export interface ConvertOrder {
  readonly source: string;
  readonly files: readonly ImportFile[];
  readonly options: ImportOptions;
}

/** A document of ours as its text, and what is lost on the way; or why there is none, in a sentence for the one who sent it. */
export type Converted =
  | { readonly text: string; readonly report: Report & { readonly more_notes: number } }
  | { readonly fault: string };

/** What may be asked of a text. All of it is plain: it goes to a thread and back. */
export interface TextWork {
  readDocument(text: string): ReadText;
  /** @returns the lines of the values at these paths, in their order */
  linesOf(text: string, paths: readonly TextPath[]): readonly (number | null)[];
  convert(order: ConvertOrder): Converted;
  /** @param most links; one more shows that there are more */
  linksOf(text: string, most: number): LinkList | NoLinkList;
}

export type TextWorkName = keyof TextWork;

/** By the id of the workspace that asks. Rejects with TextRefused when the text takes more than there is. */
export type Texts = {
  readonly [Name in TextWorkName]: (
    workspace: number,
    ...asked: Parameters<TextWork[Name]>
  ) => Promise<ReturnType<TextWork[Name]>>;
};

/** It takes more memory or time than a text may; `isBusy`: too many others wait. */
export class TextRefused extends Error {
  override readonly name = "TextRefused";
  readonly isBusy: boolean;

  constructor(isBusy: boolean) {
    super(isBusy ? "too many texts wait to be read" : "a text took more memory or time than there is");
    this.isBusy = isBusy;
  }
}
