/**
 * What an importer is: it reads files of another program and says what of them becomes a document of ours (model/document), and what is lost or
 * changed on the way. Pure: files and options come in, nothing is read or sent. What an outsider wrote never throws anything but ImportError.
 */
import type { Document } from "../../model/document/document.ts";

export interface ImportFile {
  /** As the caller calls it; errors name it. */
  readonly name: string;
  readonly text: string;
}

export interface ImportOptions {
  /** Checks of databases and brokers become checks of their port. */
  readonly asPort?: boolean;
  /** A monitor runs although a condition of it could not be said. */
  readonly dropExtra?: boolean;
  /** Apprise API server that sends for channels which are written as Apprise addresses. */
  readonly appriseServer?: string;
  /** When windows begin that have no time of their own, ms. */
  readonly nowMs?: number;
}

/**
 * - lost: cannot be said in a document; a monitor whose meaning would change by it comes over paused
 * - changed: says something else than it did
 * - info: left out without a loss, or to be known
 */
export type NoteLevel = "lost" | "changed" | "info";

export interface Note {
  readonly level: NoteLevel;
  /** What it is about, in the words of the source, such as `monitor 12 (Shop)`. */
  readonly path: string;
  readonly message: string;
}

export interface Imported {
  readonly document: Document;
  readonly notes: readonly Note[];
}

/** So that a server can do other work between them. */
export type ImportSteps = Generator<void, Imported>;

export interface Importer {
  /** What it is called on the command line and in the API. */
  readonly source: string;
  /** The other program's own name. */
  readonly title: string;
  /** What it reads, for the help. */
  readonly reads: string;
  /** Further files that these name, relative to them: read where they are, and handed to `convert` as well. @throws ImportError */
  references?(files: readonly ImportFile[]): readonly string[];
  /** @returns the document, at the end of steps of some milliseconds @throws ImportError naming file and place */
  convert(files: readonly ImportFile[], options: ImportOptions): ImportSteps;
}

/** Names the file, the place in it, the fault, and what to do. */
export class ImportError extends Error {
  override readonly name = "ImportError";

  /** @param advice what the reader can do, such as `check the path` */
  constructor(fault: string, advice: string) {
    super(`${fault}; ${advice}`);
  }
}

/** Of a file that cannot be opened. */
export const CHECK_PATH = "check its path, and that you may read it";

/** Monitors of a step. */
const OF_A_STEP = 100;

/** Does something for each, in steps. */
export function* eachInSteps<One>(list: Iterable<One>, act: (one: One, index: number) => void): Generator<void, void> {
  let index = 0;
  for (const one of list) {
    act(one, index++);
    if (index % OF_A_STEP === 0) yield;
  }
}

/** All steps at once. */
export function atOnce(steps: ImportSteps): Imported {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}
