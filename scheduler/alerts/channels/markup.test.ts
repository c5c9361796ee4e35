/** Properties of every kind's escaping: whatever a name is, it ends and begins nothing of its text's markup. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { assertProperty } from "../../../testkit/property.ts";
import { jsonOf, memberOf, refused, retryAfterMs, textOf, waitOf } from "./answers.ts";
import { discordText } from "./discord.ts";
import { cardText, chatText } from "./google-chat.ts";
import { dedupKey } from "./pagerduty.ts";
import { htmlFault } from "./services.suite.ts";
import { chatMarkdown, slackText } from "./slack.ts";
import { telegramHtml } from "./telegram.ts";
import { cut, fitting, htmlText, tidy, tidyMessage } from "./tidy.ts";

const RUNS = { numRuns: 150 };
/** Full of what markups are made of. */
const text = fc
  .array(
    fc.oneof(
      fc.constantFrom(
        ..."<>&\"'*_~`|[](){}#+-.!@:;\\/ \n".split(""),
        "</b>",
        "<!channel>",
        "@everyone",
        "&lt;",
        "\u202e",
        "😀",
      ),
      fc.string({ unit: "grapheme", maxLength: 6 }),
      fc.string({ unit: "binary", maxLength: 6 }),
    ),
    { maxLength: 40 },
  )
  .map((pieces) => pieces.join(""));

