import { once } from "node:events";
import { createServer, type TLSSocket, connect as tlsConnect } from "node:tls";
import { afterAll, beforeAll, expect, it } from "vitest";
import { makeAuthority, makeCertificate } from "../../demo/certificates.ts";
import { listen } from "../../demo/loopback.ts";
import { readLeafOnly } from "../transport/leaf-only.ts";
import { peerCertificateOf } from "./peer-certificates.ts";

const authority = makeAuthority();
const certificate = makeCertificate({ commonName: "tls.rig", names: ["tls.rig"], issuer: authority });
const server = createServer({ cert: `${certificate.certPem}${authority.certPem}`, key: certificate.keyPem });
server.on("tlsClientError", () => {});
server.on("secureConnection", (socket) => socket.on("error", () => {}));

let port = 0;
beforeAll(async () => {
  port = await listen(server);
});
afterAll(() => new Promise((resolve) => server.close(resolve)));

async function dial(servername: string): Promise<TLSSocket> {
  const options = { host: "127.0.0.1", port, ca: authority.certPem, servername, rejectUnauthorized: false };
  const socket = tlsConnect(options);
  readLeafOnly(socket);
  await once(socket, "secureConnect");
  return socket;
}

it("reads a certificate once for all connections that meet it", async () => {
  const [one, other] = await Promise.all([dial("tls.rig"), dial("tls.rig")]);
  const found = peerCertificateOf(one);
  expect(found?.subject).toBe("CN=tls.rig");
  expect(peerCertificateOf(other)).toBe(found);
  for (const socket of [one, other]) socket.destroy();
});

it("leaves the check of the name and the answer to a request for the chain unchanged", async () => {
  const [right, wrong] = await Promise.all([dial("tls.rig"), dial("other.rig")]);
  expect(right.authorized).toBe(true);
  expect(wrong.authorized).toBe(false);
  expect(String(wrong.authorizationError)).toBe("ERR_TLS_CERT_ALTNAME_INVALID");
  expect(right.getPeerCertificate(true).issuerCertificate.subject.CN).toBe(authority.commonName);
  for (const socket of [right, wrong]) socket.destroy();
});
