import { randomBytes, X509Certificate } from "node:crypto";
import { createSecureContext, type SecureContext } from "node:tls";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { makeAuthority, makeCertificate } from "../../demo/certificates.ts";
import type { LoginServer, ServerFlight } from "../../demo/tunnels/ikev2-gateway.ts";
import { NetworkFault } from "../net/fault.ts";
import type { TlsFlight } from "../protocols/ikev2/eap.ts";
import { WATCHED_TLS } from "../transport/tls-bounds.ts";
import { openLoginServer } from "./eap-tls-server.suite.ts";
import { EapTlsSession } from "./eap-tls-session.ts";

const authority = makeAuthority();
const between = makeCertificate({ commonName: "between", issuer: authority, ca: true });
const certificate = makeCertificate({ commonName: "login", names: ["login.test"], issuer: between });
const rsa = makeCertificate({ commonName: "login", names: ["login.test"], issuer: authority, rsaBits: 2_048 });
const client = makeCertificate({ commonName: "client", issuer: authority });
const unknownClient = makeCertificate({ commonName: "client", issuer: makeAuthority("another") });

const contextOf = ({ certPem, keyPem }: typeof client): SecureContext =>
  createSecureContext({ ...WATCHED_TLS, ca: [], minVersion: "TLSv1.2", cert: certPem, key: keyPem });

function turnOf(session: EapTlsSession, records: Buffer): Promise<TlsFlight> {
  return new Promise((resolve, reject) => {
    session.turn(records, (result) => (result instanceof Error ? reject(result) : resolve(result)));
  });
}

function answerOf(server: LoginServer, records: Buffer): Promise<ServerFlight | null> {
  return new Promise((resolve) => server.turn(records, resolve));
}

/** Turns of both sides until nothing more is said. */
async function talk(session: EapTlsSession, server: LoginServer) {
  let flight = await turnOf(session, Buffer.alloc(0));
  let turns = 1;
  for (; flight.records.length > 0; turns++) {
    const answer = await answerOf(server, flight.records);
    if (answer === null) return { turns, refused: true } as const;
    if (answer.records.length === 0) return { turns, flight, key: answer.masterSessionKey } as const;
    flight = await turnOf(session, answer.records);
    if (flight.records.length === 0) return { turns, flight, key: answer.masterSessionKey } as const;
  }
  return expect.fail("TLS said nothing");
}

describe("TLS within an EAP login", () => {
  it.each([
    ["TLS 1.2", "TLSv1.2", certificate, undefined],
    ["TLS 1.3", "TLSv1.3", certificate, undefined],
    ["TLS 1.2 over a group of the server's choice", "TLSv1.2", rsa, "DHE-RSA-AES128-GCM-SHA256"],
  ] as const)(
    "comes up by %s: both sides have one key, and the server's whole chain is told",
    async (_name, version, leaf, ciphers) => {
      const session = new EapTlsSession(contextOf(client));
      const chain = leaf === certificate ? [between] : [];
      const server = openLoginServer({
        certificate: leaf,
        chain,
        clientCa: authority.certPem,
        version,
        ...(ciphers !== undefined && { ciphers }),
      });
      const ended = await talk(session, server);
      session.close();
      expect(ended.flight?.secured?.masterSessionKey).toHaveLength(64);
      expect(ended.key).toEqual(ended.flight?.secured?.masterSessionKey);
      // A server may send its authority as well.
      const sent = [leaf, ...chain].map(({ certPem }) => new X509Certificate(certPem).raw);
      expect(ended.flight?.secured?.chain.slice(0, sent.length)).toEqual(sent);
    },
  );

  it("with a chain of a hundred certificates tells the first sixteen", async () => {
    const session = new EapTlsSession(contextOf(client));
    const chain = Array.from({ length: 100 }, () => between);
    const ended = await talk(session, openLoginServer({ certificate, chain, clientCa: authority.certPem }));
    session.close();
    expect(ended.flight?.secured?.chain.length).toBeLessThanOrEqual(16);
  });

  it("is refused to a client that the server does not know", async () => {
    const session = new EapTlsSession(contextOf(unknownClient));
    const ended = await talk(
      session,
      openLoginServer({ certificate, clientCa: authority.certPem, version: "TLSv1.2" }),
    );
    session.close();
    expect(ended).toMatchObject({ refused: true });
  });

  it.each([
    ["unknown ca", 48, "auth-failed", "The login server refused our certificate: unknown ca"],
    ["access denied", 49, "auth-failed", "The login server refused our certificate: access denied"],
    ["handshake failure", 40, "misconfigured", "The login server and we have no TLS in common: handshake failure"],
  ])("says what an alert means: %s", async (_name, alert, verdict, message) => {
    const session = new EapTlsSession(contextOf(client));
    await turnOf(session, Buffer.alloc(0));
    const fault = await turnOf(session, Buffer.from([21, 3, 3, 0, 2, 2, alert])).catch((error: unknown) => error);
    session.close();
    expect(fault).toBeInstanceOf(NetworkFault);
    expect(fault).toMatchObject({ verdict, message });
  });

  it("says nothing more once it is closed", async () => {
    const session = new EapTlsSession(contextOf(client));
    let heard = 0;
    session.turn(Buffer.alloc(0), () => heard++);
    session.close();
    for (let rounds = 0; rounds < 20; rounds++) await new Promise((resolve) => setImmediate(resolve));
    expect(heard).toBe(0);
  });

  it("ends in a flight or in a fault, whatever the server says", async () => {
    const context = contextOf(client);
    const foreign = fc.oneof(
      fc.uint8Array({ minLength: 1, maxLength: 400 }),
      // A record of the handshake, or another one, with anything in it.
      fc
        .tuple(fc.constantFrom(20, 21, 22, 23), fc.uint8Array({ minLength: 1, maxLength: 400 }))
        .map(([type, content]) => Buffer.from([type, 3, 3, content.length >> 8, content.length & 0xff, ...content])),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(foreign, { minLength: 1, maxLength: 3 }), async (answers) => {
        const session = new EapTlsSession(context);
        expect((await turnOf(session, Buffer.alloc(0))).records.length).toBeGreaterThan(100);
        try {
          for (const answer of answers) expect((await turnOf(session, Buffer.from(answer))).secured).toBeNull();
        } catch (error) {
          if (!(error instanceof Error) || error.name === "AssertionError") throw error;
        } finally {
          session.close();
        }
      }),
      { numRuns: 100 },
    );
  });

  it("refuses a group that would hold the thread", async () => {
    const session = new EapTlsSession(contextOf(client));
    await turnOf(session, Buffer.alloc(0));
    const prime = randomBytes(1_024);
    const part = (bytes: Buffer): Buffer =>
      Buffer.concat([Buffer.from([bytes.length >> 8, bytes.length & 0xff]), bytes]);
    const body = Buffer.concat([part(prime), part(Buffer.from([2])), part(prime)]);
    const message = Buffer.concat([Buffer.from([12, 0, body.length >> 8, body.length & 0xff]), body]);
    const record = Buffer.concat([Buffer.from([22, 3, 3, message.length >> 8, message.length & 0xff]), message]);
    const fault = await turnOf(session, record).catch((error: unknown) => error);
    session.close();
    expect(fault).toMatchObject({ verdict: "handshake-failed", message: expect.stringContaining("Diffie-Hellman") });
  });
});
