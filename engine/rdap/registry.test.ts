import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { afterEach, describe, expect, it } from "vitest";
import { listen } from "../../demo/loopback.ts";
import { makeRig, rigTransport } from "../../test/web-rig.ts";
import { http } from "../probes/http.ts";
import type { Transport } from "../transport/transport.ts";
import { createDomainExpiry } from "./index.ts";

const probe = await http.load();

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

/** A local registry: the list of servers at /dns.json, which sends `.site` and `.uk` to itself, domains below /domain/. */
async function registry(domain: Answer, list?: Answer) {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(request.url ?? "");
    if (request.url !== "/dns.json") return domain(request, response);
    if (list !== undefined) return list(request, response);
    const services = [[["site", "uk"], [`http://rdap.rig:${port}/`]]];
    response.end(JSON.stringify({ version: "1.0", publication: "2026-01-01T00:00:00Z", services }));
  });
  const port = await listen(server);
  closers.push(() => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(resolve));
  });
  return { asked, bootstrapUrl: `http://rdap.rig:${port}/dns.json` };
}

function record(expires: string | null): string {
  const events = [{ eventAction: "registration", eventDate: "2001-02-03T04:05:06Z" }];
  if (expires !== null) events.push({ eventAction: "expiration", eventDate: expires });
  return JSON.stringify({ objectClassName: "domain", ldhName: "shop.site", events, links: [] });
}

function expiryOf(bootstrapUrl: string, transport: Transport = rigTransport()) {
  const clock = { nowMs: 1_000_000 };
  const domains = createDomainExpiry(transport, bootstrapUrl, () => clock.nowMs);
  closers.unshift(() => domains.close());
  return { clock, domains };
}

