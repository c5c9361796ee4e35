import { expect, it } from "vitest";
import { bodyOf, isOptional, KIND_FIELDS, valuesOf } from "./monitor-fields.ts";

it("makes the API's body of what was written", () => {
  const values = { url: " https://a.test-site.org ", accepted_statuscodes: "200-299, 301", ssl_expiration: "7" };
  expect(bodyOf(KIND_FIELDS.http, values, false)).toEqual({
    url: "https://a.test-site.org",
    accepted_statuscodes: ["200-299", "301"],
    ssl_expiration: 7,
  });
});

it("leaves a wrong number to the API, which says what is wrong", () => {
  expect(bodyOf(KIND_FIELDS.port, { host: "a", port: "x" }, false)).toEqual({ host: "a", port: "x" });
});

it("takes away what was emptied, and keeps secrets that were not written anew", () => {
  expect(bodyOf(KIND_FIELDS.tls, { host: "a", port: "443", servername: "", ssl_expiration: "" }, true)).toEqual({
    host: "a",
    port: 443,
    servername: null,
    ssl_expiration: null,
  });
  expect(bodyOf(KIND_FIELDS.vpn, { protocol: "vless", url: "" }, true)).not.toHaveProperty("url");
});

it("makes headers of lines, and lines of headers; *** stays as it is", () => {
  const values = {
    url: "u",
    headers: "X-Api-Key: ***\n\n Accept : a/b:c \nX",
    body: " {} ",
    invert: "true",
    method: "POST",
  };
  expect(bodyOf(KIND_FIELDS.http, values, false)).toEqual({
    url: "u",
    headers: { "X-Api-Key": "***", Accept: "a/b:c", X: "" },
    body: " {} ",
    invert: true,
    method: "POST",
  });
  const shown = valuesOf(KIND_FIELDS.http, { headers: { A: "***", B: "***" }, body: null, verify_certificate: true });
  expect(shown).toMatchObject({ headers: "A: ***\nB: ***", body: "", verify_certificate: "true" });
  expect(bodyOf(KIND_FIELDS.http, { ...shown, headers: "", verify_certificate: "false" }, true)).toMatchObject({
    headers: null,
    verify_certificate: false,
  });
});

it("makes DNS records of lines, and lines of records; a comma belongs to its record", () => {
  const values = { domain: "d", record_type: "TXT", expected: " v=spf1 -all\n\na, b " };
  expect(bodyOf(KIND_FIELDS.dns, values, false)).toEqual({
    domain: "d",
    record_type: "TXT",
    expected: ["v=spf1 -all", "a, b"],
  });
  const shown = valuesOf(KIND_FIELDS.dns, { domain: "d", record_type: "MX", expected: ["10 a, b", "20 c"] });
  expect(shown).toMatchObject({ record_type: "MX", expected: "10 a, b\n20 c" });
  expect(bodyOf(KIND_FIELDS.dns, { ...shown, record_type: "", expected: "" }, true)).toMatchObject({
    record_type: null,
    expected: null,
  });
});

it("fills the form from a record", () => {
  expect(valuesOf(KIND_FIELDS.keyword, { url: "u", keyword: null, invert_keyword: true })).toMatchObject({
    url: "u",
    keyword: "",
    invert_keyword: "true",
  });
});

it("calls the host of a tunnel optional only where a link or a file says it", () => {
  const host = KIND_FIELDS.vpn.find(({ name }) => name === "host");
  expect(host).toBeDefined();
  if (host === undefined) return;
  expect(isOptional(host, {})).toBe(true);
  expect(isOptional(host, { protocol: "wireguard" })).toBe(true);
  expect(isOptional(host, { protocol: "ikev2" })).toBe(false);
  expect(isOptional(host, { protocol: "openconnect" })).toBe(false);
});
