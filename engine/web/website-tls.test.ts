import { createServer as createHttp2, createSecureServer } from "node:http2";
import { createServer, type Server } from "node:net";
import { createServer as createTls } from "node:tls";
import { describe, expect, it } from "vitest";
import { type MadeCertificate, makeAuthority, makeCertificate } from "../../demo/certificates.ts";
import { listen } from "../../demo/loopback.ts";
import { authority, check, closers, fixed, page, raw } from "./website.suite.ts";

describe("website check over TLS", () => {
  const path = "node";
  describe("certificates", () => {
    const DAY_MS = 86_400_000;
    const good = makeCertificate({
      commonName: "web.rig",
      names: ["web.rig", "127.0.0.1", "xn--bcher-kva.rig"],
      issuer: authority,
    });

    async function secure(
      certificate: MadeCertificate,
      seen: { servername?: string | false | null } = {},
    ): Promise<number> {
      const server = createTls(
        { cert: certificate.certPem, key: certificate.keyPem, ALPNProtocols: ["http/1.1"] },
        (socket) => {
          seen.servername = socket.servername;
          socket.on("error", () => {});
          socket.once("data", () => socket.end(page("secret word")));
        },
      );
      server.on("tlsClientError", () => {});
      const port = await listen(server);
      closers.push(() => new Promise((resolve) => server.close(resolve)));
      return port;
    }

    it("reports a valid one", async () => {
      const expiresAtMs = Math.floor(Date.now() / 1000) * 1000 + 9 * DAY_MS;
      const port = await secure(
        makeCertificate({ commonName: "web.rig", names: ["web.rig"], issuer: authority, notAfterMs: expiresAtMs }),
      );
      const outcome = await check(path, { url: `https://web.rig:${port}/`, keyword: "secret word" });
      expect(outcome).toMatchObject({ verdict: "ok", certificate: { valid: true, expiresAtMs } });
      expect(outcome.phases).toEqual(["resolve", "connect", "handshake", "request", "transfer"]);
    });

    it.each([
      [
        "expired",
        {
          notBeforeMs: Date.now() - 9 * DAY_MS,
          notAfterMs: Date.now() - DAY_MS,
          issuer: authority,
          names: ["web.rig"],
        },
        /^The certificate has expired: \w{3} +\d+ [\d:]{8} \d{4} GMT$/,
      ],
      [
        "not valid yet",
        { notBeforeMs: Date.now() + DAY_MS, issuer: authority, names: ["web.rig"] },
        /^The certificate is not valid yet: \w{3} +\d+ [\d:]{8} \d{4} GMT$/,
      ],
      [
        "for another name",
        { issuer: authority, names: ["other.rig"] },
        /^The certificate is for another name than web\.rig$/,
      ],
      ["self-signed", { names: ["web.rig"] }, /^The certificate is self-signed$/],
      [
        "of an unknown authority",
        { issuer: makeAuthority("Someone else"), names: ["web.rig"] },
        /^The certificate cannot be verified/,
      ],
    ])("calls one %s invalid", async (_name, options, message) => {
      const port = await secure(makeCertificate({ commonName: "web.rig", ...options }));
      const outcome = await check(path, { url: `https://web.rig:${port}/` });
      expect(outcome).toMatchObject({ verdict: "cert-invalid", certificate: { valid: false } });
      expect(outcome.message).toMatch(message);
      if (outcome.message?.includes("another name") === true) expect(outcome.peer).toBe("DNS:other.rig");
      expect(outcome.certificate?.expiresAtMs).toBeGreaterThan(0);
    });

    it("sends names as SNI, without a final dot, and no literals", async () => {
      const seen: { servername?: string | false | null } = {};
      const port = await secure(good, seen);
      for (const [host, servername] of [
        ["web.rig", "web.rig"],
        ["web.rig.", "web.rig"],
        ["b\u00fccher.rig", "xn--bcher-kva.rig"],
        ["127.0.0.1", false],
      ] as const) {
        expect((await check(path, { url: `https://${host}:${port}/` })).verdict).toBe("ok");
        expect(seen.servername).toBe(servername);
      }
    });

    it("keeps the facts of the monitor's own host after a redirect to another, and says whose is invalid", async () => {
      const elsewhere = await secure(makeCertificate({ commonName: "other.rig", names: ["other.rig"] }));
      const server = createTls({ cert: good.certPem, key: good.keyPem }, (socket) => {
        socket.on("error", () => {});
        socket.once("data", () =>
          socket.end(`HTTP/1.1 301 Moved\r\nLocation: https://other.rig:${elsewhere}/\r\n\r\n`),
        );
      });
      const port = await listen(server);
      closers.push(() => new Promise((resolve) => server.close(resolve)));
      expect(await check(path, { url: `https://web.rig:${port}/` })).toMatchObject({
        verdict: "cert-invalid",
        message: `After a redirect to https://other.rig:${elsewhere}/: The certificate is self-signed`,
        certificate: { valid: true },
      });
    });

    it("sees the certificate after a redirect from http to https of the same host", async () => {
      const port = await secure(good);
      const plain = await raw((socket) =>
        socket.end(`HTTP/1.1 301 Moved\r\nLocation: https://web.rig:${port}/\r\n\r\n`),
      );
      expect(await check(path, { url: `http://web.rig:${plain.port}/` })).toMatchObject({
        verdict: "ok",
        certificate: { valid: true },
      });
    });

    it("follows a redirect from https to http", async () => {
      const plain = await fixed(page("plain"));
      const server = createTls({ cert: good.certPem, key: good.keyPem }, (socket) => {
        socket.on("error", () => {});
        socket.once("data", () => socket.end(`HTTP/1.1 301 Moved\r\nLocation: http://web.rig:${plain.port}/\r\n\r\n`));
      });
      const port = await listen(server);
      closers.push(() => new Promise((resolve) => server.close(resolve)));
      expect(await check(path, { url: `https://web.rig:${port}/`, keyword: "plain" })).toMatchObject({
        verdict: "ok",
        certificate: { valid: true },
      });
    });

    it.each([
      "HTTP/1.1 400 Bad Request\r\n\r\n",
      "SSH-2.0-x\r\n",
      "\u0016\u0003\u0003\u0000\u0004\u000e\u0000\u0000\u0000",
    ])("calls %j instead of TLS a failed handshake", async (bytes) => {
      const talker = createServer((socket) => {
        socket.on("error", () => {});
        socket.resume().end(Buffer.from(bytes, "latin1"));
      });
      const port = await listen(talker);
      closers.push(() => new Promise((resolve) => talker.close(resolve)));
      expect(await check(path, { url: `https://web.rig:${port}/` })).toMatchObject({ verdict: "handshake-failed" });
    });

    it("reads the page of a server that knows no key exchange but DHE, and ends with it", async () => {
      const old = makeCertificate({ commonName: "web.rig", names: ["web.rig"], issuer: authority, rsaBits: 2_048 });
      const dhe = { ciphers: "DHE-RSA-AES128-GCM-SHA256", dhparam: "auto", maxVersion: "TLSv1.2" } as const;
      const server = createTls({ cert: old.certPem, key: old.keyPem, ...dhe }, (socket) => {
        socket.on("error", () => {});
        // Without a length: the answer ends with the connection.
        socket.once("data", () => socket.end(`HTTP/1.1 200 OK\r\n\r\n${"page ".repeat(60_000)}secret word`));
      });
      const port = await listen(server);
      closers.push(() => new Promise((resolve) => server.close(resolve)));
      const outcome = await check(path, { url: `https://web.rig:${port}/`, keyword: "secret word" });
      expect(outcome).toMatchObject({ verdict: "ok", certificate: { valid: true } });
      const twice = ["connect", "handshake", "connect", "handshake"];
      expect(outcome.phases).toEqual(["resolve", ...twice, "request", "transfer"]);
    });

    it("talks HTTP/2 to a server that insists, and only then", async () => {
      const both = createSecureServer(
        { cert: good.certPem, key: good.keyPem, allowHTTP1: true },
        (request, response) => {
          response.end(`version ${request.httpVersion}`);
        },
      );
      const only = createTls({ cert: good.certPem, key: good.keyPem, ALPNProtocols: ["h2"] });
      const session = createHttp2((request, response) => {
        if (request.url === "/reset") response.stream.close(8);
        else if (request.url === "/half") {
          response.write("half");
          setImmediate(() => response.stream.close(2));
        } else if (request.url === "/away") response.writeHead(302, { location: "/" }).end();
        else response.end(`version ${request.httpVersion}, host ${request.authority}`);
      });
      only.on("secureConnection", (socket) => session.emit("connection", socket));
      only.on("tlsClientError", () => {});
      const [bothPort, onlyPort] = [await listen(both as unknown as Server), await listen(only)];
      closers.push(
        () => new Promise((resolve) => both.close(resolve)),
        () => new Promise((resolve) => only.close(resolve)),
      );
      expect(await check(path, { url: `https://web.rig:${bothPort}/`, keyword: "version 1.1" })).toMatchObject({
        verdict: "ok",
      });
      expect(
        await check(path, {
          url: `https://web.rig:${onlyPort}/away`,
          keyword: `version 2.0, host web.rig:${onlyPort}`,
        }),
      ).toMatchObject({
        verdict: "ok",
        certificate: { valid: true },
      });
      for (const url of ["reset", "half"].map((name) => `https://web.rig:${onlyPort}/${name}`))
        expect((await check(path, { url, keyword: "x" })).verdict).toBe("closed");
    });
  });
});
