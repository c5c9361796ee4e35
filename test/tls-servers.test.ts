/** The kind `tls` against real servers: `openssl s_server` with TLS from the first byte, and PostgreSQL with TLS after its SSLRequest, and without. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { makeAuthority, makeCertificate } from "../demo/certificates.ts";
import type { Outcome } from "../engine/contract/probe.ts";
import { classify } from "../engine/net/classify.ts";
import { tls } from "../engine/probes/tls.ts";
import { loopbackTransport, makeCheck } from "../engine/transport/peers.suite.ts";
import { freePort } from "../testkit/free-port.ts";
import { temporaryFolder } from "../testkit/temporary-folder.ts";
import { describeWith, insteadOf } from "./prerequisites.ts";
import { isMissing } from "./servers/missing.ts";
import { startPostgres } from "./servers/postgres.ts";
import { type ServerProcess, startServer, untilReady } from "./servers/server.ts";

const authority = makeAuthority();
const leaf = makeCertificate({ commonName: "localhost", names: ["localhost"], issuer: authority });
const transport = loopbackTransport({ resolvers: [], extraCaPem: authority.certPem });

async function check(port: number, settings: Readonly<Record<string, unknown>> = {}): Promise<Outcome> {
  const { run } = await tls.load();
  try {
    const body = { host: "localhost", ip_version: "ipv4", port, ...settings };
    return await run(tls.settings.parse(body), makeCheck(transport).context);
  } catch (error) {
    return classify(error, "handshake");
  }
}

const SECURED = { verdict: "ok", certificate: { valid: true, expiresAtMs: expect.any(Number) } };

describeWith(["openssl"], "a server of openssl", () => {
  const folder = temporaryFolder();
  const servers: ServerProcess[] = [];
  beforeAll(() => {
    writeFileSync(join(folder, "cert.pem"), leaf.certPem);
    writeFileSync(join(folder, "key.pem"), leaf.keyPem, { mode: 0o600 });
  });
  afterAll(async () => {
    for (const server of servers) await server.stop("SIGKILL");
  });

  async function start(version: string): Promise<number> {
    const port = await freePort();
    const args = ["s_server", "-accept", `127.0.0.1:${port}`, "-cert", "cert.pem", "-key", "key.pem", "-www", version];
    const server = startServer("openssl", args, { cwd: folder });
    servers.push(server);
    await untilReady(server, async () => expect((await check(port)).verdict).toBe("ok"));
    return port;
  }

  it("is healthy, and its version of TLS is seen", async () => {
    const older = await start("-tls1_2");
    const newer = await start("-tls1_3");
    expect(await check(older, { min_version: "1.2" })).toMatchObject(SECURED);
    expect(await check(older, { min_version: "1.3" })).toMatchObject({
      verdict: "rejected",
      message: "The server chooses TLS 1.2, older than TLS 1.3",
    });
    expect(await check(newer, { min_version: "1.3" })).toMatchObject(SECURED);
    expect(await check(newer, { host: "127.0.0.1" })).toMatchObject({
      verdict: "cert-invalid",
      certificate: { valid: false },
    });
    expect(await check(newer, { starttls: "postgres" })).not.toMatchObject({ verdict: "ok" });
  });
});

const secure = await startPostgres([], leaf);
const plain = isMissing(secure) ? secure : await startPostgres();
if (isMissing(secure) || isMissing(plain)) {
  insteadOf("PostgreSQL's TLS", isMissing(plain) ? plain.missing : "no second server");
} else {
  describe("PostgreSQL", () => {
    afterAll(async () => {
      await secure.stop();
      await plain.stop();
    });

    it("is healthy with TLS after its SSLRequest", async () => {
      expect(await check(secure.port, { starttls: "postgres" })).toMatchObject(SECURED);
      expect(await check(secure.port, { starttls: "postgres", min_version: "1.3" })).toMatchObject(SECURED);
      expect(await check(secure.port, { starttls: "postgres", servername: "db.dev" })).toMatchObject({
        verdict: "cert-invalid",
        certificate: { valid: false },
      });
    });

    it("without TLS is rejected", async () => {
      expect(await check(plain.port, { starttls: "postgres" })).toMatchObject({
        verdict: "rejected",
        peer: "N: it offers no TLS",
      });
    });

    it("does not speak TLS from the first byte", async () => {
      expect((await check(secure.port)).verdict).not.toBe("ok");
    });
  });
}
