/** The page's files as they are served: compressed twins, caches, headers, and nothing from outside the folder. */
import { mkdirSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { connect } from "node:net";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { brotliCompressSync, brotliDecompressSync, gunzipSync, gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { SECURITY_HEADERS } from "../../api/security-headers.ts";
import { temporaryFolder } from "../temporary-folder.ts";
import { byName } from "./contract.suite.ts";
import { openWorld, type World } from "./world.suite.ts";

const INDEX = "<!doctype html><title>Sonde</title><script type=module src=./assets/index-1a2b.js></script>";
const SCRIPT = `console.log("${"page ".repeat(1_000)}")`;

export function siteSuite(server: "net" | "node"): void {
  describe("the page", () => {
    let folder = "";
    let world: World;
    const get = (path: string, headers: Record<string, string> = {}, method = "GET") =>
      world.send(method, path, { key: null, project: null, headers });
    beforeAll(async () => {
      folder = temporaryFolder();
      mkdirSync(join(folder, "web/assets"), { recursive: true });
      const write = (name: string, bytes: string | Uint8Array) => writeFileSync(join(folder, "web", name), bytes);
      write("index.html", INDEX);
      write("assets/index-1a2b.js", SCRIPT);
      write("assets/index-1a2b.js.br", brotliCompressSync(SCRIPT));
      write("assets/index-1a2b.js.gz", gzipSync(SCRIPT));
      write("assets/look-3c4d.css", "a{}");
      write("assets/notes.txt", "not of the page");
      writeFileSync(join(folder, "secret.js"), "secret");
      world = await openWorld(server, { hasPage: true, siteFolder: join(folder, "web") });
    });
    afterAll(async () => {
      await world.close();
    });

    it("is one document, asked for again each time", async () => {
      const answer = await get("/");
      expect(answer).toMatchObject({ status: 200, text: INDEX });
      expect(answer.headers).toMatchObject({
        "content-type": "text/html; charset=utf-8",
        "cache-control": "no-cache",
        vary: "Accept-Encoding",
        ...byName(SECURITY_HEADERS),
      });
      const again = await get("/", { "if-none-match": answer.headers.etag ?? "" });
      expect(again).toMatchObject({ status: 304, text: "" });
      expect(again.headers).toMatchObject({ etag: answer.headers.etag, ...byName(SECURITY_HEADERS) });
      expect(again.headers["content-type"]).toBeUndefined();
      expect(await get("/", {}, "HEAD")).toMatchObject({ status: 200, text: "" });
      expect((await get("/", {}, "POST")).status).toBe(405);
      expect((await get("/?a=1")).status).toBe(200);
    });

    it("has files that may be kept for ever, compressed where the caller takes it", async () => {
      const bytesOf = async (codings: string) => {
        const response = await fetch(`http://127.0.0.1:${world.api.port}/assets/index-1a2b.js`, {
          headers: { "accept-encoding": codings },
          method: "HEAD",
        });
        return response.headers;
      };
      const plain = await get("/assets/index-1a2b.js");
      expect(plain.text).toBe(SCRIPT);
      expect(plain.headers).toMatchObject({
        "content-type": "text/javascript; charset=utf-8",
        "cache-control": "public, max-age=31536000, immutable",
        "x-content-type-options": "nosniff",
      });
      expect((await bytesOf("gzip, deflate, br")).get("content-encoding")).toBe("br");
      expect((await bytesOf("gzip, br;q=0")).get("content-encoding")).toBe("gzip");
      expect((await bytesOf("identity")).get("content-encoding")).toBeNull();
      expect(
        (await get("/assets/look-3c4d.css", { "accept-encoding": "br" })).headers["content-encoding"],
      ).toBeUndefined();
      for (const [codings, unpack] of [
        ["br", brotliDecompressSync],
        ["gzip", gunzipSync],
      ] as const) {
        expect(unpack(await rawBody(world.api.port, codings)).toString()).toBe(SCRIPT);
      }
      const tag = plain.headers.etag ?? "";
      expect(await get("/assets/index-1a2b.js", { "if-none-match": tag })).toMatchObject({ status: 304, text: "" });
    });

    it.each([
      "/assets/",
      "/assets",
      "/assets/none.js",
      "/assets/notes.txt",
      "/assets/index-1a2b.js.br",
      "/assets/..%2fsecret.js",
      "/assets/..%2f..%2fsecret.js",
      "/assets/%2e%2e%2findex.html",
      "/assets/..\\..\\secret.js",
      "/assets/__proto__",
      "/assets/constructor",
      "/index.html",
      "/secret.js",
      "/monitors",
      "/favicon.ico",
    ])("answers 404 at %s", async (path) => {
      const answer = await get(path);
      expect(answer.body).toEqual({ error: true, code: 404, message: "Not found" });
    });

    it("says the same of itself with refusals and answers of the API", async () => {
      for (const path of ["/api/v1/servers", "/api/v1/health", "/api/v1/nowhere", "/api/push/x", "/openapi.json"]) {
        expect((await get(path)).headers).toMatchObject(byName(SECURITY_HEADERS));
      }
      expect((await world.send("GET", "/api/v1/servers")).headers).toMatchObject(byName(SECURITY_HEADERS));
      const malformed = await sent(world.api.port, "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n");
      expect(malformed).toMatch(/^HTTP\/1\.1 400 /);
      expect(malformed).toMatch(/\r\ncontent-security-policy: default-src 'none'; script-src 'self'; /i);
    });

    it("leaves the reference page its own policy", async () => {
      const { headers } = await get("/docs");
      expect(headers["content-security-policy"]).toBe(
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
      );
      expect(headers["referrer-policy"]).toBe("no-referrer");
      const known = await get("/docs", { "if-none-match": headers.etag ?? "" });
      expect(known.status).toBe(304);
      expect(known.headers["content-security-policy"]).toBe(headers["content-security-policy"]);
    });

    it.each([
      ["was not built", true, "nowhere"],
      ["is switched off", false, "web"],
    ])("leads to the reference where it %s", async (_, hasPage, name) => {
      const without = await openWorld(server, { hasPage, siteFolder: join(folder, name) });
      const answer = await without.send("GET", "/", { key: null });
      expect([answer.status, answer.headers.location]).toEqual([302, "docs"]);
      expect((await without.send("GET", "/assets/index-1a2b.js", { key: null })).status).toBe(404);
      await without.close();
    });
  });
}

/** @returns what comes back until the connection ends */
function sent(port: number, request: string): Promise<string> {
  return new Promise((settle, fail) => {
    const socket = connect(port, "127.0.0.1", () => socket.write(request));
    let text = "";
    socket.setEncoding("latin1");
    socket.on("data", (chunk: string) => {
      text += chunk;
    });
    socket.on("error", fail);
    socket.on("close", () => settle(text));
  });
}

function rawBody(port: number, codings: string): Promise<Buffer> {
  return new Promise((settle, fail) => {
    const asked = request(
      { host: "127.0.0.1", port, path: "/assets/index-1a2b.js", headers: { "accept-encoding": codings } },
      (incoming) => buffer(incoming).then(settle, fail),
    );
    asked.on("error", fail);
    asked.end();
  });
}
