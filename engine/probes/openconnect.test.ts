import { X509Certificate } from "node:crypto";
import { createServer } from "node:tls";
import { afterEach, describe, expect, it } from "vitest";
import { makeAuthority, makeCertificate } from "../../demo/certificates.ts";
import { listen } from "../../demo/loopback.ts";
import {
  type OpenconnectServer,
  openOpenconnectServer,
  type ServerBehavior,
} from "../../demo/tunnels/openconnect-server.ts";
import { errorCategoryOf } from "../../model/verdict.ts";
import type { TunnelFields } from "../contract/tunnel.ts";
import { classify } from "../net/classify.ts";
import { encodeFrame, FRAME } from "../protocols/openconnect/cstp.ts";
import { pinsOf } from "../protocols/openconnect/pin.ts";
import { RECORDED } from "../protocols/openconnect/recorded.suite.ts";
import { closedPort, loopbackTransport, makeCheck, openTcpPeer, type Peer } from "../transport/peers.suite.ts";
import { openconnect } from "./openconnect.ts";

const probe = await openconnect.load();

const LOGIN = { username: "alice", password: "the password of alice" } as const;
const authority = makeAuthority();
const certificate = makeCertificate({ commonName: "vpn", names: ["vpn.test", "127.0.0.1"], issuer: authority });

let peers: (OpenconnectServer | Peer)[] = [];
afterEach(async () => {
  for (const peer of peers) await peer.close();
  peers = [];
});

async function serverWith(manners: Partial<ServerBehavior> = {}): Promise<OpenconnectServer> {
  const server = await openOpenconnectServer({ certificate, ...manners });
  peers.push(server);
  return server;
}

const transport = loopbackTransport({ tunnelTargets: ["icmp:1.1.1.1"] });

async function check(port: number, fields: Partial<TunnelFields> = {}, timeoutMs = 10_000) {
  const rig = makeCheck(transport);
  const context = { ...rig.context, deadlineAtMs: Date.now() + timeoutMs };
  const settings = openconnect.settings.parse({ host: "127.0.0.1", port, ...LOGIN, ca: authority.certPem, ...fields });
  const outcome = await probe
    .run(settings, context)
    .catch((error: unknown) => classify(error, rig.phases.at(-1) ?? null));
  const peerAnswered = ("peerAnswered" in outcome ? outcome.peerAnswered : undefined) ?? rig.answers > 0;
  expect(JSON.stringify(outcome)).not.toMatch(/the password of|AD8Zzq2U/);
  return { ...outcome, category: errorCategoryOf(outcome.verdict, "tunnel", peerAnswered), phases: rig.phases };
}

it.each([
  [true, "misconfigured", "The server wants a client certificate"],
  [false, "closed", "The server closed the connection instead of answering the login"],
])("closed after a handshake that asks for a certificate (%s): %s", async (requestCert, verdict, message) => {
  const options = { cert: certificate.certPem, key: certificate.keyPem, requestCert, rejectUnauthorized: false };
  const server = createServer(options, (socket) => {
    socket.on("error", () => {});
    socket.destroy();
  });
  const port = await listen(server);
  peers.push({ port, close: () => new Promise((resolve) => server.close(() => resolve())) });
  expect(await check(port)).toMatchObject({ verdict, message });
});

