import { gunzipSync } from "node:zlib";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { byName } from "../testkit/api/contract.suite.ts";
import { routes } from "./endpoints/index.ts";
import { tagOf } from "./etag.ts";
import { type ApiRequest, ok } from "./http.ts";
import { acceptsCoding, createListed, isKnown } from "./listed.ts";
import { schemaOf } from "./openapi.ts";

/** As long as a list, and without a total: columns of a whole project, a row a day, columns of hours. */
const WITHOUT_TOTAL = new Set(["/overview", "/days", "/servers/{id}/days", "/servers/{id}/latency"]);

describe("the routes that are lists", () => {
  it("are all whose answer has a total of what it lists, or is as long", () => {
    for (const { method, path, responses, isList } of routes) {
      const answer = responses[200];
      const shape = typeof answer === "object" ? schemaOf(answer) : answer;
      const names = shape instanceof z.ZodObject ? Object.keys(shape.shape) : [];
      const isLong = method === "GET" && (names.includes("total") || WITHOUT_TOTAL.has(path));
      expect([path, method, isList === true]).toEqual([path, method, isLong]);
    }
  });
});

describe("acceptsCoding", () => {
  it.each(["gzip", "GZIP", "br, gzip", "deflate;q=0.5 , gzip ; q=0.1", "gzip;q=1.0", "x-gzip"])("takes %j", (header) =>
    expect(acceptsCoding(header, "gzip")).toBe(true),
  );
  it.each(["", "br", "*", "identity", "gzip;q=0", "gzip; q=0.000", "gzipped"])("refuses %j", (header) =>
    expect(acceptsCoding(header, "gzip")).toBe(false),
  );
});

describe("isKnown", () => {
  it("finds a tag in any list, strong or weak, and no other", () => {
    fc.assert(
      fc.property(fc.array(fc.string()), fc.string(), (texts, text) => {
        const tag = tagOf(text);
        const others = texts.filter((one) => one !== text).map(tagOf);
        expect(isKnown(others.join(", "), tag)).toBe(false);
        expect(isKnown([...others, tag].join(","), tag)).toBe(true);
        expect(isKnown(tag.slice(2), tag)).toBe(true);
      }),
    );
    expect(isKnown("*", tagOf(""))).toBe(true);
    expect(isKnown("", tagOf(""))).toBe(false);
    // A part of a tag, and garbage.
    expect(isKnown(tagOf("").slice(0, 9), tagOf(""))).toBe(false);
  });
});

describe("compressing", () => {
  const route = routes.find(({ path }) => path === "/results");
  const request = { ifNoneMatch: "", acceptEncoding: "gzip" } as ApiRequest;
  const listOf = (count: number) => ok({ results: Array.from({ length: count }, (_, id) => ({ id, name: "Berlin" })) });

  it("holds two threads at most: what comes meanwhile is sent as it is", async () => {
    if (route === undefined) throw new Error("no such route");
    const listed = createListed();
    for (let round = 0; round < 2; round++) {
      const answers = await Promise.all([1, 2, 3, 4, 5].map(() => listed(route, request, listOf(1_000))));
      const codings = answers.map(({ headers }) => byName(headers)["content-encoding"]);
      expect(codings).toEqual(["gzip", "gzip", undefined, undefined, undefined]);
      const texts = answers.map(({ body, headers }) =>
        byName(headers)["content-encoding"] === "gzip" ? gunzipSync(body).toString() : body,
      );
      expect(new Set(texts)).toEqual(new Set([listOf(1_000).body]));
      expect(new Set(answers.map(({ headers }) => byName(headers).etag)).size).toBe(1);
    }
  });

  it("packs a body that is kept once, and none for who does not take it so", async () => {
    if (route === undefined) throw new Error("no such route");
    const listed = createListed();
    const kept = { ...listOf(1_000), body: Buffer.from(String(listOf(1_000).body)) };
    const [first, second] = [await listed(route, request, kept), await listed(route, request, kept)];
    expect(gunzipSync(first.body).toString()).toBe(listOf(1_000).body);
    expect(second.body).toBe(first.body);
    expect(second.headers).toEqual(first.headers);
    expect((await listed(route, { ...request, acceptEncoding: "" }, kept)).body).toBe(kept.body);
    const secret = { ...kept, holdsSecrets: true } as const;
    expect((await listed(route, request, secret)).body).toBe(kept.body);
    const other = { ...kept, body: Buffer.from(kept.body) };
    expect((await listed(route, request, other)).body).not.toBe(first.body);
  });

  it("leaves alone what is small, huge, a secret or refused", async () => {
    if (route === undefined) throw new Error("no such route");
    const listed = createListed();
    const secret = { ...listOf(1_000), holdsSecrets: true } as const;
    for (const answer of [listOf(5), listOf(200_000), secret, { ...listOf(1_000), status: 503 }]) {
      const { headers, body } = await listed(route, request, answer);
      expect(byName(headers)["content-encoding"]).toBeUndefined();
      expect(body).toBe(answer.body);
    }
  });
});