describe("domain expiry", () => {
  it("is asked for at the registry of the name's domain, and known to the checks after", async () => {
    const { asked, bootstrapUrl } = await registry((_request, response) =>
      response.end(record("2031-05-06T07:08:09Z")),
    );
    const { domains } = expiryOf(bootstrapUrl);
    expect(domains.expiresAtMs("www.shop.site")).toBeNull();
    await domains.idle();
    expect(domains.expiresAtMs("www.shop.site")).toBe(Date.UTC(2031, 4, 6, 7, 8, 9));
    expect(domains.expiresAtMs("shop.site")).toBe(Date.UTC(2031, 4, 6, 7, 8, 9));
    expect(asked).toEqual(["/dns.json", "/domain/shop.site"]);
  });

  it("reduces a name below a public suffix of two labels", async () => {
    const { asked, bootstrapUrl } = await registry((_request, response) =>
      response.end(record("2031-05-06T07:08:09Z")),
    );
    const { domains } = expiryOf(bootstrapUrl);
    domains.expiresAtMs("a.b.shop.co.uk");
    await domains.idle();
    expect(asked).toContain("/domain/shop.co.uk");
  });

  it.each(["127.0.0.1", "::1", "localhost", "co.uk"])("sends no question about %s", async (host) => {
    const { asked, bootstrapUrl } = await registry((_request, response) => response.end());
    const { domains } = expiryOf(bootstrapUrl);
    expect(domains.expiresAtMs(host)).toBeNull();
    await domains.idle();
    expect(asked).toEqual([]);
  });

  it("asks again after a day, with the list of servers", async () => {
    let year = 2031;
    const { asked, bootstrapUrl } = await registry((_request, response) =>
      response.end(record(`${year++}-01-01T00:00:00Z`)),
    );
    const { domains, clock } = expiryOf(bootstrapUrl);
    domains.expiresAtMs("shop.site");
    await domains.idle();
    clock.nowMs += 86_400_000;
    expect(domains.expiresAtMs("shop.site")).toBe(Date.UTC(2031, 0, 1));
    await domains.idle();
    expect(domains.expiresAtMs("shop.site")).toBe(Date.UTC(2032, 0, 1));
    expect(asked).toHaveLength(4);
  });

  it.each<[string, Answer]>([
    ["an error", (_request, response) => response.writeHead(500).end()],
    ["no JSON", (_request, response) => response.end("<html>")],
    ["too much", (_request, response) => response.end(`"${"x".repeat(2_000_000)}"`)],
    ["nothing", (request) => request.socket.destroy()],
    ["that it has enough of us", (_request, response) => response.writeHead(429, { "retry-after": "7200" }).end()],
  ])("is unknown when the registry answers %s", async (_name, answer) => {
    const { asked, bootstrapUrl } = await registry(answer);
    const { domains, clock } = expiryOf(bootstrapUrl);
    domains.expiresAtMs("shop.site");
    await domains.idle();
    expect(domains.expiresAtMs("shop.site")).toBeNull();
    await domains.idle();
    const first = asked.length;
    clock.nowMs += 2 * 3_600_000;
    domains.expiresAtMs("shop.site");
    await domains.idle();
    expect(asked.length).toBeGreaterThan(first);
  });

  it("keeps the time that a registry asks for", async () => {
    const { asked, bootstrapUrl } = await registry((_request, response) =>
      response.writeHead(429, { "retry-after": "7200" }).end(),
    );
    const { domains, clock } = expiryOf(bootstrapUrl);
    domains.expiresAtMs("shop.site");
    await domains.idle();
    const first = asked.length;
    clock.nowMs += 2 * 3_600_000 - 1;
    domains.expiresAtMs("shop.site");
    await domains.idle();
    expect(asked.length).toBe(first);
  });

  it.each<[string, string | null, string]>([
    ["the registry does not say", null, "shop.site"],
    ["the top-level domain has no registry that can be asked", "2031-01-01T00:00:00Z", "shop.nowhere"],
  ])("is unknown, for a day, when %s", async (_name, expires, domain) => {
    const { asked, bootstrapUrl } = await registry((_request, response) => response.end(record(expires)));
    const { domains, clock } = expiryOf(bootstrapUrl);
    domains.expiresAtMs(domain);
    await domains.idle();
    const first = asked.length;
    clock.nowMs += 86_399_999;
    expect(domains.expiresAtMs(domain)).toBeNull();
    await domains.idle();
    expect(asked.length).toBe(first);
  });

  it("does not know a domain that is not registered", async () => {
    const { bootstrapUrl } = await registry((_request, response) => response.writeHead(404).end("{}"));
    const { domains } = expiryOf(bootstrapUrl);
    domains.expiresAtMs("shop.site");
    await domains.idle();
    expect(domains.expiresAtMs("shop.site")).toBeNull();
  });

  it("asks for the list again five minutes after it could not be had", async () => {
    let broken = true;
    const { asked, bootstrapUrl } = await registry(
      (_request, response) => response.end(record("2031-01-01T00:00:00Z")),
      (_request, response) => {
        if (broken) response.writeHead(503).end();
        else response.end(JSON.stringify({ version: "1.0", publication: "x", services: [] }));
      },
    );
    const { domains, clock } = expiryOf(bootstrapUrl);
    domains.expiresAtMs("one.site");
    await domains.idle();
    domains.expiresAtMs("two.site");
    await domains.idle();
    expect(asked).toEqual(["/dns.json"]);
    broken = false;
    clock.nowMs += 5 * 60_000;
    domains.expiresAtMs("three.site");
    await domains.idle();
    expect(asked).toEqual(["/dns.json", "/dns.json"]);
  });

  it("goes through the guard, redirects included", async () => {
    const dialled: string[] = [];
    const inner = rigTransport();
    const transport: Transport = {
      ...inner,
      resolve: (host, port, preference, context) => {
        dialled.push(host);
        return inner.resolve(host, port, preference, context);
      },
    };
    const { bootstrapUrl } = await registry((_request, response) =>
      response.writeHead(302, { location: "http://private.rig/" }).end(),
    );
    const { domains } = expiryOf(bootstrapUrl, transport);
    domains.expiresAtMs("shop.site");
    await domains.idle();
    expect(domains.expiresAtMs("shop.site")).toBeNull();
    expect(dialled).toContain("private.rig");
  });
});

describe("a website check", () => {
  it("reports what is known of its domain, also when it fails, and only when asked to", async () => {
    const site = createServer((_request, response) => response.writeHead(500).end());
    const port = await listen(site);
    closers.push(() => new Promise((resolve) => site.close(resolve)));
    const hosts: string[] = [];
    const context = {
      ...makeRig(rigTransport()).context,
      domainExpiresAtMs: (host: string) => {
        hosts.push(host);
        return 77;
      },
    };
    const url = `http://www.shop.rig:${port}/`;
    expect(await probe.run(http.settings.parse({ url, domain_expiration: 14 }), context)).toMatchObject({
      verdict: "rejected",
      domainExpiresAtMs: 77,
    });
    expect(await probe.run(http.settings.parse({ url }), context)).toMatchObject({ domainExpiresAtMs: null });
    expect(await probe.run(http.settings.parse({ url, domain_expiration: 0 }), context)).toMatchObject({
      domainExpiresAtMs: null,
    });
    expect(hosts).toEqual(["www.shop.rig"]);
  });
});
