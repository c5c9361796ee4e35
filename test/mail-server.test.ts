/** The kind `smtp` against a real mail server, Exim: in the clear, with STARTTLS, and with TLS from the first byte. */
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { makeAuthority, makeCertificate } from "../demo/certificates.ts";
import type { Outcome } from "../engine/contract/probe.ts";
import { classify } from "../engine/net/classify.ts";
import { smtp } from "../engine/probes/smtp.ts";
import { loopbackTransport, makeCheck } from "../engine/transport/peers.suite.ts";
import { freePort } from "../testkit/free-port.ts";
import { temporaryFolder } from "../testkit/temporary-folder.ts";
import { describeWith } from "./prerequisites.ts";
import { type ServerProcess, startServer, untilReady } from "./servers/server.ts";

const authority = makeAuthority();
const leaf = makeCertificate({ commonName: "localhost", names: ["localhost"], issuer: authority, rsaBits: 2_048 });
const transport = loopbackTransport({ resolvers: [], extraCaPem: authority.certPem });

describeWith(["Exim"], "a real mail server", () => {
  const folder = temporaryFolder();
  const ports = { clear: 0, offered: 0, tls: 0 };
  let server: ServerProcess;

  beforeAll(async () => {
    for (const name of ["clear", "offered", "tls"] as const) ports[name] = await freePort();
    writeFileSync(join(folder, "cert.pem"), leaf.certPem);
    writeFileSync(join(folder, "key.pem"), leaf.keyPem);
    mkdirSync(join(folder, "spool"));
    // As root Exim serves as a user of its own, who must reach its files.
    for (const name of ["", "spool"]) chmodSync(join(folder, name), 0o777);
    const lines = [
      "primary_hostname = mail.test",
      `spool_directory = ${folder}/spool`,
      `log_file_path = ${folder}/spool/%slog`,
      `pid_file_path = ${folder}/spool/pid`,
      "local_interfaces = 127.0.0.1",
      `daemon_smtp_ports = ${Object.values(ports).join(" : ")}`,
      `tls_on_connect_ports = ${ports.tls}`,
      `tls_advertise_hosts = \${if eq{$received_port}{${ports.clear}}{}{*}}`,
      `tls_certificate = ${folder}/cert.pem`,
      `tls_privatekey = ${folder}/key.pem`,
      "keep_environment =",
      "host_lookup =",
      "rfc1413_query_timeout = 0s",
    ];
    writeFileSync(join(folder, "exim.conf"), `${lines.join("\n")}\n`);
    server = startServer("exim4", ["-bdf", "-C", join(folder, "exim.conf")], { cwd: folder });
    await untilReady(server, async () => expect((await check("clear", "none")).verdict).toBe("ok"));
  });
  afterAll(async () => {
    await server?.stop("SIGKILL");
  });

  async function check(name: keyof typeof ports, security: string, more = {}): Promise<Outcome> {
    const { run } = await smtp.load();
    const settings = { host: "localhost", ip_version: "ipv4", port: ports[name], security, ...more };
    try {
      return await run(smtp.settings.parse(settings), makeCheck(transport).context);
    } catch (error) {
      return classify(error, "request");
    }
  }
  const secured = { verdict: "ok", certificate: { valid: true, expiresAtMs: expect.any(Number) } };

  it("is healthy in the clear, with STARTTLS and with TLS from the first byte", async () => {
    expect(await check("clear", "auto")).toMatchObject({ verdict: "ok", certificate: null });
    expect(await check("offered", "none")).toMatchObject({ verdict: "ok", certificate: null });
    expect(await check("offered", "auto")).toMatchObject(secured);
    expect(await check("offered", "starttls")).toMatchObject(secured);
    expect(await check("tls", "tls")).toMatchObject(secured);
  });

  it("that offers no STARTTLS is refused where it is required", async () => {
    expect(await check("clear", "starttls")).toMatchObject({ verdict: "rejected" });
  });

  it("is judged by what it says", async () => {
    expect(await check("offered", "auto", { keyword: "mail.test" })).toMatchObject({ verdict: "ok" });
    expect(await check("offered", "auto", { keyword: "Postfix" })).toMatchObject({ verdict: "rejected" });
  });

  it("with a certificate for another name is refused, unless that is allowed", async () => {
    expect(await check("offered", "auto", { host: "127.0.0.1" })).toMatchObject({ verdict: "cert-invalid" });
    expect(await check("offered", "auto", { host: "127.0.0.1", verify_certificate: false })).toMatchObject({
      verdict: "ok",
      certificate: { valid: false },
    });
  });
});
