import { createSecureContext } from "node:tls";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { VerifyAnswer } from "./answer-reader.ts";
import { ownEntry } from "./direct.ts";
import { judgeAnswer, parseVerifyUrl, requestOf, STANDARD_VERIFY_URLS, VerifyUrlError } from "./endpoint.ts";
import { createVerifier } from "./verifier.ts";

describe("an entry of SONDE_VERIFY_URLS", () => {
  it("says whom to ask and what proves the passage", () => {
    expect(parseVerifyUrl("https://V.test-site.org:8443/p?a=1&token=old#token")).toEqual({
      text: "https://v.test-site.org:8443/p",
      host: "v.test-site.org",
      port: 8443,
      isHttps: true,
      proof: "token",
      path: "/p?a=1",
      authority: "v.test-site.org:8443",
    });
    expect(parseVerifyUrl("http://[::1]/#204")).toMatchObject({ host: "::1", port: 80, isHttps: false, path: "/" });
    expect(STANDARD_VERIFY_URLS.map((entry) => parseVerifyUrl(entry).isHttps)).toEqual([true, true, true, true]);
  });

  it.each([
    "",
    "nonsense",
    "https://a.test",
    "https://a.test/#200",
    "ftp://a.test/#ip",
    "http://a.test/#ok",
    "https://u:p@a.test/#ip",
  ])("%j is refused by its name", (entry) => {
    expect(() => parseVerifyUrl(entry)).toThrow(VerifyUrlError);
    expect(() => parseVerifyUrl(entry)).toThrow(/^SONDE_VERIFY_URLS: /);
  });

  it("is asked with a token where one is expected", () => {
    const text = requestOf(parseVerifyUrl("http://a.test/v?x=1#token"), "abc").toString();
    expect(text).toBe("GET /v?x=1&token=abc HTTP/1.1\r\nHost: a.test\r\nUser-Agent: Sonde\r\nAccept: */*\r\n\r\n");
  });
});

describe("an answer", () => {
  const judge = (proof: string, status: number, body: string) =>
    judgeAnswer(parseVerifyUrl(`http://a.test/#${proof}`), "tok", status, body);

  it.each([
    ["204", 204, "", null],
    ["token", 200, "tok\n", null],
    ["trace", 200, "h=a\nip=203.0.113.7\nts=1", "203.0.113.7"],
    ["ip", 200, " 203.0.113.7\n", "203.0.113.7"],
    ["ip", 200, '{"ip":"2001:DB8::7"}', "2001:db8::7"],
  ])("#%s: %i %j proves the passage", (proof, status, body, publicIp) => {
    const exit = publicIp === null ? null : { ip: publicIp, country: null };
    expect(judge(proof, status, body)).toEqual({ kind: "proof", exit });
  });

  it.each([
    ["204", 200, ""],
    ["token", 200, "<html>tok</html>"],
    ["token", 404, "tok"],
    ["trace", 200, "ip=none"],
    ["ip", 200, "<html>203.0.113.7</html>"],
    ["ip", 200, '{"ip":7}'],
    ["ip", 200, "{"],
  ])("#%s: %i %j proves nothing", (proof, status, body) => {
    expect(judge(proof, status, body).kind).toBe("other");
  });

  it("is read by its own length, in whatever pieces it comes", () => {
    const text = "HTTP/1.1 200 OK\r\nContent-Length: 11\r\n\r\n203.0.113.7";
    fc.assert(
      fc.property(fc.array(fc.nat(text.length), { maxLength: 6 }), (cuts) => {
        const answer = new VerifyAnswer(parseVerifyUrl("http://a.test/#ip"), "tok");
        const places = [0, ...cuts.sort((a, b) => a - b), text.length];
        const read = places.slice(1).map((place, index) => answer.push(Buffer.from(text.slice(places[index], place))));
        expect(read.at(-1)).toEqual({ kind: "proof", exit: { ip: "203.0.113.7", country: null } });
        expect(answer.isWhole).toBe(true);
      }),
    );
  });

  it("without a length counts from its proof on, or at its end", () => {
    const head = "HTTP/1.1 200 OK\r\n\r\n";
    const trace = new VerifyAnswer(parseVerifyUrl("http://a.test/#trace"), "tok");
    expect(trace.push(Buffer.from(`${head}ip=203.0.113.7\n`))).toMatchObject({ kind: "proof" });
    const ip = new VerifyAnswer(parseVerifyUrl("http://a.test/#ip"), "tok");
    expect(ip.push(Buffer.from(`${head}203.0.113.7`))).toBeNull();
    expect(ip.end()).toMatchObject({ kind: "proof", exit: { ip: "203.0.113.7", country: null } });
  });

  it("of a trace tells the country, where there is one", () => {
    const countryOf = (line: string) => judge("trace", 200, `ip=203.0.113.7\n${line}\nts=1`);
    const told = (country: string | null) => ({ kind: "proof", exit: { ip: "203.0.113.7", country } });
    expect(["loc=NL", "loc=XX", "loc=T1", "loc=nl", "x=NL"].map(countryOf)).toEqual(
      ["NL", null, null, null, null].map(told),
    );
  });

  it("to #ok proves the passage by its status, under a certificate alone", () => {
    const ok = (status: number) => judgeAnswer(parseVerifyUrl("https://a.test/#ok"), "tok", status, "").kind;
    expect([199, 200, 302, 399, 400, 503].map(ok)).toEqual(["other", "proof", "proof", "proof", "other", "other"]);
  });

  it("of a download is read to its bound and no further, whatever its length", () => {
    for (const head of ["content-length: 100000\r\n", "", "transfer-encoding: chunked\r\n"]) {
      const answer = new VerifyAnswer(parseVerifyUrl("https://a.test/#ok"), "tok", 50_000);
      expect(answer.push(Buffer.from(`HTTP/1.1 200 OK\r\n${head}\r\n`))).toBeNull();
      const body = Buffer.alloc(30_000);
      const piece = head.startsWith("transfer")
        ? Buffer.concat([Buffer.from("7530\r\n"), body, Buffer.from("\r\n")])
        : body;
      expect([head, answer.push(piece)]).toEqual([head, null]);
      expect([head, answer.push(piece)]).toEqual([head, { kind: "proof", exit: null }]);
      expect(answer.bytes).toBeGreaterThanOrEqual(50_000);
      expect(answer.bytes).toBeLessThanOrEqual(60_000);
    }
  });

  it("is let go when it does not end", () => {
    const answer = new VerifyAnswer(parseVerifyUrl("http://a.test/#ip"), "tok");
    expect(answer.push(Buffer.from(`HTTP/1.1 200 OK\r\n\r\n${"9".repeat(20_000)}`))).toMatchObject({ kind: "other" });
  });
});

