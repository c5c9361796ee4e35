/** What a command reads as text. Standard input is read asynchronously, because a pipe that another program shares may not be read otherwise. */
import { readFileSync } from "node:fs";
import { decodeText } from "../../model/decode-text.ts";
import type { CommandError } from "../command.ts";

/** @throws CommandError beyond so many bytes */
export async function readStdin(mostBytes: number, tooLarge: CommandError): Promise<string> {
  const pieces: Buffer[] = [];
  let sizeBytes = 0;
  for await (const piece of process.stdin as AsyncIterable<Buffer>) {
    sizeBytes += piece.length;
    if (sizeBytes > mostBytes) throw tooLarge;
    pieces.push(piece);
  }
  return decodeText(Buffer.concat(pieces));
}

/** @throws the errors of node:fs */
export function readTextFile(path: string): string {
  return decodeText(readFileSync(path));
}
