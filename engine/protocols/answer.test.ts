import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { property } from "../../testkit/property.ts";
import { AnswerFormatError, readLines } from "./answer.ts";

const bytesOf = (text: string): Buffer => Buffer.from(text, "utf8");
const text = fc.string({ unit: fc.constantFrom(..."abcOK 019-*+é["), maxLength: 40 });

describe("lines", () => {
  property([fc.array(text, { minLength: 1, maxLength: 9 }), fc.boolean()])(
    "end with LF or CRLF, and the last is for its reader to know",
    (lines, hasReturn) => {
      const sent = bytesOf(lines.map((line) => `${line}${hasReturn ? "\r" : ""}\n`).join(""));
      const seen: string[] = [];
      const whole = readLines(sent, (line, isWhole) => {
        if (isWhole) seen.push(line);
        return seen.length === lines.length ? line : undefined;
      });
      expect([seen, whole?.bytes]).toEqual([lines, sent.length]);
    },
  );

  it.each(["a".repeat(2_049), `${"a".repeat(2_000)}\r\n`.repeat(9)])("are bounded, each and together", (sent) => {
    expect(() => readLines(bytesOf(sent), () => undefined)).toThrow(AnswerFormatError);
  });
});
