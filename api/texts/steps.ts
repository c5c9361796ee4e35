/** What is done with a long text, in steps. */
import { readDocumentInSteps } from "../../model/document/read.ts";
import type { DocumentWords } from "../../model/document/shape.ts";
import { Slices } from "../../store/slices.ts";
import { partsOf } from "./parts.ts";
import type { ReadText, TextPath, Texts, TextWork, TextWorkName } from "./texts.ts";

/** The work in steps of some milliseconds, as far as it can be interrupted. */
export type TextSteps = {
  readonly [Name in TextWorkName]: (
    ...asked: Parameters<TextWork[Name]>
  ) => Promise<Generator<void, ReturnType<TextWork[Name]>>>;
};

export function textSteps(words: DocumentWords): TextSteps {
  return {
    readDocument: async (text) => readSteps(text, words),
    linesOf: async (text, paths) => lineSteps(text, paths, words),
    convert: async (order) => {
      // Only who imports pays for what reads other programs' files.
      const { convertSteps } = await import("./convert.ts");
      return convertSteps(order);
    },
    linksOf: async (text, most) => {
      // Only who checks lists pays for what reads them.
      const { linkSteps } = await import("../../engine/subscription/links.ts");
      return linkSteps(text, most);
    },
  };
}

/** On the caller's thread. */
export function textsHere(words: DocumentWords): Texts {
  const steps = textSteps(words);
  return {
    readDocument: async (_workspace, text) => new Slices().run(await steps.readDocument(text)),
    linesOf: async (_workspace, text, paths) => new Slices().run(await steps.linesOf(text, paths)),
    convert: async (_workspace, order) => new Slices().run(await steps.convert(order)),
    linksOf: async (_workspace, text, most) => new Slices().run(await steps.linksOf(text, most)),
  };
}

function* readSteps(text: string, words: DocumentWords): Generator<void, ReadText> {
  const { document, faults } = yield* readDocumentInSteps(text, words);
  return { parts: document === null ? null : [...partsOf(document)], faults };
}

function* lineSteps(
  text: string,
  paths: readonly TextPath[],
  words: DocumentWords,
): Generator<void, readonly (number | null)[]> {
  const { places } = yield* readDocumentInSteps(text, words);
  const lineOf = yield* places();
  return paths.map(lineOf);
}
