/** Certificates of the client, and servers whose certificate is not verified, against TLS servers on loopback. */
import { generateKeyPairSync } from "node:crypto";
import { createServer as createTls, type TLSSocket } from "node:tls";
import { describe, expect, it } from "vitest";
import { makeAuthority, makeCertificate } from "../../demo/certificates.ts";
import { listen } from "../../demo/loopback.ts";
import { http } from "../probes/http.ts";
import { authority, check, closers, page } from "./website.suite.ts";

const server = makeCertificate({ commonName: "web.rig", names: ["web.rig"], issuer: authority });
const clients = makeAuthority("Clients");
const client = makeCertificate({ commonName: "checker", names: ["checker"], issuer: clients });
const pair = { client_certificate: client.certPem, client_key: client.keyPem };
const url = "https://web.site/";

/** Says in its answer whose certificate it was shown. */
async function site(answer: (socket: TLSSocket) => string, certificate = server) {
  const shown: string[] = [];
  const listener = createTls(
    {
      cert: certificate.certPem,
      key: certificate.keyPem,
      ca: clients.certPem,
      requestCert: true,
      rejectUnauthorized: false,
      ALPNProtocols: ["http/1.1"],
    },
    (socket) => {
      socket.on("error", () => {});
      shown.push(String(socket.getPeerCertificate().subject?.CN ?? "none"));
      socket.once("data", () => socket.end(answer(socket)));
    },
  );
  listener.on("tlsClientError", () => {});
  const port = await listen(listener);
  closers.push(() => new Promise((resolve) => listener.close(resolve)));
  return { shown, url: `https://web.rig:${port}/` };
}

describe("client certificates", () => {
  const path = "node";
  it("are shown to the server that asks for one", async () => {
    const { shown, url } = await site((socket) =>
      socket.authorized ? page("x") : "HTTP/1.1 403 No\r\nContent-Length: 0\r\n\r\n",
    );
    expect((await check(path, { url, ...pair })).verdict).toBe("ok");
    expect((await check(path, { url })).verdict).toBe("rejected");
    expect(shown).toEqual(["checker", "none"]);
  });

  it("are not shown to another origin after a redirect", async () => {
    const other = await site(() => page("x"));
    const home = await site(() => `HTTP/1.1 302 Found\r\nLocation: ${other.url}\r\nContent-Length: 0\r\n\r\n`);
    expect((await check(path, { url: home.url, ...pair })).verdict).toBe("ok");
    expect([home.shown, other.shown]).toEqual([["checker"], ["none"]]);
  });

  it("of a server need not be valid where that is not asked, and are told all the same", async () => {
    const unknown = makeCertificate({ commonName: "other", names: ["other.rig"], issuer: makeAuthority("Unknown") });
    const { url } = await site(() => page("x"), unknown);
    expect((await check(path, { url })).verdict).toBe("cert-invalid");
    expect(await check(path, { url, verify_certificate: false })).toMatchObject({
      verdict: "ok",
      certificate: { valid: false },
    });
  });
});

describe("settings of client certificates", () => {
  const refusal = (body: object): string | null =>
    http.settings.safeParse({ url, ...body }).error?.issues[0]?.message ?? null;
  const large = generateKeyPairSync("rsa", { modulusLength: 4_224 }).privateKey.export({
    type: "pkcs8",
    format: "pem",
  });
  const locked = generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey.export({
    type: "pkcs8",
    format: "pem",
    cipher: "aes-256-cbc",
    passphrase: "x",
  });

  it("take a pair, and what is kept of one", () => {
    expect(refusal(pair)).toBeNull();
    expect(refusal({ client_certificate: "***", client_key: "***" })).toBeNull();
    expect(refusal({ ...pair, client_certificate: "***" })).toBeNull();
  });

  it.each([
    [{ client_key: client.keyPem }, "client_key needs client_certificate."],
    [{ client_certificate: client.certPem }, "client_certificate needs client_key."],
    [{ ...pair, url: "http://web.site/" }, "client_certificate needs an https URL."],
    [{ ...pair, client_certificate: "x" }, "client_certificate holds no certificate in PEM."],
    [{ ...pair, client_key: "x" }, "client_key cannot be read."],
    [{ ...pair, client_key: server.keyPem }, "client_key does not belong to client_certificate."],
    [{ ...pair, client_key: large }, "client_key holds an RSA key of more than 4,096 bits."],
    [{ ...pair, client_key: locked }, "client_key is encrypted; a checker cannot be asked for its password."],
    [
      { ...pair, client_key: "x".repeat(32_769) },
      "client_key must be a text in PEM of at most 32768 characters, or null.",
    ],
  ])("refuse what cannot be used: case %#", (body, message) => {
    expect(refusal(body)).toBe(message);
  });
});
