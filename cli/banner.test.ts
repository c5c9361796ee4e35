import { expect, it } from "vitest";
import { bannerOf } from "./banner.ts";

const SERVICE = {
  url: "http://127.0.0.1:8080",
  projectId: 1,
  keyFile: "/data/owner.key",
  firstKey: "uk1_secret",
  httpRefused: null,
};

it("shows the first key on a terminal, and the path of its file to whatever keeps its output", () => {
  expect(bannerOf(SERVICE, true)).toContain("Key (shown once, kept in /data/owner.key): uk1_secret\n");
  const kept = bannerOf(SERVICE, false);
  expect(kept).toContain("Key: kept in /data/owner.key\n");
  expect(kept).not.toContain("uk1_secret");
  expect(bannerOf({ ...SERVICE, firstKey: null }, true)).not.toContain("Key");
});

it("says where the API is, and what a browser can open", () => {
  expect(bannerOf(SERVICE, true)).toMatch(
    /^Sonde listens on http:\/\/127\.0\.0\.1:8080\/api\/v1\nIn a browser: http:\/\/127\.0\.0\.1:8080\/\n/,
  );
});

it("says why the API is not served as meant", () => {
  expect(bannerOf(SERVICE, true)).not.toContain("node:http");
  expect(bannerOf({ ...SERVICE, httpRefused: "it has another hash" }, true)).toContain(
    "Served by node:http: uWebSockets.js is not used (it has another hash)\n",
  );
});