function decoded(html: string): string {
  const names: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', "#39": "'" };
  return html.replace(/&(amp|lt|gt|quot|#39);/g, (_all, name: string) => names[name] ?? "");
}

describe("a name", () => {
  it.each([
    ["Telegram", telegramHtml],
    ["Google Chat's cards", cardText],
    ["Matrix and mail", htmlText],
    ["Slack", slackText],
  ])("is text in the HTML of %s, and reads as it was written", (_service, written) => {
    assertProperty(
      fc.property(text, (name) => {
        const escaped = written(name);
        expect(htmlFault(`<b>${escaped}</b>`, ["b"])).toBeNull();
        expect(decoded(escaped)).toBe(name);
      }),
      RUNS,
    );
  });

  it.each([
    ["Telegram", telegramHtml],
    ["Matrix and mail", htmlText],
  ])("does not end an attribute of %s", (_service, written) => {
    assertProperty(
      fc.property(text, (name) => {
        expect(written(name)).not.toMatch(/["<>]/);
      }),
      RUNS,
    );
  });

  it.each([
    ["Discord", discordText, /[*_~`|>#[\]()-]/],
    ["Mattermost", chatMarkdown, /[*_~`|<>#[\](){}!+-]/],
  ])("has no mark of Markdown in %s that a backslash does not stand before", (_service, written, marks) => {
    assertProperty(
      fc.property(text, (name) => {
        const rest = written(name).replace(/\\[\s\S]/g, "");
        expect(rest).not.toMatch(marks);
        // What has no escape is followed by an invisible break: nothing is called.
        expect(rest).not.toMatch(/@[\w]/);
        expect(rest).not.toMatch(/<[@#:a-z!]/i);
        expect(
          written(name)
            .replaceAll("\u200b", "")
            .replace(/\\([\s\S])/g, "$1"),
        ).toBe(name.replaceAll("\u200b", ""));
      }),
      RUNS,
    );
  });

  it("calls no person in a plain text of Google Chat", () => {
    assertProperty(
      fc.property(text, (name) => {
        const plain = chatText(name);
        expect(plain).not.toMatch(/[<>]/);
        expect(plain).not.toMatch(/[*_~`](?!\u200b)/);
      }),
      RUNS,
    );
  });
});

describe("tidy texts", () => {
  it("are one line within their bound, without characters that hide", () => {
    assertProperty(
      fc.property(text, fc.integer({ min: 1, max: 80 }), (name, most) => {
        const line = tidy(name, most);
        expect(line.length).toBeLessThanOrEqual(most);
        expect(line).not.toMatch(/\p{Cc}|[\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]|\p{Surrogate}/u);
        expect(tidy(line, most)).toBe(line);
      }),
      RUNS,
    );
  });

  it("are cut between characters", () => {
    assertProperty(
      fc.property(fc.string({ unit: "grapheme", maxLength: 40 }), fc.integer({ min: 4, max: 60 }), (name, most) => {
        const whole = tidy(name, 10_000);
        const short = cut(whole, most);
        expect(short).not.toMatch(/\p{Surrogate}|\ufffd/u);
        expect(whole.startsWith(short.replace(/…$/, ""))).toBe(true);
        expect(short.length).toBeLessThanOrEqual(most);
      }),
      RUNS,
    );
  });

  it("fit as whole lines", () => {
    assertProperty(
      fc.property(fc.array(fc.string({ maxLength: 20 })), fc.integer({ min: 1, max: 100 }), (lines, most) => {
        const kept = fitting(lines, most);
        expect(kept.length).toBeLessThanOrEqual(most);
        const isWhole = kept === lines.join("\n") || kept === "…" || kept.endsWith("\n…");
        expect(isWhole).toBe(true);
      }),
      RUNS,
    );
  });

  it("keep only addresses that a reader can open", () => {
    const of = (link: string) => {
      const empty = {
        reason: "test",
        severity: "info",
        title: "",
        summary: "",
        facts: [],
        items: [],
        more: 0,
      } as const;
      return tidyMessage({ ...empty, link, acknowledge: link, groupKey: "", at: "" });
    };
    expect(of("https://a.test-site.org/x?y=%20#z").link).toBe("https://a.test-site.org/x?y=%20#z");
    for (const bad of ["javascript:alert(1)", "https://", "ftp://x", `https://a/${"x".repeat(3_000)}`, ""]) {
      expect([of(bad).link, of(bad).acknowledge]).toEqual(["", null]);
    }
    expect(of('https://a.test-site.org/"><script>').link).not.toMatch(/["<>]/);
  });
});

describe("answers", () => {
  it("of any bytes end in an outcome of one line", () => {
    const header = fc.dictionary(fc.constantFrom("retry-after", "date", "x"), fc.string({ maxLength: 20 }));
    assertProperty(
      fc.property(fc.integer({ min: 100, max: 599 }), header, fc.oneof(text, fc.json()), (status, headers, body) => {
        const answer = { status, headers, text: body };
        const outcome = refused(answer);
        if (outcome.delivered) throw new Error("delivered");
        expect(outcome.error.length).toBeLessThanOrEqual(320);
        expect(outcome.error).not.toMatch(/[\r\n]/);
        expect(outcome.retryAfterMs === null || outcome.retryAfterMs >= 0).toBe(true);
        expect(typeof jsonOf(answer)).toBe("object");
        textOf(memberOf(memberOf(jsonOf(answer), "error"), "message"));
      }),
      RUNS,
    );
  });

  it("say when to come again in seconds or by a date", () => {
    const at = (retry: string, date?: string) =>
      retryAfterMs({ status: 429, headers: { "retry-after": retry, ...(date !== undefined && { date }) }, text: "" });
    expect(at("120")).toBe(120_000);
    expect(at("Thu, 26 Nov 2026 03:01:00 GMT", "Thu, 26 Nov 2026 03:00:00 GMT")).toBe(60_000);
    expect([at("soon"), at("-5"), at("Thu, 26 Nov 2026 03:01:00 GMT"), at("")]).toEqual([null, null, null, null]);
    expect([waitOf(1.5, 1_000), waitOf("1", 1_000), waitOf(-1, 1), waitOf(Number.NaN, 1)]).toEqual([
      1_500,
      null,
      null,
      null,
    ]);
    const long = refused({ status: 429, headers: { "retry-after": "999999999" }, text: "" });
    expect(long).toMatchObject({ retryAfterMs: 24 * 3_600_000 });
  });
});

it("keys of PagerDuty are within its bound, and differ where problems do", () => {
  assertProperty(
    fc.property(text, text, (one, other) => {
      const keys = [dedupKey(one), dedupKey(other)];
      expect(keys.every((key) => key.length > 0 && key.length <= 255)).toBe(true);
      expect(keys[0] === keys[1]).toBe(one === other);
    }),
    RUNS,
  );
  expect(dedupKey("x".repeat(300))).toHaveLength(64);
});
