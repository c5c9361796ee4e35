import fc from "fast-check";
import { describe, expect, it, vi } from "vitest";
import type { Message } from "../../model/alert-message.ts";
import { MOST_RENDERED, MOST_TEMPLATE, parseTemplate, Rendering, TemplateError, templateContext } from "./template.ts";

function renderTemplate(text: string, context: Readonly<Record<string, unknown>>): string {
  return new Rendering(context).render(text);
}

const MESSAGE: Message = {
  reason: "opened",
  severity: "critical",
  title: 'Berlin "3" is down',
  summary: "timed out",
  facts: [["why", "timed out"]],
  items: [
    { id: "srv_3", name: "Berlin 3", state: "down", why: "timed out", since: "", url: "https://x.test-site.org/" },
  ],
  more: 0,
  link: "https://x.test-site.org/",
  acknowledge: null,
  groupKey: "g",
  at: "2026-11-26T03:00:00.000Z",
};
const CONTEXT = templateContext(MESSAGE);
const LIST = { list: Array.from({ length: 20 }, (_, index) => ({ name: `n${index}` })) };

describe("a template", () => {
  it("knows the message, and what Uptime Kuma's templates know", () => {
    const body = '{"text": {{ message.title | json }}, "n": "{{ monitor.name }}", "s": {{ heartbeatJSON.status }}}';
    expect(JSON.parse(renderTemplate(body, CONTEXT))).toEqual({ text: MESSAGE.title, n: "Berlin 3", s: 0 });
    expect(renderTemplate("{{ name }} {{ status }}: {{ msg }}{{ hostnameOrURL }}", CONTEXT)).toBe(
      'Berlin 3 🔴 Down: Berlin "3" is down\ntimed out\nwhy: timed out\n• Berlin 3: down, timed out',
    );
    const loop =
      "{% for item in message.items %}{{ item.name | upcase }}{% endfor %}{% if monitorJSON.name contains 'Berlin' %}!{% endif %}";
    expect(renderTemplate(loop, CONTEXT)).toBe("BERLIN 3!");
    expect(renderTemplate("{% capture a %}{{ name }}{% endcapture %}{{ a | append: '?' }}", CONTEXT)).toBe("Berlin 3?");
  });

  it("reaches nothing but its context: no file, no prototype, no other filter", () => {
    expect(
      renderTemplate("{{ message.constructor }}{{ __proto__ }}{{ message.items.constructor.name }}", CONTEXT),
    ).toBe("");
    for (const bad of [
      "{% include '/etc/passwd' %}",
      "{% render 'x' %}",
      "{% layout 'x' %}",
      "{{ a | strip_html }}",
      "{{ a | where_exp: 'x', 'y' }}",
    ]) {
      expect(() => renderTemplate(bad, CONTEXT)).toThrow(TemplateError);
    }
  });

  it.each([
    ["too long", "x".repeat(MOST_TEMPLATE + 1)],
    ["a long range", "{% for a in (1..99999999) %}x{% endfor %}"],
    ["loops within loops", `${"{% for a in list %}".repeat(200)}x${"{% endfor %}".repeat(200)}`],
    ["loops with much text", "{% for a in list %}".repeat(4) + "y".repeat(7_000) + "{% endfor %}".repeat(4)],
    ["a text that doubles", `{% assign a = 'aaaaaaaa' %}${"{% assign a = a | append: a %}".repeat(60)}`],
    [
      "a capture that doubles",
      `{% capture a %}aaaaaaaa{% endcapture %}${"{% capture a %}{{a}}{{a}}{% endcapture %}".repeat(60)}`,
    ],
    [
      "a captured loop",
      `{% capture a %}${"{% for b in list %}".repeat(3)}${"y".repeat(7_000)}${"{% endfor %}".repeat(3)}{% endcapture %}`,
    ],
    ["a wide date", "{{ 'now' | date: '%99999999d' }}"],
    [
      "searches that find nothing",
      `{% assign a = 'aaaaaaaa' %}${"{% assign a = a | append: a %}".repeat(11)}{% assign b = a | slice: 0, 8000 | append: 'b' %}` +
        `{% if a contains b${" or a contains b".repeat(400)} %}x{% endif %}`,
    ],
    [
      "replacements that find nothing",
      `{% assign a = 'aaaaaaaa' %}${"{% assign a = a | append: a %}".repeat(11)}{% assign b = a | slice: 0, 8000 | append: 'b' %}${"{{ a | replace: b, 'c' }}".repeat(90)}`,
    ],
  ])("that is hostile ends: %s", (_name, template) => {
    expect(() => renderTemplate(template, LIST)).toThrow(TemplateError);
  });

  it.each([
    ["a long condition", `{% if ${"a == 1 or ".repeat(700)}a %}{% endif %}`],
    ["many arguments", `{{ a | date: ${"a,".repeat(3_800)}a }}`],
    ["a long path", `{{ a${".b".repeat(3_900)} }}`],
    ["many branches", `{% if b %}${"{% elsif b or b %}".repeat(400)}{% endif %}`],
    ["many cases", `{% case a %}${"{% when 0,0,0,0,0 %}".repeat(350)}{% endcase %}`],
    ["branches of one tag", `{% liquid\n if b\n${" elsif b or b or b\n".repeat(350)} endif %}`],
  ])("takes as many steps as its tags are long: %s", (_name, tag) => {
    // On a busy machine the limit of time may come first; here it never does.
    const clock = vi.spyOn(performance, "now").mockReturnValue(1);
    expect(renderTemplate(tag, LIST)).toBe("");
    const again = `{% for one in (1..20) %}${tag}{% endfor %}`;
    expect(() => renderTemplate(again, LIST)).toThrow("render limit exceeded");
    clock.mockRestore();
  });

  it("of as many items as a message has, with fifty tags each, is taken", () => {
    const template = `{% for one in list %}${"{{ one | append: '-' }}".repeat(50)}{% endfor %}`;
    const list = Array.from({ length: 20 }, (_, n) => `item ${n}`);
    expect(renderTemplate(template, { list })).toContain("item 19-");
  });

  it.each([
    ["opened braces", "{{".repeat(4_000)],
    ["opened tags", "{%".repeat(4_000)],
    ["opened ifs", "{% if a %}".repeat(800)],
    ["opened brackets", `{{ ${"a[".repeat(4_000)}`],
    ["opened quotes", "{{ '".repeat(2_000)],
    ["blanks", `{{-${" ".repeat(8_000)}-}}`],
  ])("that cannot be read says so in one line: %s", (_name, template) => {
    expect(() => parseTemplate(template)).toThrow(/^[^\n]{1,300}$/);
  });

  it("of any text renders within its bound or says why not", () => {
    const piece = fc.oneof(
      fc.constantFrom(
        "{{",
        "}}",
        "{%",
        "%}",
        "name",
        " | ",
        "append: ",
        "for a in list",
        "endfor",
        "if ",
        "endif",
        "'",
        '"',
        "(1..9)",
        "capture a",
        "endcapture",
        "-",
      ),
      fc.string({ maxLength: 8 }),
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 40 }), (pieces) => {
        try {
          expect(renderTemplate(pieces.join(""), { ...CONTEXT, ...LIST }).length).toBeLessThanOrEqual(MOST_RENDERED);
        } catch (error) {
          expect(error).toBeInstanceOf(TemplateError);
        }
      }),
      { numRuns: 200 },
    );
  });
});
