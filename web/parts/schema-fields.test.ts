import fc from "fast-check";
import { expect, it } from "vitest";
import { property } from "../../testkit/property.ts";
import { fieldsOf, settingsOf, writtenOf } from "./schema-fields.ts";

const SCHEMA = {
  type: "object",
  required: ["topic", "token"],
  properties: {
    server: { type: "string", default: "https://ntfy.sh", description: "Address of the server" },
    topic: { type: "string", description: "Topic" },
    priority: { type: "integer", default: 3 },
    silent: { type: "boolean", default: false },
    flavour: { type: "string", enum: ["slack", "mattermost"], default: "slack" },
    thread_id: { anyOf: [{ type: "integer" }, { type: "null" }], default: null },
    to: { type: "array", items: { type: "string" } },
    template: { type: "string", maxLength: 20_000 },
    headers: { type: "object", additionalProperties: { type: "string" } },
    token: { type: "string", "x-secret": true },
  },
};
const FIELDS = fieldsOf(SCHEMA);

it("reads the fields of a schema", () => {
  expect(FIELDS.map(({ name, type }) => `${name} ${type}`)).toEqual([
    "server text",
    "topic text",
    "priority number",
    "silent flag",
    "flavour choice",
    "thread_id number",
    "to list",
    "template area",
    "headers pairs",
    "token text",
  ]);
  expect(FIELDS.filter(({ isRequired }) => isRequired).map(({ name }) => name)).toEqual(["topic", "token"]);
  expect(FIELDS.find(({ name }) => name === "thread_id")).toMatchObject({ label: "Thread id", isNullable: true });
  expect(FIELDS.find(({ name }) => name === "token")).toMatchObject({ isSecret: true });
});

it("makes the settings of what is written", () => {
  const written = {
    topic: " alerts ",
    priority: "5",
    silent: "true",
    to: "a@test-site.org, b@test-site.org",
    headers: "X-A: 1",
  };
  expect(settingsOf(FIELDS, written, ["token"])).toEqual({
    topic: "alerts",
    priority: 5,
    silent: true,
    thread_id: null,
    to: ["a@test-site.org", "b@test-site.org"],
    headers: { "X-A": "1" },
  });
  expect(settingsOf(FIELDS, {}, [])).toMatchObject({ topic: "", token: "" });
  expect(settingsOf(FIELDS, { priority: "many" }, [])).toMatchObject({ priority: "many" });
});

it("shows what there is, and of a secret nothing", () => {
  expect(writtenOf(FIELDS, { topic: "x", token: "***", to: ["a", "b"], silent: true })).toMatchObject({
    topic: "x",
    token: "",
    to: "a\nb",
    silent: "true",
  });
});

property([fc.jsonValue(), fc.jsonValue()], { numRuns: 100 })(
  "anything is a schema, perhaps without fields",
  (value, settings) => {
    const fields = fieldsOf(value);
    const written = writtenOf(fields, Object(settings) as Record<string, unknown>);
    expect(() => settingsOf(fields, written, [])).not.toThrow();
  },
);

property([fc.dictionary(fc.string(), fc.jsonValue())], { numRuns: 100 })("any property is a field", (properties) => {
  expect(fieldsOf({ properties })).toHaveLength(Math.min(Object.keys(properties).length, 60));
});
