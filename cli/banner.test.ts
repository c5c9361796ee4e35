import { expect, it } from "vitest";
import { bannerOf } from "./banner.ts";

const SERVICE = {
  url: "http://127.0.0.1:8080",
  projectId: 1,
  keyFile: "/data/owner.key",
  firstKey: "uk1_secret",
  signInCode: null,
};

const HERE = { host: "127.0.0.1", baseUrl: null };

it("says that it listens on every address, and asks for the one that others use", () => {
  const words = "It listens on every address of this machine: set SONDE_BASE_URL";
  for (const host of ["0.0.0.0", "::"]) {
    expect(bannerOf(SERVICE, { host, baseUrl: null }, false)).toContain(words);
    expect(bannerOf(SERVICE, { host, baseUrl: "https://sonde.test-site.org" }, false)).not.toContain(words);
  }
  expect(bannerOf(SERVICE, HERE, false)).not.toContain(words);
});

it("shows the first key on a terminal, and the path of its file to whatever keeps its output", () => {
  expect(bannerOf(SERVICE, HERE, true)).toContain("Key (shown once, kept in /data/owner.key): uk1_secret\n");
  const kept = bannerOf(SERVICE, HERE, false);
  expect(kept).toContain("Key: kept in /data/owner.key\n");
  expect(kept).not.toContain("uk1_secret");
  expect(bannerOf({ ...SERVICE, firstKey: null }, HERE, true)).not.toContain("Key");
});

it("has a link that signs in, on a terminal and in the demo", () => {
  const service = { ...SERVICE, signInCode: "c0de" };
  const words = "within ten minutes: http://127.0.0.1:8080/#/sign-in?code=c0de\n";
  expect(bannerOf(service, HERE, true)).toContain(words);
  expect(bannerOf(service, HERE, false, true)).toContain(words);
  expect(bannerOf(service, HERE, false)).not.toContain("c0de");
  expect(bannerOf(SERVICE, HERE, true)).not.toContain("sign-in");
});

it("says where the API is, and what a browser can open", () => {
  expect(bannerOf(SERVICE, HERE, true)).toMatch(
    /^Sonde listens on http:\/\/127\.0\.0\.1:8080\/api\/v1\nIn a browser: http:\/\/127\.0\.0\.1:8080\/\n/,
  );
});
