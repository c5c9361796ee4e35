import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { routes } from "./endpoints/index.ts";
import { schemaOf } from "./openapi.ts";
import { ignoredFields, ignoredParameters, MOST_WARNINGS, namesIn, nearest } from "./warnings.ts";

const KNOWN = { names: new Set(["name", "interval", "maxretries", "syncIntervalSec", "ip"]) };

describe("nearest", () => {
  it.each([
    ["intervall", "interval"],
    ["intreval", "interval"],
    ["Interval", "interval"],
    ["max_retries", "maxretries"],
    ["sync_interval_sec", "syncIntervalSec"],
    ["nmae", "name"],
    ["method", null],
    ["headers", null],
    ["id", null],
    ["xy", null],
  ])("%s is meant for %s", (name, meant) => expect(nearest(name, KNOWN.names)).toBe(meant));
});

describe("ignoredFields", () => {
  it("tells unknown names, in their order, with the one that was meant", () => {
    expect(ignoredFields({ name: "a", method: "POST", intervall: 5, ip: "x" }, KNOWN, {})).toEqual([
      'unknown field "method" was ignored',
      'unknown field "intervall" was ignored; did you mean "interval"?',
    ]);
  });

  it("says nothing of a record that is sent back as it reads, and tells what cannot be set", () => {
    const record = { id: "srv_1", status: "down", regional_status: { any: { status: "down" } } };
    expect(ignoredFields(record, KNOWN, record)).toEqual([]);
    expect(ignoredFields({ ...record, status: "healthy" }, KNOWN, record)).toEqual([
      'field "status" cannot be set and was ignored',
    ]);
  });

  it("tells what is for another sort, unless it is null", () => {
    const known = { ...KNOWN, elsewhere: new Set(["group", "ca"]), sort: "openvpn" };
    expect(ignoredFields({ group: "a", ca: null, cb: null }, known, {})).toEqual([
      'field "group" is not for openvpn and was ignored',
      'unknown field "cb" was ignored',
    ]);
  });

  it("is bounded, and fit for a header, whatever is sent", () => {
    const name = fc.oneof(fc.string({ unit: "binary" }), fc.stringMatching(/^[a-z_.-]{1,60}$/));
    fc.assert(
      fc.property(fc.dictionary(name, fc.jsonValue({ maxDepth: 1 })), fc.webQueryParameters(), (body, query) => {
        for (const warnings of [ignoredFields(body, KNOWN, {}), ignoredParameters(query, KNOWN)]) {
          expect(warnings.length).toBeLessThanOrEqual(MOST_WARNINGS);
          for (const warning of warnings) expect(warning).toMatch(/^[\x20-\x7e]{1,120}$/);
        }
      }),
      { numRuns: 5_000 },
    );
    const many = Object.fromEntries(
      Array.from({ length: 16_000 }, (_, index) => [`a${"b".repeat(index % 40)}_${index}`, 1]),
    );
    expect(ignoredFields(many, KNOWN, {}).at(-1)).toMatch(/^\d+ more were ignored$/);
  });

  it("repeats no name that may be a secret, and never a value", () => {
    const secrets = [
      "uk31_0123456789abcdefghijklmnopqrstuvwxyzABCD",
      "Vw3kQ9cZ1mXt7RbN0Vw3kQ9cZ1mXt7Rb",
      "2f9c8a5e-6a3f-4b1e-9d4c-0a1b2c3d4e5f",
      "yAnz5TF+lXXJte14tji3zlMNq+hd2rYUIgJBgB3fBmk=",
      "vless://x@h:1",
      "a b",
      "",
    ];
    for (const secret of secrets) {
      const told = [
        ...ignoredFields({ [secret]: secret }, KNOWN, {}),
        ...ignoredParameters(`${encodeURIComponent(secret)}=1`, KNOWN),
      ];
      expect(told[0]).toBe("a field was ignored whose name is not repeated here");
      if (secret !== "") expect(told.join()).not.toContain(secret);
    }
    expect(ignoredFields({ passwort: "s3cret" }, KNOWN, {}).join()).not.toContain("s3cret");
    expect(ignoredParameters("tokn=s3cret&limit=s3cret", KNOWN).join()).not.toContain("s3cret");
  });
});

describe("the routes", () => {
  it("have a place for warnings in what POST and PUT answer", () => {
    for (const { method, path, responses } of routes) {
      if (method !== "POST" && method !== "PUT") continue;
      for (const [status, answer] of Object.entries(responses)) {
        // A text or a stream says it in a header.
        if (Number(status) >= 300 || typeof answer === "string") continue;
        const shape = schemaOf(answer);
        for (const one of shape instanceof z.ZodUnion ? shape.options : [shape]) {
          const names = one instanceof z.ZodObject ? Object.keys(one.shape) : [];
          expect([path, status, names.includes("warnings")]).toEqual([path, status, true]);
        }
      }
    }
  });

  it("name the fields of every body", () => {
    for (const { path, body } of routes) {
      if (body !== undefined) expect([path, namesIn(body.schema).size > 0]).toEqual([path, true]);
    }
  });
});
