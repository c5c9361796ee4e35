import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { must } from "../../../testkit/must.ts";
import { property } from "../../../testkit/property.ts";
import { AnswerFormatError } from "../answer.ts";
import { fuzz } from "../fuzz.suite.ts";
import { STARTTLS_PROTOCOLS, type StarttlsProtocol, turnsOf } from "./turns.ts";

const bytesOf = (text: string): Buffer => Buffer.from(text, "utf8");
const OWN_NAME = "[192.0.2.1]";

function read(protocol: StarttlsProtocol, at: number, sent: string) {
  return turnsOf(protocol, OWN_NAME)[at]?.read(bytesOf(sent));
}

describe("an agreement on TLS", () => {
  it.each([
    ["smtp", ["", "EHLO [192.0.2.1]\r\n", "STARTTLS\r\n"]],
    ["imap", ["", "a1 STARTTLS\r\n"]],
    ["pop3", ["", "STLS\r\n"]],
    ["ftp", ["", "AUTH TLS\r\n"]],
    ["postgres", [Uint8Array.of(0, 0, 0, 8, 0x04, 0xd2, 0x16, 0x2f)]],
  ] as const)("of %s is asked for with %j", (protocol, commands) => {
    expect(turnsOf(protocol, OWN_NAME).map(({ command }) => command)).toEqual(commands);
  });

  it.each<[StarttlsProtocol, number, string, boolean, string]>([
    ["smtp", 0, "220-mail.dev\r\n220 ready\r\n", true, "220 mail.dev ready"],
    ["smtp", 0, "554 no\r\n", false, "554 no"],
    ["smtp", 1, "250-mail.dev\r\n250 STARTTLS\r\n", true, "250 mail.dev STARTTLS"],
    ["smtp", 1, "250 mail.dev\r\n", false, "250 mail.dev"],
    ["smtp", 2, "454 not now\r\n", false, "454 not now"],
    ["imap", 0, "* OK [CAPABILITY IMAP4rev1 STARTTLS] ready\r\n", true, "* OK [CAPABILITY IMAP4rev1 STARTTLS] ready"],
    ["imap", 0, "* PREAUTH you are in\r\n", false, "* PREAUTH you are in"],
    ["imap", 0, "* BYE full\r\n", false, "* BYE full"],
    ["imap", 1, "* CAPABILITY IMAP4rev1\r\na1 ok begin\r\n", true, "a1 ok begin"],
    ["imap", 1, "a1 NO later\n", false, "a1 NO later"],
    ["imap", 1, "a1 BAD what\r\n", false, "a1 BAD what"],
    ["pop3", 0, "+OK ready <1@mail.dev>\r\n", true, "+OK ready <1@mail.dev>"],
    ["pop3", 1, "-ERR no\r\n", false, "-ERR no"],
    ["ftp", 0, "220-Welcome\r\n  free text\r\n220x\r\n\r\n230 of another\r\n220 ready\r\n", true, ""],
    ["ftp", 0, "120 in 5 minutes\r\n220 ready\r\n", true, "120 in 5 minutes 220 ready"],
    ["ftp", 0, "421 full\r\n", false, "421 full"],
    ["ftp", 1, "234 go\r\n", true, "234 go"],
    ["ftp", 1, "234\r\n", true, "234"],
    ["ftp", 1, "502 what\r\n", false, "502 what"],
    ["postgres", 0, "S", true, "S"],
    ["postgres", 0, "N", false, "N: it offers no TLS"],
    ["postgres", 0, "E", false, "E: it does not know the request"],
  ])("of %s, turn %d: %j", (protocol, at, sent, agrees, words) => {
    const whole = read(protocol, at, `${sent}more`);
    expect(whole).toEqual({ answer: { agrees, words: words === "" ? expect.any(String) : words }, bytes: sent.length });
    for (let cut = 0; cut < sent.length; cut++) {
      const part = read(protocol, at, sent.slice(0, cut));
      if (part !== undefined) expect([cut, part]).toEqual([cut, undefined]);
    }
  });

  it.each<[StarttlsProtocol, number, string]>([
    ["smtp", 0, "SSH-"],
    ["imap", 0, "220"],
    ["imap", 1, "a2 OK\r\n"],
    ["imap", 1, "b"],
    ["pop3", 0, "* OK"],
    ["pop3", 1, "+K\r\n"],
    ["ftp", 0, "SSH-2"],
    ["ftp", 0, "22\r\n"],
    ["ftp", 0, "\r\n"],
    ["postgres", 0, "H"],
  ])("of %s, turn %d is not %j", (protocol, at, sent) => {
    expect(() => read(protocol, at, sent)).toThrow(AnswerFormatError);
  });

  it.each(["imap", "pop3", "ftp"] as const)("of %s has bounds on its line and its answer", (protocol) => {
    const start = { imap: "* ", pop3: "+OK", ftp: "220-" }[protocol];
    expect(() => read(protocol, 0, start + "a".repeat(2_048))).toThrow("a line of more than 2048 bytes");
    const notice = { imap: "* a\r\n", pop3: "", ftp: "220-a\r\n" }[protocol];
    if (notice === "") return;
    expect(() => read(protocol, 1, notice.repeat(8_000))).toThrow("an answer of more than 16384 bytes");
  });
});

