/** How client and server agree in the clear that TLS begins: turns of a command and an answer, by the protocol. Pure. */
import type { ReadAnswer } from "../answer.ts";

/** What an answer means for the agreement. */
export interface Said {
  /** False: the server does not go on. */
  readonly agrees: boolean;
  /** In the server's own words. */
  readonly words: string;
}

export interface Turn {
  /** What the client sends; empty where the server sends first. */
  readonly command: string | Uint8Array;
  readonly read: ReadAnswer<Said>;
}

/** Whether a line begins with the word, or an incomplete line still may. */
export function mayBegin(line: string, isWhole: boolean, word: string): boolean {
  return line.startsWith(word) || (!isWhole && word.startsWith(line));
}
