import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { property } from "../testkit/property.ts";
import { readOutcome, sound } from "./outcome-reader.ts";
import { Refused } from "./plain-values.ts";
import { type CheckOutcome, PHASES } from "./result.ts";
import { VERDICTS } from "./verdict.ts";

const WHOLE: CheckOutcome = {
  checkId: 7,
  verdict: "timeout",
  startedAtMs: 1_760_000_000_000,
  latenessMs: 3,
  durationMs: 10_000,
  latencyMs: null,
  connectMs: 12.5,
  peerAnswered: true,
  message: "No answer",
  phases: { connect: 1, request: 2 },
  explanation: { stage: "request", address: "192.0.2.1:443", peer: "said", hint: null },
  certificate: { valid: true, expiresAtMs: 1_790_000_000_000 },
  domainExpiresAtMs: null,
  tunnel: {
    connectionTimeMs: 3,
    handshakeTimeMs: null,
    assignedIp: "10.0.0.2",
    engineUsed: "xray",
    exitCountry: "DE",
    downloadBitsPerS: 12_000_000,
  },
  checker: "box",
  configs: [
    {
      configId: 4,
      verdict: "ok",
      totalMs: 5,
      peerAnswered: true,
      message: null,
      publicIp: "192.0.2.7",
      engineUsed: null,
      exitCountry: "DE",
    },
  ],
};
const over = (more: Record<string, unknown>): unknown => ({ ...WHOLE, ...more });
const sent = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

/** What an attacker who has a location's key may send instead. */
const POISON: readonly (readonly [what: string, value: unknown])[] = [
  ["no object", 7],
  ["null", null],
  ["a list", [WHOLE]],
  ["an unknown verdict", over({ verdict: "fine" })],
  ["a verdict from the prototype", over({ verdict: "constructor" })],
  ["a latency of text", over({ latencyMs: "5" })],
  ["a latency of a list", over({ latencyMs: [5] })],
  ["a latency of 1e308", over({ latencyMs: 1e308 })],
  ["a negative latency", over({ latencyMs: -1 })],
  ["a latency that is NaN", over({ latencyMs: Number.NaN })],
  ["a latency without an end", over({ latencyMs: Number.POSITIVE_INFINITY })],
  ["a start in the year 275760", over({ startedAtMs: 8.64e15 })],
  ["a start before 1970", over({ startedAtMs: -1 })],
  ["a check id that is no whole number", over({ checkId: 1.5 })],
  ["a check id beyond 2^53", over({ checkId: 2 ** 60 })],
  ["a message with U+0000", over({ message: "a\0b" })],
  ["a message with half a character", over({ message: "a\ud800" })],
  ["a message of a million characters", over({ message: "x".repeat(1_000_000) })],
  ["a message that is an object", over({ message: { length: 3 } })],
  ["phases that are text", over({ phases: "connect" })],
  ["a phase that is text", over({ phases: { connect: "1" } })],
  ["an explanation that is text", over({ explanation: "because" })],
  ["an explanation of an unknown stage", over({ explanation: { ...WHOLE.explanation, stage: "later" } })],
  ["a huge explanation", over({ explanation: { ...WHOLE.explanation, peer: "x".repeat(100_000) } })],
  ["a certificate of the year 275760", over({ certificate: { valid: true, expiresAtMs: 8.64e15 } })],
  ["a certificate that is valid by 1", over({ certificate: { valid: 1, expiresAtMs: 1 } })],
  ["a domain that ends at -1e300", over({ domainExpiresAtMs: -1e300 })],
  ["a million configs", over({ configs: Array.from({ length: 1_000_000 }, () => WHOLE.configs?.[0]) })],
  ["a config of text", over({ configs: ["ok"] })],
  ["a country of three letters", over({ tunnel: { ...WHOLE.tunnel, exitCountry: "DEU" } })],
  ["a negative rate", over({ tunnel: { ...WHOLE.tunnel, downloadBitsPerS: -1 } })],
  ["an unknown engine", over({ tunnel: { ...WHOLE.tunnel, engineUsed: "other" } })],
  ["a checker's name of U+0000", over({ checker: "\0" })],
  ["a field that is missing", { ...WHOLE, phases: undefined }],
];