describe("an OpenConnect tunnel", () => {
  it("comes up, carries an echo and says goodbye: times are those of the contract", async () => {
    const server = await serverWith();
    const outcome = await check(server.port);
    expect(outcome).toEqual({
      verdict: "ok",
      category: null,
      latencyMs: expect.any(Number),
      connectMs: expect.any(Number),
      tunnel: {
        connectionTimeMs: outcome.verdict === "ok" ? outcome.connectMs : null,
        handshakeTimeMs: expect.any(Number),
        assignedIp: null,
        engineUsed: null,
      },
      phases: ["resolve", "handshake", "connect", "handshake", "request"],
    });
    expect(server.frames.at(-1)).toMatchObject({ type: FRAME.disconnect });
    expect(server.frames.at(-1)?.payload[0]).toBe(0xb0);
    expect(server.connections()).toBe(1);
  });

  it("comes up at a server that closes behind every answer", async () => {
    const server = await serverWith({ isForgetful: true });
    expect(await check(server.port)).toMatchObject({ verdict: "ok" });
    expect(server.connections()).toBe(4);
  });

  it("comes up behind a camouflage, whose secret is in the first request", async () => {
    const server = await serverWith({
      answer: ({ target, body }) =>
        body.includes('type="init"') && target !== "/?let-me-in" ? { head: "HTTP/1.1 401 No\r\n" } : undefined,
    });
    expect(await check(server.port, { host: "https://127.0.0.1/?let-me-in" })).toMatchObject({ verdict: "ok" });

    expect(await check(server.port)).toMatchObject({ verdict: "misconfigured", category: "config_error" });
  });

  it("answers the server's questions whether it is alive", async () => {
    const greets = [
      encodeFrame(FRAME.keepalive, Buffer.alloc(0)),
      encodeFrame(FRAME.dpdRequest, Buffer.from("alive?")),
    ];
    const server = await serverWith({ greets, waitsFor: FRAME.dpdResponse });
    expect(await check(server.port)).toMatchObject({ verdict: "ok" });
    expect(server.frames.find(({ type }) => type === FRAME.dpdResponse)?.payload.toString()).toBe("alive?");
  });

  it("goes where it is redirected, but nowhere that is forbidden", async () => {
    const second = await serverWith();
    const to = (place: string) => () => ({ head: `HTTP/1.1 302 Found\r\nLocation: ${place}\r\n` });
    const first = await serverWith({ answer: to(`https://127.0.0.1:${second.port}/`) });
    expect(await check(first.port)).toMatchObject({ verdict: "ok" });
    expect(first.heard.map(({ body }) => body.includes("alice"))).toEqual([false]);
    const toMetadata = await serverWith({ answer: to("https://169.254.169.254/") });
    expect(await check(toMetadata.port)).toMatchObject({ verdict: "misconfigured", category: "config_error" });
  });

  it("trusts a pin alone, and no other", async () => {
    const server = await serverWith();
    const [pin = ""] = pinsOf(new X509Certificate(certificate.certPem));
    expect(await check(server.port, { pin, ca: "" })).toMatchObject({ verdict: "ok" });
    const wrong = await check(server.port, { pin: `sha256:${"0".repeat(64)}` });
    expect(wrong).toMatchObject({ verdict: "cert-invalid", category: "cert_error", peer: pin });
    expect(server.heard.length).toBe(4);
  });

  it("tells nothing to a server whose certificate is not to be trusted", async () => {
    const server = await serverWith();
    const other = makeAuthority("another").certPem;
    expect(await check(server.port, { ca: other })).toMatchObject({
      verdict: "cert-invalid",
      category: "cert_error",
    });
    expect(await check(server.port, { host: "127.0.0.2", ip: "127.0.0.1" })).toMatchObject({
      verdict: "cert-invalid",
      message: expect.stringContaining("for another name than 127.0.0.2"),
    });
    expect(server.heard).toEqual([]);
  });

  it.each([
    ["at once", 0],
    ["in the middle of the login", 1],
    ["instead of the tunnel", 3],
  ])("that is closed %s is no tunnel", async (_, at) => {
    const server = await serverWith({ answer: (_request, nth) => (nth === at ? "close" : undefined) });
    expect(await check(server.port)).toMatchObject({ verdict: "closed", category: "server_not_connected" });
  });

  it.each([0, 1, 3])("that is silent from request %i on times out after an answer", async (at) => {
    const server = await serverWith({ answer: (_request, nth) => (nth === at ? "silence" : undefined) });
    const outcome = await check(server.port, {}, 600);
    expect(outcome).toMatchObject({ verdict: "timeout", category: "timeout" });
    expect(outcome.verdict === "timeout" && outcome.message).toMatch(/^The server does not answer the login/);
  });

  it("needs TLS and a listening server", async () => {
    const mute = await openTcpPeer();
    const plain = await openTcpPeer((socket) => socket.end("HTTP/1.1 400 Bad Request\r\n\r\n"));
    peers.push(mute, plain);
    const full = await openTcpPeer((socket) => socket.resetAndDestroy());
    peers.push(full);
    expect(await check(full.port)).toMatchObject({
      verdict: "closed",
      category: "server_not_connected",
      hint: expect.stringContaining("takes no more clients"),
    });
    expect(await check(mute.port, {}, 600)).toMatchObject({ verdict: "timeout", category: "server_not_connected" });
    expect(await check(plain.port)).toMatchObject({ verdict: "handshake-failed", category: "server_not_connected" });
    expect(await check(await closedPort())).toMatchObject({ verdict: "refused", category: "server_not_connected" });
  });

  it("is stuck when nothing comes back, and says why when the server does", async () => {
    const cut = await serverWith({ isCut: true });
    expect(await check(cut.port, {}, 1_500)).toMatchObject({
      verdict: "stuck",
      category: "internet_stuck",
      message: expect.stringContaining("nothing comes back"),
    });
    const bye = encodeFrame(FRAME.terminate, Buffer.from("idle timeout"));
    const ending = await serverWith({ isCut: true, greets: [bye] });
    expect(await check(ending.port, {}, 1_500)).toMatchObject({
      verdict: "stuck",
      message: expect.stringContaining("ended the tunnel"),
      peer: "idle timeout",
    });
    const broken = await serverWith({ isCut: true, greets: [Buffer.from("not a frame at all")] });
    expect(await check(broken.port, {}, 1_500)).toMatchObject({
      verdict: "protocol-error",
      message: expect.stringMatching(/^The tunnel cannot be read: .*CSTP/),
    });
  });

  it("that floods is left", async () => {
    const frame = encodeFrame(FRAME.keepalive, Buffer.alloc(65_000));
    const server = await serverWith({ isCut: true, greets: Array.from({ length: 140 }, () => frame) });
    expect(await check(server.port, {}, 3_000)).toMatchObject({
      verdict: "protocol-error",
      category: "server_not_connected",
      message: "The server floods this checker",
    });
  });

  it("is not made by what is no HTTP, or never ends", async () => {
    const noise = await serverWith({ answer: () => ({ head: "220 mail\r\n" }) });
    expect(await check(noise.port)).toMatchObject({ verdict: "protocol-error", category: "server_not_connected" });
    const flood = await serverWith({ answer: () => ({ head: "HTTP/1.1 200 OK\r\n", body: "<a>".repeat(200_000) }) });
    expect(await check(flood.port)).toMatchObject({ verdict: "protocol-error" });
  });

  it("gives a wrong password once", async () => {
    const server = await serverWith({
      answer: ({ body }) =>
        body.includes("<password>") ? { head: "HTTP/1.1 200 OK\r\n", body: RECORDED.failed } : undefined,
    });
    expect(await check(server.port)).toMatchObject({ verdict: "auth-failed", category: "auth_failed" });
    expect(server.heard.filter(({ body }) => body.includes("<password>")).length).toBe(1);
  });
});
