import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { property } from "../testkit/property.ts";
import { Head, MAX_HEADERS } from "./head.ts";

function read(lines: readonly (readonly [string, string])[]): Head {
  const head = new Head();
  for (const [name, value] of lines) head.add(name, value);
  return head;
}

describe("the head of a request", () => {
  it("is read line by line", () => {
    const head = read([
      ["host", "a"],
      ["x-api-key", "key"],
      ["authorization", "Bearer b"],
      ["x-project-id", "1"],
      ["if-none-match", '"e"'],
      ["content-length", "12"],
    ]);
    expect(head.refusal("GET")).toBeNull();
    expect(head).toMatchObject({ apiKey: "key", authorization: "Bearer b", projectId: "1", ifNoneMatch: '"e"' });
    expect(head.hasBody).toBe(true);
    expect(head.isChunked).toBe(false);
  });

  it("takes forwarded addresses of several lines as one list, the nearest proxy's last", () => {
    const head = read([
      ["host", "a"],
      ["x-forwarded-for", "203.0.113.9"],
      ["x-forwarded-for", "198.51.100.7, 10.0.0.1"],
    ]);
    expect(head.forwardedFor).toBe("203.0.113.9, 198.51.100.7, 10.0.0.1");
    expect(head.refusal("GET")).toBeNull();
  });

  it("says the status that fits", () => {
    for (const method of ["", "(GET", "G ET", "GET\u0000", "G\u00c9T", "x".repeat(65)])
      expect(read([["host", "a"]]).refusal(method)?.status).toBe(400);
    expect(read([["host", "a"]]).refusal("M-SEARCH")).toBeNull();
    expect(read([["host", "a"]]).refusal("GET", "1.0")).toBeNull();
    expect(read([]).refusal("GET", "1.0")).toBeNull();
    expect(read([]).refusal("GET")?.status).toBe(400);
    expect(read([["host", "a"]]).refusal("GET", "2.0")?.status).toBe(400);
    expect(
      read([
        ["host", "a"],
        ["content-length", "999999999"],
      ]).refusal("GET")?.status,
    ).toBe(413);
    expect(
      read([
        ["host", "a"],
        ["transfer-encoding", "chunked"],
      ]).refusal("GET", "1.0")?.status,
    ).toBe(400);
    const many = Array.from({ length: MAX_HEADERS }, (_, index): readonly [string, string] => [`x-${index}`, ""]);
    expect(read([["host", "a"], ...many.slice(1)]).refusal("GET")).toBeNull();
    expect(read([["host", "a"], ...many]).refusal("GET")?.status).toBe(431);
  });

  const names = fc.constantFrom(
    "host",
    "x-api-key",
    "authorization",
    "x-project-id",
    "content-length",
    "transfer-encoding",
  );
  const line = fc.tuple(
    fc.oneof(names, fc.string()),
    fc.oneof(fc.constantFrom("chunked", "5", "0", "a"), fc.string({ unit: "binary" })),
  );

  property([fc.array(line, { maxLength: 12 })])("that is taken is framed in one way and names one caller", (lines) => {
    const head = read(lines);
    if (head.refusal("GET") !== null) return;
    const of = (name: string): string[] => lines.filter(([named]) => named === name).map(([, value]) => value);
    expect(of("host")).toHaveLength(1);
    for (const name of ["x-api-key", "authorization", "x-project-id"]) expect(of(name).length).toBeLessThan(2);
    const [lengths, codings] = [of("content-length"), of("transfer-encoding")];
    expect(lengths.length + codings.length).toBeLessThan(2);
    for (const length of lengths) expect(length).toMatch(/^\d+$/);
    for (const coding of codings) expect(coding).toMatch(/^chunked$/i);
    expect(head.hasBody).toBe(lengths.length + codings.length > 0);
  });

  property([fc.array(line, { maxLength: 12 }), fc.string()])("repeats nothing of it in a refusal", (lines, secret) => {
    const head = read([...lines, ["x-api-key", `\u0000${secret}`]]);
    expect(head.refusal("GET")?.body).toMatch(/^\{"error":true,"code":4\d\d,"message":"[A-Z][a-z ]+"\}$/);
  });
});