describe("readOutcome", () => {
  it("takes what a checker sends, whole", () => {
    expect(readOutcome(sent(WHOLE))).toEqual(WHOLE);
    const { tunnel: _tunnel, checker: _checker, configs: _configs, ...bare } = WHOLE;
    expect(readOutcome(sent(bare))).toEqual(bare);
  });

  it.each(POISON)("refuses %s", (_what, value) => {
    expect(() => readOutcome(value)).toThrow(Refused);
  });

  it("says neither a secret nor a megabyte in its refusal", () => {
    expect(() => readOutcome(over({ message: "hush".repeat(100_000) }))).toThrow(
      /^message is longer than \d+ characters$/,
    );
  });

  it("drops what an outcome does not have, also under names that objects are made of", () => {
    const text = JSON.stringify(WHOLE).replace(
      "{",
      '{"__proto__":{"isAdmin":true},"constructor":1,"further":[[[[]]]],',
    );
    const read = readOutcome(JSON.parse(text));
    expect(Object.keys(read)).toEqual(Object.keys(WHOLE));
    expect(Object.getPrototypeOf(read)).toBe(Object.prototype);
    const phases = readOutcome(
      JSON.parse('{"p":{"connect":1,"__proto__":5,"other":"x"}}', (key, value) =>
        key === "" ? over({ phases: value.p }) : value,
      ),
    ).phases;
    expect(phases).toEqual({ connect: 1 });
  });

  it("makes -0 a 0", () => {
    expect(Object.is(readOutcome(over({ latencyMs: -0 })).latencyMs, 0)).toBe(true);
  });

  property([fc.jsonValue({ maxDepth: 4 })])("never throws anything but a refusal", (value) => {
    for (const name of Object.keys(WHOLE)) {
      try {
        readOutcome(over({ [name]: value }));
      } catch (error) {
        expect(error).toBeInstanceOf(Refused);
      }
    }
  });
});

const anyNumber = fc.oneof(fc.double(), fc.constantFrom(Number.NaN, Number.POSITIVE_INFINITY, -0, 1e308, 8.64e15));
const anyText = fc.oneof(fc.string({ unit: "binary" }), fc.constantFrom("\0", "\ud800", "x".repeat(5_000)));
const typed: fc.Arbitrary<CheckOutcome> = fc.record({
  checkId: fc.nat(),
  verdict: fc.constantFrom(...VERDICTS),
  startedAtMs: anyNumber,
  latenessMs: anyNumber,
  durationMs: anyNumber,
  latencyMs: fc.option(anyNumber),
  connectMs: fc.option(anyNumber),
  peerAnswered: fc.boolean(),
  message: fc.option(anyText),
  phases: fc.record(Object.fromEntries(PHASES.map((phase) => [phase, anyNumber])), { requiredKeys: [] }),
  explanation: fc.option(
    fc.record({
      stage: fc.option(fc.constantFrom(...PHASES)),
      address: fc.option(anyText),
      peer: fc.option(anyText),
      hint: fc.option(anyText),
    }),
  ),
  certificate: fc.option(fc.record({ valid: fc.boolean(), expiresAtMs: anyNumber })),
  domainExpiresAtMs: fc.option(anyNumber),
});

describe("sound", () => {
  it("changes nothing of what is sound", () => {
    expect(sound(WHOLE)).toEqual(WHOLE);
  });

  property([typed])("gives what every door takes, whatever a target made our threads say", (outcome) => {
    const once = sound(outcome);
    expect(readOutcome(sent(once))).toEqual(once);
    expect(sound(once)).toEqual(once);
  });

  it("mends words and drops what is no date", () => {
    const mended = sound({ ...WHOLE, message: "a\0b\udfff", certificate: { valid: true, expiresAtMs: Number.NaN } });
    expect(mended.message).toBe("a\ufffdb\ufffd");
    expect(mended.certificate).toBeNull();
  });
});
