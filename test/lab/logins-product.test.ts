/** OpenVPN and OpenConnect through the whole product, against real servers: one-off checks, monitors on schedule, tests; and no secret left. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { temporaryFolder } from "../../testkit/temporary-folder.ts";
import { clientOf, type TestClient } from "../client.ts";
import { describeWith } from "../prerequisites.ts";
import { type ServerProcess, startServer } from "../servers/server.ts";
import { cleanUp, type RunningService, startService } from "../service.ts";
import { INTERNET, LOGIN as OPENCONNECT_LOGIN, openVpnServer, PORT, type VpnServer } from "./ocserv.ts";
import { type LabKeys, makeLabKeys, LOGIN as OPENVPN_LOGIN, SERVERS, startOpenvpnServer } from "./openvpn-servers.ts";
import { leaksOf } from "./secrets.ts";

const WRONG = "a wrong p@ssword & of another user";
const OPENVPN_SERVER = "tls-crypt";

describeWith(["network namespaces", "ocserv", "openvpn", "nft"], "tunnels with logins in the product", () => {
  const folder = temporaryFolder();
  const answers: unknown[] = [];
  let server: VpnServer;
  let keys: LabKeys;
  let openvpn: ServerProcess | undefined;
  let service: RunningService;
  let client: TestClient;

  beforeAll(async () => {
    server = await openVpnServer();
    keys = makeLabKeys(folder);
    const begin = (...command: readonly string[]) => {
      const [program = "ip", ...args] = server.namespace.within(command);
      openvpn = startServer(program, args, { cwd: folder });
      return openvpn.child;
    };
    await startOpenvpnServer(begin, folder, { name: OPENVPN_SERVER, index: 0, said: [] });
    service = await startService({
      env: {
        SONDE_ALLOW_NETS: "10.201.0.0/16",
        SONDE_TUNNEL_TARGETS: `icmp:${INTERNET}`,
        SONDE_CANARIES: "",
        SONDE_RESOLVERS: "127.0.0.1:1",
        // The most that it can say.
        SONDE_LOG: "trace",
      },
    });
    client = clientOf(service.url, service.firstKey ?? "");
  }, 240_000);
  afterAll(async () => {
    await service?.stop();
    await cleanUp();
    await openvpn?.stop("SIGKILL");
    await server?.close();
  });

  const orders = {
    openconnect: () => ({
      protocol: "openconnect",
      host: server.namespace.serverIp,
      port: PORT.password,
      ...OPENCONNECT_LOGIN,
      ca: server.authority.pem,
    }),
    openvpn: () => ({
      protocol: "openvpn",
      ...OPENVPN_LOGIN,
      config: [
        "client",
        `remote ${server.namespace.serverIp} ${SERVERS[OPENVPN_SERVER].port}`,
        "auth-user-pass",
        `<ca>\n${keys.authority.pem}</ca>`,
        `<tls-crypt>\n${keys.text("crypt.key")}</tls-crypt>`,
        "",
      ].join("\n"),
    }),
  } as const;

  it.each(["openconnect", "openvpn"] as const)(
    "a one-off check of %s says what the contract says",
    async (protocol) => {
      const order = orders[protocol]();
      const good = await client.post("/check", order);
      expect(good).toMatchObject({
        status: 200,
        body: {
          status: "healthy",
          protocol,
          latency_ms: expect.any(Number),
          connect_ms: expect.any(Number),
          connection_time_ms: good.body.connect_ms,
          handshake_time_ms: expect.any(Number),
          error_message: null,
          error_category: null,
          engine_used: null,
        },
      });
      const wrong = await client.post("/check", { ...order, password: WRONG });
      expect(wrong.body).toMatchObject({ status: "down", latency_ms: null, error_category: "auth_failed" });
      const closed = await client.post("/check", { ...order, port: 9 });
      expect(closed.body).toMatchObject({ status: "down", error_category: "server_not_connected" });
      answers.push(good, wrong, closed);
    },
    60_000,
  );

  it.each(["openconnect", "openvpn"] as const)(
    "a monitor of %s is checked on schedule and by test",
    async (protocol) => {
      const made = await client.post<{ readonly id: string }>("/servers", { ...orders[protocol](), name: protocol });
      const broken = await client.post<{ readonly id: string }>("/servers", {
        ...orders[protocol](),
        name: `${protocol} with a wrong password`,
        password: WRONG,
      });
      expect([made.status, broken.status]).toEqual([200, 200]);
      const find = async (id: string) => {
        const answer = await client.get(`/servers/${id}`);
        answers.push(answer);
        return answer.body;
      };
      await expect
        .poll(() => find(made.body.id), { timeout: 60_000, interval: 500 })
        .toMatchObject({ status: "healthy" });
      const results = async () => {
        const answer = await client.get(`/results/server/${broken.body.id}`);
        answers.push(answer);
        return answer.body;
      };
      const refused = { error_message: expect.stringMatching(/refused/) };
      await expect
        .poll(results, { timeout: 60_000, interval: 500 })
        .toMatchObject({ results: expect.arrayContaining([expect.objectContaining(refused)]) });
      const test = await client.post("/test", { server_id: made.body.id });
      expect(test).toMatchObject({ status: 200, body: { status: "healthy", latency_ms: expect.any(Number) } });
      answers.push(made, broken, test);
    },
    150_000,
  );

  it("leaves no secret in answers, output, stores and results", async () => {
    expect(await service.stop()).toBe(0);
    const secrets = {
      "password of OpenConnect": OPENCONNECT_LOGIN.password,
      "password of OpenVPN": OPENVPN_LOGIN.password,
      "wrong password": WRONG,
      "key of tls-crypt": keys.text("crypt.key").split("\n").at(-4) ?? "",
    };
    expect(leaksOf(service, secrets, answers)).toEqual([]);
    // The search finds what is there.
    expect(leaksOf(service, { name: "openvpn with a wrong password" }, answers)).not.toEqual([]);
  });
});
