/** Method, headers, body, authentication and redirects of a website check, against servers on loopback. */
import { describe, expect, it } from "vitest";
import { http } from "../probes/http.ts";
import { keyword } from "../probes/keyword.ts";
import { check, page, raw, type TestedWay } from "./website.suite.ts";

interface Seen {
  readonly line: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** A server that reads whole requests, and answers each as it is told. */
async function site(answer: (seen: Seen) => string) {
  const seen: Seen[] = [];
  const { port } = await raw((socket, first) => {
    let text = first;
    const look = (): void => {
      const at = text.indexOf("\r\n\r\n");
      if (at === -1) return;
      const [line = "", ...lines] = text.slice(0, at).split("\r\n");
      const headers = Object.fromEntries(
        lines.map((each) => [each.slice(0, each.indexOf(":")).toLowerCase(), each.slice(each.indexOf(":") + 1).trim()]),
      );
      const body = text.slice(at + 4);
      if (Buffer.byteLength(body, "latin1") < Number(headers["content-length"] ?? 0)) return;
      const request = { line, headers, body: Buffer.from(body, "latin1").toString("utf8") };
      seen.push(request);
      socket.end(answer(request));
    };
    socket.on("data", (bytes) => {
      text += bytes.toString("latin1");
      look();
    });
    look();
  });
  return { seen, url: `http://web.rig:${port}/`, port };
}

const moved = (status: number, to: string) =>
  `HTTP/1.1 ${status} Moved\r\nLocation: ${to}\r\nContent-Length: 0\r\n\r\n`;

describe.each(["node", "native"] as const)("requests of a website check, %s sockets", (path: TestedWay) => {
  it.each(["HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"])("are sent with method %s", async (method) => {
    const { seen, url } = await site(() => "HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n");
    const { verdict } = await check(path, { url, method, accepted_statuscodes: ["200"], max_redirects: 0 });
    // What HEAD answers has the length of a body that does not come.
    expect([verdict, seen[0]?.line]).toEqual([method === "HEAD" ? "ok" : "closed", `${method} / HTTP/1.1`]);
  });

  it("carry headers and a body, with the type that the body has unless it is said", async () => {
    const { seen, url } = await site(() => page("x"));
    const headers = { "X-Api-Key": "abc def", "user-agent": "mine/1" };
    expect((await check(path, { url, method: "POST", headers, body: '{"a":"é"}' })).verdict).toBe("ok");
    expect(seen[0]).toMatchObject({
      body: '{"a":"é"}',
      headers: {
        "x-api-key": "abc def",
        "user-agent": "mine/1",
        "content-type": "application/json",
        "content-length": "10",
      },
    });
    await check(path, { url, method: "PUT", body: "a=b" });
    await check(path, {
      url,
      method: "PUT",
      body: "a=b",
      headers: { "content-type": "application/x-www-form-urlencoded" },
    });
    await check(path, { url, method: "POST" });
    expect(seen.slice(1).map((one) => [one.headers["content-type"], one.headers["content-length"]])).toEqual([
      ["text/plain; charset=utf-8", "3"],
      ["application/x-www-form-urlencoded", "3"],
      [undefined, "0"],
    ]);
  });

  it("carry a body of the greatest size", async () => {
    const { seen, url } = await site(() => page("x"));
    expect((await check(path, { url, method: "POST", body: "é".repeat(32_768) })).verdict).toBe("ok");
    expect(seen[0]?.body).toBe("é".repeat(32_768));
  });

  it("say who asks, by a name and a password or by a token", async () => {
    const { seen, url } = await site(() => page("x"));
    await check(path, { url, basic_auth_username: "ada", basic_auth_password: "gehéim" });
    await check(path, { url, basic_auth_username: "ada" });
    await check(path, { url, bearer_token: "abc.def-ghi=" });
    expect(seen.map(({ headers }) => headers.authorization)).toEqual([
      `Basic ${Buffer.from("ada:gehéim").toString("base64")}`,
      `Basic ${Buffer.from("ada:").toString("base64")}`,
      "Bearer abc.def-ghi=",
    ]);
  });

  it("follow as many redirects as they may; none with 0, and then judge the redirect itself", async () => {
    const { seen, url } = await site(({ line }) => {
      const at = Number(/^GET \/(\d*)/.exec(line)?.[1] ?? 0);
      return at === 3 ? page("x") : moved(302, `/${at + 1}`);
    });
    expect((await check(path, { url, max_redirects: 3 })).verdict).toBe("ok");
    expect(await check(path, { url, max_redirects: 2 })).toMatchObject({
      verdict: "rejected",
      message: "Redirected more than 2 times",
    });
    expect(seen).toHaveLength(7);
    expect(await check(path, { url, max_redirects: 0 })).toMatchObject({
      verdict: "rejected",
      message: "Answered with status 302, accepted is 200-299",
    });
    expect((await check(path, { url, max_redirects: 0, accepted_statuscodes: ["302"] })).verdict).toBe("ok");
    expect(seen).toHaveLength(9);
  });

  it.each([
    [301, "POST", "GET", ""],
    [302, "POST", "GET", ""],
    [303, "POST", "GET", ""],
    [303, "PUT", "GET", ""],
    [301, "PUT", "PUT", "text"],
    [307, "POST", "POST", "text"],
    [308, "POST", "POST", "text"],
  ])(
    "redirected with %i after %s ask with %s, with what is secret, at the same origin",
    async (status, method, next, body) => {
      const { seen, url } = await site(({ line }) => (line.includes(" / ") ? moved(status, "/next") : page("x")));
      const secrets = { headers: { "X-Api-Key": "abc" }, bearer_token: "t0ken", body: "text" };
      expect((await check(path, { url, method, ...secrets })).verdict).toBe("ok");
      expect(seen[1]).toMatchObject({
        line: `${next} /next HTTP/1.1`,
        body,
        headers: { "x-api-key": "abc", authorization: "Bearer t0ken" },
      });
      expect(seen[1]?.headers["content-type"]).toBe(body === "" ? undefined : "text/plain; charset=utf-8");
    },
  );

  it("take no secret to another origin, and not back again", async () => {
    const home = await site(({ line }) => (line.includes(" / ") ? moved(302, other.url) : page("x")));
    const other = await site(() => moved(302, `${home.url}back`));
    const secrets = { headers: { "X-Api-Key": "abc" }, basic_auth_username: "ada", basic_auth_password: "pw" };
    expect((await check(path, { url: home.url, method: "POST", body: "text", ...secrets })).verdict).toBe("ok");
    expect(home.seen[0]?.headers["x-api-key"]).toBe("abc");
    for (const { line, headers, body } of [other.seen[0], home.seen[1]].map((one) => one as Seen)) {
      expect(line).toMatch(/^GET /);
      expect(Object.keys(headers).sort()).toEqual(["accept", "accept-encoding", "connection", "host", "user-agent"]);
      expect(body).toBe("");
    }
  });

  it("end where a redirect asks for the body at another origin", async () => {
    const other = await site(() => page("x"));
    const home = await site(() => moved(307, other.url));
    const outcome = await check(path, { url: home.url, method: "POST", body: "text" });
    expect(outcome.verdict).toBe("rejected");
    expect(outcome.message).toContain("Redirected to another origin, where the body is not sent");
    expect(other.seen).toEqual([]);
  });

  it("are refused by the address guard after a redirect too, whatever they carry", async () => {
    const { url } = await site(() => moved(307, "http://private.rig/"));
    const outcome = await check(path, { url, headers: { "X-Api-Key": "abc" }, method: "DELETE" });
    expect([outcome.verdict, outcome.hosts.at(-1)]).toEqual(["misconfigured", "private.rig:80"]);
  });
});

describe("settings of requests", () => {
  const url = "https://web.site/";
  const refusal = (body: object, kind: typeof http | typeof keyword = http): string | null =>
    kind.settings.safeParse({ url, ...body }).error?.issues[0]?.message ?? null;

  it("that say nothing leave no trace, so that earlier versions know them", () => {
    const plain = http.settings.parse({ url });
    const said = {
      method: "GET",
      headers: {},
      body: null,
      basic_auth_username: null,
      basic_auth_password: null,
      bearer_token: null,
      client_certificate: null,
      client_key: null,
      max_redirects: 10,
      body_regex: null,
      json_query: null,
      json_expected: null,
      max_response_time: null,
      verify_certificate: true,
      invert: false,
    };
    expect(http.settings.parse({ url, ...said })).toEqual(plain);
    expect(Object.keys(plain)).toEqual(["url", "accepted_statuscodes", "ip_version"]);
  });

  it.each([
    [{ method: "get" }, /^method must be one of GET, HEAD/],
    [{ method: "TRACE" }, /^method must be one of/],
    [{ headers: ["a: b"] }, /^headers must be an object of texts/],
    [{ headers: { a: 1 } }, /^headers must be an object of texts/],
    [{ headers: { a: 1 } }, /./],
    [{ headers: { Host: "other.site" } }, /^headers: Host cannot be set/],
    [{ headers: { a: "b\r\nc: d" } }, /^headers: the value of a must be visible/],
    [{ body: {} }, /^body must be a text of at most 65536 bytes/],
    [{ body: "é".repeat(32_769) }, /^body must be a text of at most 65536 bytes/],
    [{ method: "HEAD", body: "x" }, /^body is not sent with method HEAD/],
    [{ basic_auth_username: "a:b" }, /^basic_auth_username must be a text .* without a colon/],
    [{ basic_auth_username: "a\n" }, /^basic_auth_username must be/],
    [{ basic_auth_password: "x" }, /^basic_auth_password needs basic_auth_username/],
    [{ bearer_token: "a b" }, /^bearer_token must be a token/],
    [{ bearer_token: "" }, /^bearer_token must be a token/],
    [{ max_redirects: 21 }, /^max_redirects must be a whole number from 0 to 20/],
    [{ max_redirects: "1" }, /^max_redirects must be/],
    [{ bearer_token: "t", basic_auth_username: "a" }, /each say who asks/],
    [{ bearer_token: "t", headers: { authorization: "x" } }, /each say who asks/],
    [{ url: "https://a:b@web.site/", bearer_token: "t" }, /^url and bearer_token each say who asks/],
  ])("refuse %j", (body, message) => {
    expect(refusal(body)).toMatch(message);
  });

  it("of keyword checks refuse HEAD, whose answer has no text", () => {
    expect(refusal({ keyword: "x", method: "HEAD" }, keyword)).toMatch(/^method must not be HEAD/);
  });
});