describe("our own endpoint", () => {
  it.each([
    ["https://status.test-site.org", ["https://status.test-site.org/verify#token"]],
    ["http://8.8.8.8:8080", ["http://8.8.8.8:8080/verify#token"]],
    ["http://127.0.0.1:8080", []],
    ["http://[::1]:8080", []],
    ["http://192.168.1.4", []],
    ["http://localhost:8080", []],
    ["http://intranet:8080", []],
    [null, []],
  ])("at %s", (baseUrl, entries) => {
    expect(ownEntry(baseUrl)).toEqual(entries);
  });
});

describe("the choice of endpoints", () => {
  const endpoints = ["http://a.test/#204", "http://b.test/#ip", "http://b.test/2#ip", "http://c.test/#trace"].map(
    parseVerifyUrl,
  );
  const [a, b, b2, c] = endpoints;

  it("begins with those that tell the address, in turn, and goes on with another host", () => {
    const verifier = createVerifier(
      endpoints,
      createSecureContext,
      async () => true,
      () => 0,
    );
    expect([verifier.next(), verifier.next(), verifier.next()]).toEqual([
      [b2, c],
      [c, a],
      [b, c],
    ]);
    expect(
      createVerifier(
        [a ?? fail()],
        createSecureContext,
        async () => true,
        () => 0,
      ).next(),
    ).toEqual([a]);
  });

  it("begins with what tells the country where that is wanted and there is such", () => {
    const first = (entries: readonly string[]) =>
      createVerifier(
        entries.map(parseVerifyUrl),
        () => createSecureContext(),
        async () => true,
        () => 0,
        {
          isCountryWanted: true,
        },
      ).next()[0]?.host;
    const [ip, trace, bare] = ["https://ip.test/#ip", "https://trace.test/#trace", "https://bare.test/#204"] as const;
    expect([first([ip, bare, trace]), first([ip, trace]), first([bare, ip])]).toEqual([
      "trace.test",
      "trace.test",
      "ip.test",
    ]);
  });

  it("asks directly once in a while only", async () => {
    let nowMs = 0;
    let asked = 0;
    const verifier = createVerifier(
      endpoints,
      createSecureContext,
      async () => ++asked > 1,
      () => nowMs,
    );
    const ask = () => verifier.answersDirectly(a ?? fail());
    expect(await Promise.all([ask(), ask()])).toEqual([false, false]);
    nowMs = 11_000;
    expect([await ask(), asked]).toEqual([true, 2]);
  });
});

function fail(): never {
  throw new Error("no endpoint");
}
