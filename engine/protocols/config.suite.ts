/** Cases that every tunnel protocol's parser passes: whatever it is given ends in a tunnel that parses again, or in a reason without secrets. */
import { isDeepStrictEqual } from "node:util";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type ParsedTunnel, TunnelConfigError, type TunnelFields, type TunnelParser } from "../tunnel.ts";

export const UUID = "0f3c1d2e-1111-4222-8333-444455556666";
/** Where a case expects no secret in a reason. */
export const SECRET = "Zm9yYmlkZGVuc2VjcmV0";

export function base64(text: string): string {
  return Buffer.from(text).toString("base64");
}

export interface ParserCases {
  readonly parse: TunnelParser;
  /** Fields, and the endpoints that they lead to as `host port`. */
  readonly good: readonly (readonly [TunnelFields, ...string[]])[];
  /** Fields, and the whole reason. */
  readonly bad: readonly (readonly [TunnelFields, string])[];
  readonly identity: "account" | "none";
  /** Texts that mutations are made of. */
  readonly words: readonly string[];
}

export function endpointsOf({ endpoints }: ParsedTunnel): string[] {
  return endpoints.map(({ host, port }) => `${host} ${port}`);
}

export function parserSuite(name: string, { parse, good, bad, identity, words }: ParserCases): void {
  describe(`${name} configurations`, () => {
    it.each(good.map(([fields, ...endpoints]) => ({ fields, endpoints })))("takes case %#", ({ fields, endpoints }) => {
      const parsed = parse(fields);
      expect(endpointsOf(parsed)).toEqual(endpoints);
      expect(parsed.identity === null ? "none" : "account").toBe(identity);
      expect(parse(parsed.fields)).toEqual(parsed);
    });

    it.each(bad.map(([fields, reason]) => ({ fields, reason })))("refuses: $reason", ({ fields, reason }) => {
      expect(() => parse(fields)).toThrow(new TunnelConfigError(reason));
    });

    it("of any text end in a tunnel that parses again or in a reason that repeats none of it", () => {
      fc.assert(
        fc.property(mutated(good, words), (fields) => {
          const parsed = attempt(parse, fields);
          // Bare conditions: an expect() costs more than the parser, a hundred thousand times.
          if (parsed === undefined) return;
          const isRight =
            parsed.endpoints.length > 0 &&
            parsed.endpoints.every(
              ({ host, port }) => /^[a-z0-9_.:-]+$/.test(host) && Number.isInteger(port) && port >= 1 && port <= 65_535,
            );
          if (!isRight) expect.fail(`not endpoints: ${JSON.stringify(parsed.endpoints)}`);
          const again = parse(parsed.fields);
          if (!isDeepStrictEqual(again, parsed)) expect(again).toStrictEqual(parsed);
        }),
        { numRuns: 100_000, interruptAfterTimeLimit: 30_000 },
      );
    }, 60_000);
  });
}

function attempt(parse: TunnelParser, fields: TunnelFields): ParsedTunnel | undefined {
  try {
    return parse(fields);
  } catch (error) {
    if (!(error instanceof TunnelConfigError)) throw error;
    if (error.message.length >= 120 || error.message.includes(SECRET)) expect.fail(`not to be said: ${error.message}`);
    return undefined;
  }
}

const NOISE = [
  "",
  " ",
  "\n",
  "\r",
  "\u0000",
  "\ufeff",
  "#",
  "?",
  "@",
  "/",
  ":",
  "[",
  "]",
  "%",
  "%zz",
  "=",
  "\\",
  '"',
  "<",
  ">",
  "🜂",
  "é.test",
];

/** Good ones with pieces cut out, put in, doubled; and plain noise. */
function mutated(good: ParserCases["good"], words: readonly string[]): fc.Arbitrary<TunnelFields> {
  const piece = fc.oneof(
    fc.constantFrom(...NOISE, ...words, SECRET),
    fc.string({ maxLength: 12 }),
    fc.string({ unit: "binary", maxLength: 6 }),
  );
  const cut = fc.record({ at: fc.nat(999).map((thousandth) => thousandth / 1_000), size: fc.nat(12), piece });
  const edit = (text: string, cuts: readonly { at: number; size: number; piece: string }[]): string =>
    cuts.reduce((now, { at, size, piece: put }) => {
      const place = Math.floor(at * now.length);
      return now.slice(0, place) + put + now.slice(place + size);
    }, text);
  const starts = fc.oneof(
    { weight: 8, arbitrary: fc.constantFrom(...good.map(([fields]) => fields)) },
    { weight: 1, arbitrary: fc.record({ url: piece, config: piece, host: piece, username: piece, password: piece }) },
  );
  return fc
    .tuple(
      starts,
      fc.array(cut, { maxLength: 3 }),
      fc.array(cut, { maxLength: 2 }),
      fc.option(fc.integer({ min: 1, max: 65_535 })),
    )
    .map(([fields, main, host, port]) => ({
      ...fields,
      ...(fields.url !== undefined && { url: edit(fields.url, main) }),
      ...(fields.config !== undefined && { config: edit(fields.config, main) }),
      ...(fields.host !== undefined && { host: edit(fields.host, host) }),
      ...(port !== null && { port }),
    }));
}
