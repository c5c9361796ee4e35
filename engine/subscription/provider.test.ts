import { randomBytes } from "node:crypto";
import { setImmediate } from "node:timers/promises";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { UUID } from "../protocols/config.suite.ts";
import { createTransport } from "../transport/index.ts";
import type { Transport } from "../transport/transport.ts";
import { FetchError, fetchBody } from "./fetch.ts";
import { askProvider, CLIENT_NAMES, type KnownAnswer, ProviderError } from "./provider.ts";
import { endless, interimWithoutEnd, type ProviderServer, startProvider } from "./provider-server.suite.ts";

const link = (host: string): string => `vless://${UUID}@${host}.test-site.org:443?security=tls#n`;
const MEBIBYTE = 2 ** 20;

let provider: ProviderServer;
let transport: Transport;

beforeAll(async () => {
  provider = await startProvider();
  transport = createTransport({
    allowNets: [`127.0.0.1/32:${provider.port}`],
    ownEndpoints: [],
    resolvers: [],
    extraCaPem: null,
    rdapBootstrapUrl: null,
    canaries: [],
  });
});
afterAll(() => provider.close());

const fetchFrom = (path: string, etag: string | null = null) =>
  fetchBody(transport, { url: provider.url(path), agent: "test/1", etag });
const reasonOf = async (work: Promise<unknown>): Promise<string> => {
  const error: unknown = await work.then(
    () => new Error("it did not fail"),
    (thrown: unknown) => thrown,
  );
  if (error instanceof FetchError || error instanceof ProviderError) return error.message;
  throw error;
};
const ask = (path: string, known: KnownAnswer | null = null) =>
  askProvider(transport, { url: provider.url(path), known, breathe: () => setImmediate() });

describe("fetching a list", () => {
  it("asks as the client it is said to be, never for a page, and tells the etag", async () => {
    provider.answer("/plain", (_request, response) => void response.setHeader("etag", '"v1"').end(link("a")));
    expect(await fetchFrom("/plain")).toEqual({ kind: "body", text: link("a"), etag: '"v1"' });
    const [request] = provider.asked("/plain");
    expect(request?.headers).toMatchObject({ "user-agent": "test/1", accept: "*/*" });
    expect(request?.headers["if-none-match"]).toBeUndefined();
  });

  it("asks on a condition when it knows the list", async () => {
    provider.answer("/known", (request, response) => {
      response.writeHead(request.headers["if-none-match"] === '"v1"' ? 304 : 200).end();
    });
    expect(await fetchFrom("/known", '"v1"')).toEqual({ kind: "unchanged" });
    expect(await fetchFrom("/known", '"v0"')).toMatchObject({ kind: "body", text: "" });
  });

  it("gives credentials of the address to its own origin", async () => {
    provider.answer("/login", (_request, response) => void response.writeHead(302, { location: "/login2" }).end());
    provider.answer("/login2", "x");
    const url = provider.url("/login").replace("//", "//us%65r:p%40ss@");
    await fetchBody(transport, { url, agent: "test/1", etag: null });
    const sent = `Basic ${Buffer.from("user:p@ss").toString("base64")}`;
    expect(provider.asked("/login2")[0]?.headers.authorization).toBe(sent);
  });

  it.each([
    ["gzip", gzipSync],
    ["br", brotliCompressSync],
  ])("unpacks %s", async (coding, pack) => {
    provider.answer(`/${coding}`, (_request, response) => {
      response.writeHead(200, { "content-encoding": coding }).end(pack(link("packed")));
    });
    expect(await fetchFrom(`/${coding}`)).toMatchObject({ text: link("packed") });
  });

  it("follows three redirects and not a fourth", async () => {
    for (const hop of [1, 2, 3, 4]) {
      provider.answer(`/hop${hop}`, (_request, response) => {
        response.writeHead(302, { location: `/hop${hop - 1}` }).end();
      });
    }
    provider.answer("/hop0", link("end"));
    expect(await fetchFrom("/hop3")).toMatchObject({ text: link("end") });
    expect(await reasonOf(fetchFrom("/hop4"))).toBe("It redirects more than 3 times.");
  });

  it.each([
    ["http://10.1.2.3/secret", /^After a redirect to 10\.1\.2\.3: .*10\.1\.2\.3 is a private address.*\.$/],
    ["http://[::1]:1/", /^After a redirect to \[::1\]:1: .*::1 is a loopback address.*\.$/],
    ["http://169.254.169.254/latest/meta-data", /link-local/],
    ["http://2130706433/", /loopback/],
    ["file:///etc/passwd", /^It redirects to an address that is not http or https\.$/],
  ])("goes nowhere that the guard refuses: %s", async (location, reason) => {
    provider.answer("/away", (_request, response) => void response.writeHead(302, { location }).end());
    expect(await reasonOf(fetchFrom("/away"))).toMatch(reason);
    expect(await reasonOf(fetchFrom("/away"))).not.toContain("secret");
  });

  it("judges the address itself at its dial", async () => {
    const url = "http://127.0.0.1:9/token";
    const reason = await reasonOf(fetchBody(transport, { url, agent: "test/1", etag: null }));
    expect(reason).toMatch(/127\.0\.0\.1 is a loopback address/);
    expect(reason).not.toContain("token");
  });

  it("takes five MiB and not a byte more, packed or not", async () => {
    const largest = "x".repeat(5 * MEBIBYTE);
    provider.answer("/largest", largest);
    provider.answer("/larger", `${largest}x`);
    expect(await fetchFrom("/largest")).toMatchObject({ kind: "body" });
    expect(await reasonOf(fetchFrom("/larger"))).toBe("The list is larger than 5 MiB.");
    provider.answer("/bomb", (_request, response) => {
      response.writeHead(200, { "content-encoding": "gzip" }).end(gzipSync(Buffer.alloc(200 * MEBIBYTE)));
    });
    expect(await reasonOf(fetchFrom("/bomb"))).toBe("The list is larger than 5 MiB.");
    provider.answer("/bombs", (_request, response) => {
      const twice = gzipSync(gzipSync(Buffer.alloc(200 * MEBIBYTE)));
      response.writeHead(200, { "content-encoding": "gzip, gzip" }).end(twice);
    });
    expect(await reasonOf(fetchFrom("/bombs"))).toBe("The list is larger than 5 MiB.");
  });

  it("stops listening to what has no end", async () => {
    provider.answer("/endless", endless(Buffer.alloc(65_536, "x")));
    expect(await reasonOf(fetchFrom("/endless"))).toBe("The list is larger than 5 MiB.");
    const packed = randomBytes(65_536);
    provider.answer("/endless-packed", endless(gzipSync(packed), { "content-encoding": "gzip" }));
    expect(await reasonOf(fetchFrom("/endless-packed"))).toMatch(/larger than 5 MiB|cannot be unpacked/);
    provider.answer("/endless-interim", interimWithoutEnd);
    expect(await reasonOf(fetchFrom("/endless-interim"))).toBe("The server sends interim answers without end.");
  });

  it("says what is wrong with an answer that is none", async () => {
    provider.answer("/broken-gzip", (_request, response) => {
      response.writeHead(200, { "content-encoding": "gzip" }).end("no gzip at all");
    });
    provider.answer(
      "/strange",
      (_request, response) => void response.writeHead(200, { "content-encoding": "compress" }).end(),
    );
    provider.answer("/cut", (_request, response) => {
      response.writeHead(200, { "content-length": "100" });
      response.write("half", () => response.destroy());
    });
    provider.answer("/hangs-up", (_request, response) => void response.destroy());
    expect(await reasonOf(fetchFrom("/broken-gzip"))).toBe("The answer is packed, and cannot be unpacked.");
    expect(await reasonOf(fetchFrom("/strange"))).toBe("The answer is packed in a way that is not known here.");
    expect(await reasonOf(fetchFrom("/cut"))).toBe("The connection ended before the list was complete.");
    expect(await reasonOf(fetchFrom("/hangs-up"))).toMatch(/\.$/);
    expect(await reasonOf(fetchFrom("/none"))).toBe("The provider answered with HTTP 404.");
  });

  it("ends when it is told to", async () => {
    const controller = new AbortController();
    provider.answer("/silent", () => controller.abort());
    const fetching = fetchBody(transport, {
      url: provider.url("/silent"),
      agent: "test/1",
      etag: null,
      signal: controller.signal,
    });
    expect(await reasonOf(fetching)).toMatch(/did not answer/);
  });
});

