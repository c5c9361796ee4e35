import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { must } from "../../../testkit/must.ts";
import { property } from "../../../testkit/property.ts";
import { AnswerFormatError } from "../answer.ts";
import { fuzz } from "../fuzz.suite.ts";
import { offers, readReply } from "./reply.ts";

const bytesOf = (text: string): Buffer => Buffer.from(text, "utf8");
const text = fc.string({ unit: fc.constantFrom(..."abcXYZ 019-é["), maxLength: 60 });

describe("an SMTP reply", () => {
  it.each([
    ["220 mail.example ready\r\n", 220, ["mail.example ready"]],
    ["250-a\r\n250-STARTTLS\r\n250 HELP\r\n", 250, ["a", "STARTTLS", "HELP"]],
    ["250\r\n", 250, [""]],
    ["220 without a return\n", 220, ["without a return"]],
    ["554 5.7.1 \xff\r\n", 554, ["5.7.1 ÿ"]],
  ])("%j", (sent, code, lines) => {
    expect(readReply(bytesOf(sent))).toEqual({ answer: { code, lines }, bytes: bytesOf(sent).length });
  });

  it("leaves what follows it", () => {
    expect(readReply(bytesOf("220 go\r\n250 injected\r\n"))?.bytes).toBe(8);
  });

  it.each(["", "2", "22", "220", "220-", "220 rea", "220-a\r\n", "220-a\r\n2"])("is not whole: %j", (sent) => {
    expect(readReply(bytesOf(sent))).toBeUndefined();
  });

  it.each([
    "SSH-2.0-x",
    "HTTP/1.1 400\r\n",
    "120 too early\r\n",
    "2200 long\r\n",
    "250-a\r\n251 b\r\n",
    "\r\n",
    `250 ${"a".repeat(2_050)}`,
    `250-${"a".repeat(2_000)}\r\n`.repeat(9),
  ])("is refused: %.30j", (sent) => {
    expect(() => readReply(bytesOf(sent))).toThrow(AnswerFormatError);
  });

  it("names its extensions in any case", () => {
    const answer = { code: 250, lines: ["STARTTLS.example greets", "size 1000", "StartTLS", "AUTH PLAIN"] };
    expect(offers(answer, "STARTTLS")).toBe(true);
    expect(offers(answer, "SIZE")).toBe(true);
    expect(offers({ code: 250, lines: ["STARTTLS", "XSTARTTLS"] }, "STARTTLS")).toBe(false);
  });

  property([fc.integer({ min: 200, max: 599 }), fc.array(text, { minLength: 1, maxLength: 12 }), fc.nat()])(
    "reads what servers write, in any pieces",
    (code, lines, cut) => {
      const sent = bytesOf(lines.map((line, at) => `${code}${at < lines.length - 1 ? "-" : " "}${line}\r\n`).join(""));
      expect(readReply(sent)).toEqual({ answer: { code, lines }, bytes: sent.length });
      expect(readReply(sent.subarray(0, cut % sent.length))).toBeUndefined();
    },
  );

  const near = fc.array(fc.constantFrom("2", "5", "0", "-", " ", "\r", "\n", "a", "é", "250-a\r\n", "250 b\r\n"), {
    maxLength: 40,
  });
  fuzz(
    "any bytes: a reply, none yet, or the documented error",
    [
      fc.oneof(
        fc.uint8Array({ maxLength: 80 }),
        near.map((parts) => bytesOf(parts.join(""))),
      ),
    ],
    (bytes) => {
      try {
        const whole = readReply(bytes);
        if (whole === undefined) return;
        must(whole.bytes > 0 && whole.bytes <= bytes.length, "it takes bytes that came");
        must(whole.answer.code >= 200 && whole.answer.code <= 599, "its code is one");
      } catch (error) {
        must(error instanceof AnswerFormatError, String(error));
      }
    },
  );
});
