import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { must } from "../../../testkit/must.ts";
import { assertProperty } from "../../../testkit/property.ts";
import { fuzz } from "../fuzz.suite.ts";
import { EapTlsFraming } from "./eap-tls.ts";
import { IkeFormatError } from "./message.ts";

const START = Buffer.from([0x20]);
const LONGEST = 65_536;

function begun(pieceBytes?: number): EapTlsFraming {
  const framing = new EapTlsFraming(pieceBytes);
  framing.receive(START);
  return framing;
}

/** Says a flight to the other side. @returns what came, and how many packets it took */
function carry(from: EapTlsFraming, to: EapTlsFraming, records: Buffer): { records: Buffer; packets: number } {
  let packet = from.send(records);
  for (let packets = 1; ; packets++) {
    const heard = to.receive(packet);
    if (heard.kind === "flight") return { records: heard.records, packets };
    if (heard.kind !== "piece") return expect.fail(heard.kind);
    expect(from.receive(to.next())).toEqual({ kind: "acknowledged" });
    packet = from.next();
  }
}

describe("flights of TLS in EAP", () => {
  it("come out whole on the other side, in as many pieces as they need, in turns", () => {
    const flights = fc.array(fc.uint8Array({ minLength: 1, maxLength: 5_000 }), { maxLength: 6 });
    assertProperty(
      fc.property(flights, fc.integer({ min: 1, max: 1_500 }), (all, pieceBytes) => {
        const sides = [begun(), begun(pieceBytes)] as const;
        for (const [index, flight] of all.entries()) {
          const [from, to, bytes] = index % 2 === 0 ? [sides[0], sides[1], 1_000] : [sides[1], sides[0], pieceBytes];
          const said = carry(from, to, Buffer.from(flight));
          expect(said.records).toEqual(Buffer.from(flight));
          expect(said.packets).toBe(Math.ceil(flight.length / bytes));
        }
      }),
      { numRuns: 200 },
    );
  });

  it("are as long as the longest there is, and no longer", () => {
    const longest = Buffer.alloc(LONGEST, 1);
    expect(carry(begun(), begun(), longest).records).toEqual(longest);
    expect(() => carry(begun(), begun(), Buffer.alloc(LONGEST + 1))).toThrow(IkeFormatError);
    // Without its length, as endless pieces.
    const framing = begun();
    const piece = Buffer.concat([Buffer.from([0x40]), Buffer.alloc(1_000)]);
    expect(() => {
      for (let pieces = 0; pieces < 100; pieces++) framing.receive(piece);
    }).toThrow(IkeFormatError);
  });

  it.each<readonly [string, readonly string[]]>([
    ["nothing", [""]],
    ["a length that is cut off", ["80000000"]],
    ["a flight before the start", ["0016"]],
    ["a second start", ["20", "20"]],
    ["a start with records", ["2016"]],
    ["a piece without bytes", ["20", "40"]],
    ["an acknowledgement within a flight", ["20", "4016", "00"]],
    ["more than announced", ["20", "c00000000216", "40161616"]],
    ["less than announced", ["20", "c00000000916", "0016"]],
    ["a length beyond all bounds", ["20", "c0ffffffff16"]],
  ])("are none of %s", (_name, packets) => {
    const framing = new EapTlsFraming();
    const receive = (hex: string) => framing.receive(Buffer.from(hex, "hex"));
    for (const packet of packets.slice(0, -1)) receive(packet);
    expect(() => receive(packets.at(-1) ?? "")).toThrow(IkeFormatError);
  });

  it("do not come before ours has gone out whole", () => {
    const framing = begun();
    framing.send(Buffer.alloc(1_500));
    expect(() => framing.receive(Buffer.from([0, 22]))).toThrow(IkeFormatError);
  });

  fuzz(
    "of foreign bytes end in a flight or in a refusal, within bounds",
    [fc.array(fc.uint8Array({ maxLength: 40 }), { maxLength: 12 })],
    (packets) => {
      const framing = begun();
      try {
        for (const packet of packets) {
          const heard = framing.receive(Buffer.from(packet));
          must(heard.kind !== "flight" || heard.records.length <= 12 * 40, "more than came in");
          must(framing.next().length <= 1_005, "a packet that is too long");
        }
      } catch (error) {
        if (!(error instanceof IkeFormatError)) throw error;
      }
    },
    40_000,
  );
});
