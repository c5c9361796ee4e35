/** Bytes from the network: whatever they are, a decoder ends in a value or in a refusal of its own, within bounds. */

import { isDeepStrictEqual } from "node:util";
import * as fc from "fast-check";
import { describe } from "vitest";
import { must } from "../../../testkit/must.ts";
import { NetworkFault } from "../../net/fault.ts";
import { fuzz } from "../fuzz.suite.ts";
import { HttpSyntaxError } from "../http/syntax-error.ts";
import { CookieJar } from "./cookies.ts";
import { CstpError, type Frame, FrameReader } from "./cstp.ts";
import { parseLoginAnswer } from "./form.ts";
import { AnswerParser, encodeRequest, type HttpAnswer } from "./http.ts";
import { logIn } from "./login.ts";
import { parseOffer } from "./offer.ts";
import { ASA, RECORDED, SEEDS } from "./recorded.suite.ts";
import { escapeXml, parseXml, XmlError } from "./xml.ts";

/** Of several answers each: 100,000 and more in all. */
const FEWER = 40_000;

/** Recorded ones with bytes changed, cut out, cut off; pieces of XML and HTTP; and noise. */
const bytes: fc.Arbitrary<Buffer> = fc.oneof(
  { weight: 1, arbitrary: fc.uint8Array({ maxLength: 200 }).map((noise) => Buffer.from(noise)) },
  {
    weight: 2,
    arbitrary: fc
      .array(
        fc.constantFrom(
          ..."<|</|>|/>|<auth|<form|<input |name=|\"|'|<![CDATA[|]]>|<!--|-->|<?|&#x110000;|&amp;|&#0;|<!DOCTYPE a|STF\u0001|\r\n|HTTP/1.1 200 |:| ".split(
            "|",
          ),
        ),
        { maxLength: 24 },
      )
      .map((pieces) => Buffer.from(pieces.join(""))),
  },
  {
    weight: 4,
    arbitrary: fc
      .tuple(
        fc.constantFrom(...SEEDS),
        fc.array(fc.tuple(fc.nat(600), fc.integer({ min: 0, max: 255 })), { maxLength: 4 }),
        fc.option(fc.tuple(fc.nat(600), fc.nat(40))),
      )
      .map(([seed, changes, cut]) => {
        const changed = Buffer.from(seed);
        for (const [at, value] of changes) changed[at % changed.length] = value;
        return cut === null ? changed : Buffer.concat([changed.subarray(0, cut[0]), changed.subarray(cut[0] + cut[1])]);
      }),
  },
);

/** Whatever is thrown must be one of ours. */
function holds(work: () => unknown): void {
  try {
    work();
  } catch (error) {
    const isOurs = [XmlError, HttpSyntaxError, CstpError, NetworkFault].some((kind) => error instanceof kind);
    if (!isOurs) throw error;
  }
}

/** The same bytes in pieces. */
function cutUp(whole: Buffer, sizes: readonly number[]): readonly Buffer[] {
  const pieces: Buffer[] = [];
  let at = 0;
  for (const size of sizes) {
    pieces.push(whole.subarray(at, at + size));
    at += size;
  }
  return [...pieces, whole.subarray(at)];
}

const sizes = fc.array(fc.integer({ min: 1, max: 90 }), { maxLength: 6 });

describe("hostile bytes", () => {
  fuzz("as XML and as a step of a login", [bytes], (input) => {
    const text = input.toString("utf8");
    holds(() => parseXml(text));
    holds(() => parseLoginAnswer(text));
  });

  fuzz("as an HTTP answer, whole and in pieces", [bytes, sizes, fc.boolean()], (input, cuts, isConnect) => {
    const read = (pieces: readonly Buffer[]): HttpAnswer | undefined => {
      const parser = new AnswerParser(isConnect ? "CONNECT" : "POST");
      let answer: HttpAnswer | undefined;
      holds(() => {
        for (const piece of pieces) answer ??= parser.push(piece);
        answer ??= parser.end();
      });
      return answer;
    };
    must(isDeepStrictEqual(read(cutUp(input, cuts)), read([input])), "pieces are read otherwise");
  });

  fuzz("as frames, whole and in pieces", [bytes, sizes], (input, cuts) => {
    const read = (pieces: readonly Buffer[]): readonly string[] => {
      const reader = new FrameReader();
      const frames: string[] = [];
      const take = ({ type, payload }: Frame): void => {
        frames.push(`${type} ${payload.toString("hex")}`);
      };
      holds(() => {
        for (const piece of pieces) reader.push(piece, take);
      });
      return frames;
    };
    must(isDeepStrictEqual(read(cutUp(input, cuts)), read([input])), "pieces are read otherwise");
  });

  const header = fc.tuple(
    fc.constantFrom(
      "x-cstp-address",
      "x-cstp-address-ip6",
      "x-cstp-dns",
      "x-cstp-mtu",
      "x-cstp-split-include",
      "set-cookie",
    ),
    fc.oneof(
      fc.constantFrom(
        "10.0.0.1",
        "fd00::1/64",
        "10.0.0.0/255.0.0.0",
        "fd00::/200",
        "1/1/1",
        "webvpn=a; x",
        "0",
        "65536",
      ),
      fc.string({ maxLength: 40 }),
    ),
  );
  fuzz("as headers of a tunnel and as cookies", [fc.array(header, { maxLength: 12 })], (headers) => {
    const offer = parseOffer({ headers });
    if (offer !== undefined) {
      must(offer.addresses.length > 0 && offer.mtuBytes >= 68, "an offer of nothing");
    }
    const jar = new CookieJar();
    jar.take({ headers });
    must(/^[\x20-\x7e]*$/.test(jar.text()), "cookies that break a header");
  });

  const answer = fc.record({
    status: fc.constantFrom(200, 200, 200, 200, 302, 401, 404, 503),
    phrase: fc.constantFrom("", "OK"),
    headers: fc.array(
      fc.oneof(header, fc.tuple(fc.constant("location"), fc.oneof(fc.webUrl(), fc.string({ maxLength: 30 })))),
      { maxLength: 3 },
    ),
    body: fc.oneof(
      {
        weight: 3,
        arbitrary: fc.constantFrom(...Object.values(ASA), RECORDED.username, RECORDED.groups, RECORDED.password),
      },
      { weight: 1, arbitrary: bytes.map((input) => input.toString("utf8")) },
    ),
    isLast: fc.boolean(),
  });
  fuzz(
    "as a server: a login ends, gives its password once, and never leaves a request open to injection",
    [fc.array(answer, { maxLength: 20 }), fc.option(fc.constantFrom("staff", "users", "<&"))],
    (answers, group) => {
      const talk = logIn({
        authority: "vpn.test:8443",
        target: "/?secret",
        username: "a",
        password: "PASS&WORD",
        group,
      });
      let given = 0;
      holds(() => {
        let step = talk.next();
        for (const next of answers) {
          if (step.done) return;
          const [head = ""] = encodeRequest(step.value).toString("latin1").split("\r\n\r\n");
          must(/^[\x20-\x7e]+(\r\n[\x20-\x7e]+)*$/.test(head), "a request open to injection");
          if (step.value.body.includes(escapeXml("PASS&WORD"))) given++;
          step = talk.next(next);
        }
      });
      must(given <= 1, "the password was given twice");
    },
    FEWER,
  );
});
