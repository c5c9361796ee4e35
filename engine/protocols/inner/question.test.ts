import dnsPacket from "dns-packet";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { withChecksum } from "../../../demo/tunnels/host.ts";
import { assertProperty } from "../../../testkit/property.ts";
import { answerOf } from "./host.suite.ts";
import { addressBytes, decodeIp, encodeIp, PROTOCOLS } from "./packet.ts";
import { createQuestion, decodeInner, type Question, type QuestionTarget, SEED_BYTES } from "./question.ts";

const OURS = { 4: addressBytes("10.8.0.2"), 6: addressBytes("fd00::2") };
const THEIRS = { 4: addressBytes("1.1.1.1"), 6: addressBytes("2606:4700::1111") };
const ALL = { echo: true, dns: "answer", tcp: "accept" } as const;
const seeds = fc.uint8Array({ minLength: SEED_BYTES, maxLength: SEED_BYTES });

function target(kind: QuestionTarget["kind"], family: 4 | 6): QuestionTarget {
  return { kind, address: THEIRS[family] ?? new Uint8Array(4), port: kind === "icmp" ? 0 : kind === "dns" ? 53 : 443 };
}
function ask(
  kind: QuestionTarget["kind"],
  family: 4 | 6,
  round = 0,
  seed = new Uint8Array(SEED_BYTES).fill(3),
): Question {
  return createQuestion(target(kind, family), OURS[family] ?? new Uint8Array(4), round, seed);
}
function heard(question: Question, packet: Uint8Array | undefined) {
  const decoded = packet === undefined ? undefined : decodeInner(packet);
  return decoded === undefined ? undefined : question.read(decoded);
}

describe.each([4, 6] as const)("questions over IPv%i", (family) => {
  it("are answered by their own answer, of every kind, size and seed", () => {
    assertProperty(
      fc.property(seeds, fc.nat(20), fc.constantFrom("icmp", "dns", "tcp"), (seed, round, kind) => {
        const question = ask(kind, family, round, seed);
        expect(question.packet.length).toBeLessThan(110);
        expect(decodeInner(question.packet)).toBeDefined();
        expect(heard(question, answerOf(question.packet, ALL))?.kind).toBe("answered");
        expect(heard(question, question.packet)).toBeUndefined();
      }),
      { numRuns: 2_000 },
    );
  });

  it("vary in size from round to round, so that no one length decides", () => {
    const lengths = [0, 1, 2, 3].map((round) => ask("icmp", family, round).packet.length);
    expect(new Set(lengths).size).toBe(4);
    expect(lengths.some((length) => length > 64)).toBe(true);
    expect(lengths.some((length) => length < 49 || family === 6)).toBe(true);
  });

  it("are not answered by another question's answer", () => {
    assertProperty(
      fc.property(seeds, seeds, fc.constantFrom("icmp", "dns", "tcp"), (one, other, kind) => {
        // What tells two questions apart: everything but the packet's own number.
        fc.pre(!one.subarray(4, 8).every((byte, index) => byte === other[4 + index]));
        const answer = answerOf(ask(kind, family, 0, other).packet, ALL);
        expect(heard(ask(kind, family, 0, one), answer)).toBeUndefined();
      }),
      { numRuns: 2_000 },
    );
  });

  it("are not answered from elsewhere, to elsewhere, or when anything was changed", () => {
    for (const kind of ["icmp", "dns", "tcp"] as const) {
      const question = ask(kind, family);
      const answer = decodeIp(answerOf(question.packet, ALL) ?? new Uint8Array(0));
      if (answer === undefined) throw new Error("no answer");
      const elsewhere = Uint8Array.from(answer.source);
      elsewhere[0] = 9;
      const at = kind === "icmp" ? 2 : kind === "dns" ? 6 : 16;
      expect(heard(question, withChecksum({ ...answer, source: elsewhere }, at))).toBeUndefined();
      expect(heard(question, withChecksum({ ...answer, destination: elsewhere }, at))).toBeUndefined();
      expect(heard(question, encodeIp({ ...answer, protocol: 47 }, 1))).toBeUndefined();
      const packet = withChecksum(answer, at);
      for (let index = family === 4 ? 12 : 8; index < packet.length; index++) {
        const changed = Uint8Array.from(packet);
        changed[index] = (changed[index] ?? 0) ^ 0x40;
        expect(heard(question, changed)).toBeUndefined();
      }
    }
  });

  it("hear a refusal as an answer, with a word about it", () => {
    const dns = ask("dns", family);
    expect(heard(dns, answerOf(dns.packet, { dns: "refuse" }))).toMatchObject({
      kind: "answered",
      note: expect.stringContaining("refuses"),
    });
    const tcp = ask("tcp", family);
    const refused = heard(tcp, answerOf(tcp.packet, { tcp: "refuse" }));
    expect(refused).toMatchObject({ kind: "answered" });
    expect(refused).not.toHaveProperty("farewell");
  });

  it("take a half-open connection back", () => {
    const question = ask("tcp", family);
    const answer = heard(question, answerOf(question.packet, ALL));
    const reset = decodeInner((answer?.kind === "answered" ? answer.farewell : undefined) ?? new Uint8Array(0));
    expect(reset?.payload[13]).toBe(0x04);
  });

  it("hear that they cannot be delivered", () => {
    const question = ask("icmp", family);
    const header = family === 4 ? [3, 1, 0, 0, 0, 0, 0, 0] : [1, 3, 0, 0, 0, 0, 0, 0];
    const error = {
      source: addressBytes(family === 4 ? "10.8.0.1" : "fd00::1") ?? new Uint8Array(4),
      destination: OURS[family] ?? new Uint8Array(4),
      protocol: family === 4 ? PROTOCOLS.icmp : PROTOCOLS.icmpv6,
      payload: Uint8Array.from([...header, ...question.packet]),
    };
    expect(heard(question, withChecksum(error, 2))).toMatchObject({
      kind: "undeliverable",
      problem: "host-unreachable",
    });
    const other = ask("icmp", family, 0, new Uint8Array(SEED_BYTES).fill(4));
    expect(heard(other, withChecksum(error, 2))).toBeUndefined();
  });

  it("survive any packet", () => {
    const questions = (["icmp", "dns", "tcp"] as const).map((kind) => ask(kind, family));
    const answers = questions.map(({ packet }) => answerOf(packet, ALL) ?? new Uint8Array(0));
    const changed = fc
      .tuple(fc.constantFrom(...answers), fc.nat(), fc.uint8Array({ minLength: 1, maxLength: 8 }))
      .map(([answer, at, put]) => {
        const copy = new Uint8Array(answer.length + 8);
        copy.set(answer);
        copy.set(put, at % answer.length);
        return copy;
      });
    assertProperty(
      fc.property(fc.oneof(changed, fc.uint8Array({ maxLength: 120 })), (packet) => {
        const decoded = decodeInner(packet);
        if (decoded === undefined) return;
        for (const question of questions) question.read(decoded);
      }),
      { numRuns: 100_000, interruptAfterTimeLimit: 30_000 },
    );
  }, 60_000);
});

describe("a DNS question", () => {
  it("is what dns-packet reads", () => {
    const packet = decodeIp(ask("dns", 4).packet);
    const query = dnsPacket.decode(Buffer.from(packet?.payload.subarray(8) ?? []));
    expect(query.questions).toEqual([{ name: "example.com", type: "A", class: "IN" }]);
    expect(query.flag_rd).toBe(true);
  });
});
