import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { answerToAll } from "./demo-answer.ts";
import { decodeReply, encodeQuery } from "./message.ts";

describe("the demo's name server", () => {
  it.each([
    ["A", "192.0.2.7"],
    ["AAAA", "2001:db8::7"],
    ["MX", "10 mx.demo.sonde.net"],
    ["NS", "ns.demo.sonde.net"],
    ["TXT", "v=spf1 mx -all"],
  ] as const)("answers %s with %s, as our own client reads it", (type, record) => {
    const query = encodeQuery("demo.sonde.net", type, 4_711);
    const reply = decodeReply(answerToAll(query.bytes) ?? new Uint8Array(), query);
    expect(reply).toMatchObject({ rcode: "NOERROR", truncated: false });
    expect(reply?.records.map(({ data }) => data)).toEqual([record]);
  });

  it("never throws, whatever comes", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 600 }), (bytes) => {
        const answer = answerToAll(bytes);
        expect(answer === undefined || answer.length <= bytes.length + 40).toBe(true);
      }),
    );
  });
});
