import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { CHANNEL_KINDS, channelKind } from "./index.ts";
import { jsonSchemaOf, readSettings, secretFields, secretTexts } from "./settings.ts";

function kindOf(name: string) {
  const kind = channelKind(name);
  if (kind === undefined) throw new Error(name);
  return kind;
}
const custom = kindOf("custom");
const ntfy = kindOf("ntfy");
const CUSTOM = { url: "https://hooks.test-site.org/", body: "{{ secret.a }}" };

describe("settings", () => {
  it("are told apart into what is shown and what is sealed", () => {
    const read = readSettings(custom, { ...CUSTOM, secrets: { a: "one", b: "two" } }, null);
    expect(read).toMatchObject({ fault: null, secrets: { secrets: { a: "one", b: "two" } } });
    expect(read).toMatchObject({ secretNames: ["secrets.a", "secrets.b"], settings: CUSTOM });
    expect("secrets" in (read as { settings: object }).settings).toBe(false);
  });

  it("keep secrets that are not sent, take away those that are null, one by one", () => {
    const first = readSettings(custom, { ...CUSTOM, secrets: { a: "one", b: "two" } }, null);
    if (first.fault !== null) throw new Error(first.fault);
    const kept = readSettings(custom, CUSTOM, first);
    expect(kept).toMatchObject({ secrets: { secrets: { a: "one", b: "two" } } });
    const changed = readSettings(custom, { ...CUSTOM, secrets: { a: null, c: "three" } }, first);
    expect(changed).toMatchObject({ secrets: { secrets: { b: "two", c: "three" } } });
    const none = readSettings(custom, { ...CUSTOM, secrets: null }, first);
    expect(none).toMatchObject({ fault: null, secretNames: [] });
  });

  it("send no secret to a place that it was not given for", () => {
    const before = { settings: { ...CUSTOM, method: "POST", headers: {} }, secrets: { secrets: { a: "one" } } };
    const elsewhere = { ...CUSTOM, url: "https://evil.test-site.org/" };
    expect(readSettings(custom, elsewhere, before).fault).toBe(
      "url: secrets.a was given for another url: send it again.",
    );
    expect(readSettings(custom, { ...elsewhere, secrets: { a: "two" } }, before).fault).toBeNull();
    expect(readSettings(custom, { ...elsewhere, secrets: null }, before).fault).toBeNull();
    const { settings } = readSettings(ntfy, { topic: "a", token: "tk_a" }, null) as {
      settings: Record<string, unknown>;
    };
    const moved = readSettings(
      ntfy,
      { topic: "a", server: "https://b.test-site.org" },
      { settings, secrets: { token: "tk_a" } },
    );
    expect(moved.fault).toBe("server: token was given for another server: send it again.");
  });

  it("say of a value of another type what it must be, and of none that it is needed", () => {
    const faultOf = (to: unknown) => readSettings(kindOf("email"), to === undefined ? {} : { to }, null).fault;
    expect(faultOf(undefined)).toBe("to: is needed.");
    expect(faultOf("ops@test-site.org")).toBe("to: must be a list of mail addresses.");
  });

  it.each([
    ["gotify", "server", { token: "A1" }],
    ["apprise", "server", { key: "a" }],
    ["matrix", "homeserver", { room: "!a:test-site.org", access_token: "t" }],
  ])("of %s take no address to which no path can be added", (kind, field, others) => {
    const read = (text: string) => readSettings(kindOf(kind), { ...others, [field]: text }, null);
    expect(read("https://push.test-site.org/below/")).toMatchObject({
      settings: { [field]: "https://push.test-site.org/below" },
    });
    for (const end of ["?a=b", "#b"])
      expect(read(`https://push.test-site.org/${end}`).fault).toBe(`${field}: must be an address without ? and #.`);
  });

  it("are read the same a second time", () => {
    for (const text of ["https://a.test-site.org///", "https://a.test-site.org"]) {
      const read = readSettings(ntfy, { topic: "a", server: text }, null);
      if (read.fault !== null) throw new Error(read.fault);
      expect(read.settings.server).toBe("https://a.test-site.org");
      expect(readSettings(ntfy, read.settings, null)).toEqual(read);
    }
  });

  it("of any shape end in a record or a fault of one line", () => {
    const value = fc.oneof(fc.jsonValue(), fc.constantFrom("https://a.test-site.org", "{{", "x", null));
    fc.assert(
      fc.property(fc.constantFrom(...CHANNEL_KINDS), fc.array(value, { maxLength: 8 }), (kind, values) => {
        const names = Object.keys(kind.schema.shape);
        const sent = Object.fromEntries(values.map((one, index) => [names[index % names.length] ?? "x", one]));
        const read = readSettings(kind, sent, null);
        if (read.fault !== null) expect(read.fault).toMatch(/^[^\r\n]{1,600}$/);
        else expect(Object.keys(read.settings).some((name) => secretFields(kind).includes(name))).toBe(false);
      }),
      { numRuns: 200 },
    );
  });

  it("are described for clients, each field with words", () => {
    for (const kind of CHANNEL_KINDS) {
      const { properties } = jsonSchemaOf(kind) as { properties: Record<string, { description?: string }> };
      expect(Object.keys(properties)).toEqual(Object.keys(kind.schema.shape));
      for (const [name, { description = "" }] of Object.entries(properties)) {
        expect([kind.kind, name, description.length > 2]).toEqual([kind.kind, name, true]);
      }
    }
    expect(secretTexts(custom, { secrets: { a: "one", b: "longer" } })).toEqual(["longer", "one"]);
  });
});
