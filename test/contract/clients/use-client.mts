/** What a user does with the types that openapi-typescript made of the document (`sonde.d.ts`) and with openapi-fetch: compiled strictly, then run with SETTINGS. */
import createClient from "openapi-fetch";
import type { components, operations, paths } from "./sonde.js";

interface Settings {
  readonly url: string;
  readonly key: string;
  readonly website: string;
  readonly nothing: string;
}
const settings = JSON.parse(process.argv[2] ?? "") as Settings;
const client = createClient<paths>({ baseUrl: settings.url, headers: { "X-API-Key": settings.key } });
const header = { "X-Project-Id": "prj_1" };
/** A first check on a busy machine, ms. */
const WITHIN_MS = 60_000;

/** The answer, or what was refused as an error. */
async function done<T>(asked: Promise<{ data?: T; error?: unknown; response: Response }>): Promise<T> {
  const { data, error, response } = await asked;
  if (data === undefined) throw new Error(`${response.url}: ${response.status} ${JSON.stringify(error)}`);
  return data;
}

function expect(isTrue: boolean, what: string): void {
  if (!isTrue) throw new Error(what);
}

// The few fields that a user must send: none that has a default.
const site: components["schemas"]["CreateHttp"] = { type: "http", name: "Site", url: settings.website };
const made = await done(client.POST("/api/v1/servers", { params: { header }, body: site }));
const heartbeat = await done(
  client.POST("/api/v1/servers", { params: { header }, body: { type: "push", name: "Job", period: 60 } }),
);
expect(heartbeat.heartbeat_url !== undefined, "a heartbeat without an address");
const params = { header, path: { id: made.id } };

const late = Date.now() + WITHIN_MS;
let seen = made;
while (seen.status !== "healthy") {
  expect(Date.now() < late, `the monitor stays ${seen.status}`);
  await new Promise((resolve) => setTimeout(resolve, 100));
  seen = await done(client.GET("/api/v1/servers/{id}", { params }));
}
const checked: string | undefined = seen.regional_status.any?.last_check;
expect(checked !== undefined && checked !== "", "a checked monitor without a time");

const changed = await done(
  client.PUT("/api/v1/servers/{id}", { params, body: { url: settings.nothing, maxretries: 1, ssl_expiration: null } }),
);
expect(changed.url === settings.nothing, "the address was not changed");
const list: components["schemas"]["MonitorList"] = await done(
  client.GET("/api/v1/servers", { params: { header, query: { family: "uptime", limit: 10 } } }),
);
expect(list.total === 2 && list.servers.some(({ id }) => id === made.id), "the list has not what was made");
const { results, uptime_percent } = await done(client.GET("/api/v1/results/server/{id}", { params }));
expect(results.every(({ tested_at }) => typeof tested_at === "string"), "results without a time");
expect(uptime_percent === null || typeof uptime_percent === "number", "no share");

const key = await done(client.POST("/api/v1/keys", { body: { name: "ci" } }));
const { keys } = await done(client.GET("/api/v1/keys"));
expect(keys.find(({ id }) => id === key.id)?.active === 1, "the key is not active");
await done(client.DELETE("/api/v1/keys/{id}", { params: { path: { id: String(key.id) } } }));

const refused = await client.GET("/api/v1/servers/{id}", { params: { header, path: { id: "srv_999999" } } });
expect(refused.response.status === 404 && refused.error?.message === "Server not found", "no words");
const removed = await done(client.DELETE("/api/v1/servers/{id}", { params }));
expect(removed.success, "not removed");

// Operations are known by their names, and a word that a later version adds fits its type.
type Listed = operations["listMonitors"]["responses"][200]["content"]["application/json"]["servers"][number];
const later: Listed = { ...list.servers[0]!, status: "asleep", added: { in: "version 1.9" } };
expect(later.status === "asleep", "a new word does not fit");
console.log("every call was understood");