const text = fc.string({ unit: fc.constantFrom(..."abcOK 019-*+é["), maxLength: 40 });
const PIECES = [
  "220",
  "234",
  "250",
  "-",
  " ",
  "\r",
  "\n",
  "* ",
  "OK",
  "a1 ",
  "+OK",
  "-ERR",
  "S",
  "N",
  "é",
  "250 STARTTLS\r\n",
];

describe.each(STARTTLS_PROTOCOLS)("what a server of %s says", (protocol) => {
  const turns = turnsOf(protocol, OWN_NAME);

  property([fc.nat(turns.length - 1), fc.boolean(), text, fc.nat(), fc.uint8Array({ maxLength: 9 })])(
    "is read whole, in any pieces, and no byte behind it",
    (at, agrees, words, cut, more) => {
      const sent = answerOf(protocol, at, agrees, words);
      const turn = turns[at];
      expect(turn?.read(Buffer.concat([sent, more]))).toMatchObject({ answer: { agrees }, bytes: sent.length });
      expect(turn?.read(sent.subarray(0, cut % sent.length))).toBeUndefined();
    },
  );

  fuzz(
    "is an answer, none yet, or the documented error",
    [
      fc.nat(turns.length - 1),
      fc.oneof(
        fc.uint8Array({ maxLength: 60 }),
        fc.array(fc.constantFrom(...PIECES), { maxLength: 24 }).map((parts) => bytesOf(parts.join(""))),
      ),
    ],
    (at, bytes) => {
      try {
        const whole = turns[at]?.read(bytes);
        if (whole !== undefined) must(whole.bytes > 0 && whole.bytes <= bytes.length, "it takes bytes that came");
      } catch (error) {
        must(error instanceof AnswerFormatError, String(error));
      }
    },
    10_000,
  );
});

/** What a server of the protocol may say in this turn. */
function answerOf(protocol: StarttlsProtocol, at: number, agrees: boolean, words: string): Buffer {
  const line = {
    smtp: [at === 1 ? "250-a\r\n250-STARTTLS\r\n250" : "220", "454"],
    imap: [at === 0 ? "* OK" : "* notice\r\na1 OK", at === 0 ? "* BYE" : "a1 NO"],
    pop3: ["+OK", "-ERR"],
    ftp: [at === 0 ? "220-a\r\n b\r\n220" : "234", "502"],
    postgres: ["S", "N"],
  }[protocol][agrees ? 0 : 1];
  if (protocol === "postgres") return bytesOf(line ?? "");

  return bytesOf(`${line} ${words}\r\n`);
}
