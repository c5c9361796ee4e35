/** The demo's name server: every name has one address of each family, a mail server, a name server and a text. RFC 1035 sections 3.3 and 4.1. */

const HEADER_BYTES = 12;
const TYPES = { A: 1, NS: 2, MX: 15, TXT: 16, AAAA: 28 } as const;
/** A response, authoritative, without an error. */
const FLAGS = 0x84_00;
const TTL_S = 60;
const RECORDS: ReadonlyMap<number, readonly number[]> = new Map([
  [TYPES.A, [192, 0, 2, 7]],
  [TYPES.NS, nameBytes("ns.demo.sonde.net")],
  [TYPES.MX, [0, 10, ...nameBytes("mx.demo.sonde.net")]],
  [TYPES.TXT, stringBytes("v=spf1 mx -all")],
  [TYPES.AAAA, [0x20, 0x01, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 7]],
]);

function nameBytes(name: string): readonly number[] {
  return [...name.split(".").flatMap(stringBytes), 0];
}

/** After its length, as labels and texts stand there. */
function stringBytes(text: string): readonly number[] {
  return [text.length, ...new TextEncoder().encode(text)];
}

/** @returns such as 192.0.2.7 or `10 mx.demo.sonde.net` for the first question; undefined for what is no query */
export function answerToAll(query: Uint8Array): Uint8Array | undefined {
  const end = endOfQuestion(query);
  if (end === undefined) return undefined;
  const view = new DataView(query.buffer, query.byteOffset, query.byteLength);
  const data = RECORDS.get(view.getUint16(end - 4)) ?? [];
  // The name of the answer points to that of the question, at byte 12.
  const record =
    data.length === 0
      ? []
      : [0xc0, HEADER_BYTES, ...query.subarray(end - 4, end), 0, 0, 0, TTL_S, 0, data.length, ...data];
  const answer = new Uint8Array(end + record.length);
  answer.set(query.subarray(0, end));
  answer.set(record, end);
  const header = new DataView(answer.buffer);
  header.setUint16(2, FLAGS);
  header.setUint16(4, 1);
  header.setUint16(6, record.length === 0 ? 0 : 1);
  // No authority, and nothing additional: the query's EDNS record is cut off.
  header.setUint32(8, 0);
  return answer;
}

/** The byte after the first question; undefined when there is none whole. */
function endOfQuestion(query: Uint8Array): number | undefined {
  let at = HEADER_BYTES;
  for (let label = query[at]; label !== undefined && label !== 0; label = query[at]) {
    if (label > 63) return undefined;
    at += 1 + label;
  }
  const end = at + 5;
  return end <= query.length ? end : undefined;
}
