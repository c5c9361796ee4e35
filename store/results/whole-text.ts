/** An answer of ClickHouse as text, within bounds: of its size, and of the time until its end. The client has none, and what answers may be no ClickHouse. */
import type { Readable } from "node:stream";

/** @throws Error of words for the operator; the connection is closed then */
export async function wholeText(stream: Readable, mostBytes: number, withinMs: number): Promise<string> {
  const late = setTimeout(
    () => stream.destroy(new Error(`its answer has no end after ${withinMs / 1_000} s`)),
    withinMs,
  );
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      if (bytes > mostBytes) throw new Error(`its answer is longer than ${mostBytes / 2 ** 20} MiB`);
      chunks.push(chunk);
    }
  } finally {
    clearTimeout(late);
  }
  return Buffer.concat(chunks).toString("utf8");
}
