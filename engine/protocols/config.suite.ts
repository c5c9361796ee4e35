/** Cases that every tunnel protocol's parser passes: whatever it is given ends in a tunnel that parses again, or in a reason without secrets. */
import { isDeepStrictEqual } from "node:util";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { assertProperty } from "../../testkit/property.ts";
import { type ParsedTunnel, TunnelConfigError, type TunnelFields, type TunnelParser } from "../contract/tunnel.ts";
import { mutations } from "./mutations.suite.ts";

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

function endpointsOf({ endpoints }: ParsedTunnel): string[] {
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
      const property = fc.property(mutated(good, words), (fields) => {
        const parsed = attempt(parse, fields);
        if (parsed === undefined) return;
        requireEndpoints(parsed);
        const again = parse(parsed.fields);
        if (!isDeepStrictEqual(again, parsed)) expect(again).toStrictEqual(parsed);
      });
      assertProperty(property, { numRuns: 100_000, interruptAfterTimeLimit: 30_000 });
    }, 60_000);
  });
}

// In these two nothing is expected but where it fails: `expect` costs many times what a parser does.
function attempt(parse: TunnelParser, fields: TunnelFields): ParsedTunnel | undefined {
  try {
    return parse(fields);
  } catch (error) {
    if (!(error instanceof TunnelConfigError)) throw error;
    if (error.message.length >= 120 || error.message.includes(SECRET)) throw new Error(`tells: ${error.message}`);
    return undefined;
  }
}

function requireEndpoints({ endpoints }: ParsedTunnel): void {
  const isGood = endpoints.every(
    ({ host, port }) => /^[a-z0-9_.:-]+$/.test(host) && Number.isInteger(port) && port >= 1 && port <= 65_535,
  );
  if (endpoints.length === 0 || !isGood) throw new Error(`leads to ${JSON.stringify(endpoints)}`);
}

/** Good ones with pieces cut out, put in, doubled; and plain noise. */
function mutated(good: ParserCases["good"], words: readonly string[]): fc.Arbitrary<TunnelFields> {
  const { cuts, edit, piece } = mutations([...words, SECRET]);
  const start = fc.nat(9 * good.length - 1);
  const port = fc.nat(2 * 65_535 - 1);
  return fc.tuple(start, cuts(3), cuts(2), port).map(([chosen, main, host, given]) => {
    const number = given < 65_535 ? { port: given + 1 } : {};
    const of = good[Math.floor(chosen / 9)]?.[0];
    if (chosen % 9 === 8 || of === undefined) {
      const [one = 0, two = 0, three = 0] = main;
      const [four = 0, five = 0] = host;
      const fields = { url: piece(one), config: piece(two), host: piece(three), username: piece(four) };
      return { ...fields, password: piece(five), ...number };
    }
    return {
      ...of,
      ...(of.url !== undefined && { url: edit(of.url, main) }),
      ...(of.config !== undefined && { config: edit(of.config, main) }),
      ...(of.host !== undefined && { host: edit(of.host, host) }),
      ...number,
    };
  });
}