describe("asking a provider", () => {
  const forClient = (name: string, body: string) => {
    provider.answer("/by-name", (request, response) => {
      const isKnown = request.headers["user-agent"] === name;
      response.setHeader("etag", '"one"').end(isKnown ? body : "<!doctype html><title>Log in</title>");
    });
  };

  it("tries client names until one yields servers, and remembers which did", async () => {
    forClient(CLIENT_NAMES[1], link("clash"));
    const answer = await ask("/by-name");
    expect(answer).toMatchObject({ kind: "list", known: { agent: CLIENT_NAMES[1], etag: '"one"' } });
    const before = provider.asked("/by-name").length;
    expect(before).toBe(2);
    if (answer.kind !== "list") throw new Error("no list");
    await ask("/by-name", answer.known);
    const [again] = provider.asked("/by-name").slice(before);
    expect(again?.headers).toMatchObject({ "user-agent": CLIENT_NAMES[1], "if-none-match": '"one"' });
  });

  it("has the reason that was given to its usual name when none does", async () => {
    provider.answer("/page", "<!doctype html><title>Log in</title>");
    expect(await reasonOf(ask("/page"))).toBe("The answer is a web page, not a list.");
    expect(provider.asked("/page").map(({ headers }) => headers["user-agent"])).toEqual([...CLIENT_NAMES]);
    provider.answer("/refused", (_request, response) => void response.writeHead(403).end());
    expect(await reasonOf(ask("/refused"))).toBe("The provider answered with HTTP 403.");
  });

  it("does not ask again when no answer came", async () => {
    const before = provider.asked("/hangs-up").length;
    provider.answer("/hangs-up", (_request, response) => void response.destroy());
    await reasonOf(ask("/hangs-up"));
    expect(provider.asked("/hangs-up").length - before).toBe(1);
  });

  it("says of a list without servers what is in it", async () => {
    provider.answer("/ssr", "ssr://abc\nssr://def");
    expect(await reasonOf(ask("/ssr"))).toBe("The list has no server of a kind that is supported (ssr).");
    provider.answer("/junk", "vless://incomplete");
    expect(await reasonOf(ask("/junk"))).toBe(
      "No entry of the list can be read (entry 1: the link has no server after an @).",
    );
    provider.answer("/notice", "vless://00000000-0000-0000-0000-000000000000@0.0.0.0:1#Expired");
    expect(await reasonOf(ask("/notice"))).toBe("The list has no servers; the provider says: Expired");
  });
});
