import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { property } from "../../testkit/property.ts";
import { sampleMessage } from "./channels/sample.ts";
import { faultOf, worded } from "./rule-words.ts";

const MESSAGE = sampleMessage("opened", {
  ...{ baseUrl: "https://sonde.test-site.org", channel: "Phone", nowIso: "2026-11-24T08:00:00.000Z", key: "1" },
});

describe("words of a rule", () => {
  it("take the place of ours, a line each", () => {
    const template = { title: "{{ status }}: {{ name }}\n\u202e!", summary: null };
    const { message, fault } = worded(MESSAGE, template);
    expect(fault).toBeNull();
    expect(message.title).toMatch(/^🔴 Down: .+ !$/);
    expect(message).toEqual({ ...MESSAGE, title: message.title });
    expect(worded(MESSAGE, null)).toEqual({ message: MESSAGE, fault: null });
  });

  it("are ours where a template makes nothing, or cannot be rendered", () => {
    expect(worded(MESSAGE, { title: "{{ nothing }}", summary: " " }).message).toEqual(MESSAGE);
    const endless = "{% for a in (1..1000) %}{% for b in (1..1000) %}x{% endfor %}{% endfor %}";
    const { message, fault } = worded(MESSAGE, { title: endless, summary: null });
    expect(message).toEqual(MESSAGE);
    expect(fault).toMatch(/exceeded/);
  });

  it("are refused where they are no template", () => {
    expect(faultOf("{{ name }} is {{ status")).toMatch(/not closed/);
    expect(faultOf("{% include 'x' %}")).not.toBeNull();
    expect(faultOf("{{ name }}")).toBeNull();
  });

  property([fc.string({ maxLength: 80 })], { numRuns: 50 })("make a line of whatever is written", (text) => {
    const { message } = worded(MESSAGE, { title: text, summary: text });
    expect(message.title).not.toMatch(/[\p{Cc}\p{Cf}]/u);
    expect(message.title.length).toBeGreaterThan(0);
  });
});
