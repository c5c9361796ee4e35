/** What an import has to say, in the order in which it was found. */
import type { Note, NoteLevel } from "./importer.ts";
import { quoted } from "./values.ts";

/** Characters of a note. */
const LONGEST = 400;

export class Notes {
  readonly #list: Note[] = [];
  readonly #once = new Set<string>();

  get list(): readonly Note[] {
    return this.#list;
  }

  add(level: NoteLevel, path: string, message: string): void {
    this.#list.push({ level, path: quoted(path), message: message.slice(0, LONGEST) });
  }

  /** What is true of many things is said once. */
  once(level: NoteLevel, path: string, message: string): void {
    if (this.#once.has(message)) return;
    this.#once.add(message);
    this.add(level, path, message);
  }
}
