/** The demo's name server: every name has one address. RFC 1035 section 4.1. */

const HEADER_BYTES = 12;
const TYPE_A = 1;
const TYPE_AAAA = 28;
/** A response, authoritative, without an error. */
const FLAGS = 0x84_00;
const TTL_S = 60;
const ADDRESSES: ReadonlyMap<number, readonly number[]> = new Map([
  [TYPE_A, [192, 0, 2, 7]],
  [TYPE_AAAA, [0x20, 0x01, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 7]],
]);

/** @returns 192.0.2.7 or 2001:db8::7 for the first question; undefined for what is no query */
export function answerToAll(query: Uint8Array): Uint8Array | undefined {
  const end = endOfQuestion(query);
  if (end === undefined) return undefined;
  const view = new DataView(query.buffer, query.byteOffset, query.byteLength);
  const address = ADDRESSES.get(view.getUint16(end - 4)) ?? [];
  // The name of the answer points to that of the question, at byte 12.
  const record =
    address.length === 0
      ? []
      : [0xc0, HEADER_BYTES, ...query.subarray(end - 4, end), 0, 0, 0, TTL_S, 0, address.length, ...address];
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
