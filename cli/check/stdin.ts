/** Standard input as a whole: asynchronously, because a pipe that another program shares may not be read otherwise. */
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
  return Buffer.concat(pieces).toString("utf8");
}
