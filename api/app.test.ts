/** Requests that no server has checked yet: whatever a caller sends, nothing ends in a 500 and every answer has a promised shape. */
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { BoundedMap } from "../model/bounded-map.ts";
import { RecentResults } from "../store/recent/recent-results.ts";
import { RecentRows } from "../store/recent/recent-rows.ts";
import { byName, checkAgainstDocument } from "../testkit/api/contract.suite.ts";
import { openWorld, type World } from "../testkit/api/world.suite.ts";
import type { Api } from "./api.ts";
import { createApp } from "./app.ts";
import { createAuthCache } from "./auth-cache.ts";
import { routes } from "./endpoints/index.ts";
import { refusal } from "./errors.ts";
import { type ApiRequest, type ApiResponse, type Handle, isStream, ok } from "./http.ts";
import { KeptAnswers } from "./kept-answers.ts";
import { KnownMonitors } from "./known-monitors.ts";
import { LiveHub } from "./live/hub.ts";
import { ListPages } from "./monitors/list-pages.ts";
import { createMonitorCache } from "./monitors/monitor-cache.ts";
import { createTargets } from "./monitors/targets.ts";
import { documentText } from "./openapi.ts";
import { Overviews } from "./overview/overviews.ts";
import { PublicPages } from "./pages/public-pages.ts";
import { createProjectNames } from "./project-names.ts";
import { ProjectPages } from "./project-pages.ts";
import { ReadGate, type Source } from "./read-gate.ts";
import { createRequestMetrics } from "./request-metrics.ts";
import type { Route } from "./route.ts";
import { fullPath } from "./router.ts";
import { cookieRules } from "./session-cookie.ts";
import { createStreams } from "./streams.ts";
import { textsHere } from "./texts/steps.ts";

describe("the application", () => {
  let world: World;
  let handle: Handle;
  const errors: unknown[] = [];
  let key = "";
  beforeAll(async () => {
    world = await openWorld("node");
    handle = createApp(apiOf(world), routes);
    const bodies = [
      { type: "http", name: "a", url: "https://a.test-site.org/" },
      { type: "push", name: "b", period: 60 },
    ];
    for (const body of bodies) await world.send("POST", "/api/v1/servers", { body });
    // An id that the made-up paths below do not hit: they may revoke any other key.
    for (let count = 0; count < 100; count++) key = await world.newKey(world);
  });
  afterAll(() => world.close());

  function apiOf({ controlPlane, state, results, clock }: World, more: Partial<Api> = {}): Api {
    const { plans } = configOf();
    const authCache = createAuthCache(controlPlane);
    const overviews = new Overviews({ controlPlane, storeCondition: () => null });
    return {
      config: {
        ...configOf(),
        host: "127.0.0.1",
        port: 0,
        baseUrl: null,
        docsUrl: null,
        metricsToken: null,
        trustedProxies: [],
        httpServer: "net",
      },
      controlPlane,
      state,
      checks: { ask: async () => ({ type: "untaken" }), close: async () => {} },
      results: new RecentResults(results, new RecentRows({ maxBytes: 1_000_000, nowMs: () => clock.nowMs })),
      knownMonitors: new KnownMonitors({ auth: authCache, rows: { monitor: () => undefined }, catchUp: undefined }),
      projectNames: createProjectNames(controlPlane.monitors, authCache),
      sealing: {
        keyId: "",
        bindsRows: true,
        seal: (_, text) => text,
        open: (_, text) => Buffer.from(text.split(":")[1] ?? "", "base64").toString(),
      },
      clock: { now: () => clock.nowMs },
      log: {
        debug() {},
        info() {},
        warn() {},
        error: (fields) => void errors.push(fields),
        isLevelEnabled: () => true,
      },
      version: "0.1.0",
      health: { database: () => controlPlane.ping(), queue: () => state.ping() },
      metrics: async () => "",
      regions: async () => [],
      storeCondition: () => null,
      sendToChannel: async () => ({ delivered: true, statusCode: 200, reference: null, sent: "", durationMs: 1 }),
      texts: textsHere({ monitorFields: {}, defaultFields: [], kinds: [] }),
      linkLists: { fetch: async () => ({ fault: "" }) },
      plans,
      authCache,
      monitorCache: createMonitorCache(authCache),
      projectPages: new ProjectPages({ auth: authCache, version: () => 0 }),
      listPages: new ListPages({ monitors: controlPlane.monitors, auth: authCache, newestSeq: () => undefined }),
      overviews,
      live: new LiveHub({
        controlPlane,
        state,
        overviews,
        nowMs: () => clock.nowMs,
        log: { warn() {} },
        version: "0.1.0",
      }),
      targets: createTargets({ allowNets: [], ownEndpoints: [], resolve: async () => [] }),
      publicTargets: createTargets({ allowNets: [], ownEndpoints: [], resolve: async () => [] }),
      closing: new AbortController().signal,
      pages: new PublicPages({
        controlPlane,
        sealing: world.sealing,
        nowMs: () => clock.nowMs,
        log: { warn: () => {} },
      }),
      streams: createStreams(200),
      site: null,
      uses: new Map(),
      seen: { latest: new BoundedMap(10), unwritten: new Map() },
      cookie: cookieRules(null),
      oidc: null,
      reads: new ReadGate(null),
      keptAnswers: new KeptAnswers(() => authCache.generation()),
      requests: createRequestMetrics(),
      httpServer: "node",
      startedAtMs: clock.nowMs,
      baseUrl: () => "http://127.0.0.1:1",
      document: documentText(routes, () => ({ baseUrl: "http://127.0.0.1:1", docsUrl: "", version: "0.1.0" })),
      ...more,
    };
  }

  function configOf() {
    const plan = {
      requestsPerMinute: null,
      requestsPerDay: null,
      requestsPerMonth: null,
      onDemandTestsPerMonth: null,
      shortestIntervalS: 30,
      shortestPeriodS: 60,
      tunnelSlots: null,
      regionTargeting: true,
      apiAccess: true,
    };
    return {
      plans: { free: plan, starter: plan, pro: plan, business: plan },
      allowNets: [],
      publicAllowNets: [],
      ownEndpoints: [],
    };
  }

  const request = (sent: Partial<ApiRequest>): ApiRequest => ({
    method: "GET",
    path: "/api/v1/servers",
    query: "",
    apiKey: key,
    authorization: "",
    projectId: String(world.projectId),
    forwardedFor: "",
    isProxied: false,
    ifNoneMatch: "",
    acceptEncoding: "",
    idempotencyKey: null,
    cookie: "",
    origin: "",
    host: "127.0.0.1",
    secFetchSite: "",
    page: "",
    userAgent: "",
    acceptLanguage: "",
    remoteAddress: "127.0.0.1",
    body: null,
    ...sent,
  });

  const word = fc.oneof(
    fc.constantFrom(
      "1",
      "2",
      "srv_1",
      "srv_2",
      "inc_1",
      "0",
      "-1",
      "%",
      "%ff",
      "%00",
      "..",
      "__proto__",
      "constructor",
      "9".repeat(30),
      "1e9",
      "\u0000",
    ),
    fc.string({ maxLength: 8 }),
  );
  // A check now waits for a scheduler, and none runs here.
  const answered = routes.filter((route) => route.path !== "/servers/{id}/check");
  // No server lets a question mark through in a path.
  const path = fc
    .oneof(
      fc
        .constantFrom(...answered.map(fullPath))
        .chain((pattern) => word.map((text) => pattern.replace(/\{\w+\}/g, text))),
      fc.array(word, { maxLength: 5 }).map((words) => `/${words.join("/")}`),
      fc.string(),
    )
    .map((text) => text.replaceAll("?", ""));
  const parameter = fc.tuple(
    fc.constantFrom(
      "limit",
      "offset",
      "period",
      "status",
      "family",
      "name",
      "q",
      "search",
      "server_id",
      "explain",
      "ping",
      "msg",
      "active_only",
    ),
    fc.oneof(word, fc.constantFrom("24h", "1", "healthy", "up", "down", "uptime", "all", "paused", "")),
  );
  const query = fc.oneof(
    fc.array(parameter, { maxLength: 4 }).map((all) => all.map((pair) => pair.join("=")).join("&")),
    fc.string(),
  );
  const field = fc.constantFrom(
    "name",
    "type",
    "url",
    "active",
    "interval",
    "tags",
    "period",
    "note",
    "protocol",
    "host",
    "__proto__",
  );
  const body = fc.oneof(
    fc.constant(null),
    fc.constant("too-large" as const),
    fc.uint8Array({ maxLength: 40 }),
    fc
      .dictionary(
        field,
        fc.oneof(fc.jsonValue({ maxDepth: 2 }), fc.constantFrom("http", "push", "vpn", "wireguard", 60, true)),
      )
      .map((object) => new TextEncoder().encode(JSON.stringify(object))),
  );

  it("answers anything without a 500", async () => {
    const header = fc.oneof({ weight: 6, arbitrary: fc.constant(null) }, { weight: 1, arbitrary: fc.string() });
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom("GET", "GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "get", "", "\u0000"),
        path,
        query,
        body,
        header,
        header,
        fc.string(),
        async (method, path, query, body, apiKey, projectId, authorization) => {
          const sent = { method, path, query, body, authorization };
          // Every address has its own wrong keys, so that the throttle leaves something to see.
          const remoteAddress =
            apiKey === null ? "127.0.0.1" : `10.${Math.abs(hashOf(apiKey)) % 256}.${path.length % 256}.1`;
          const response = await handle(
            request({
              ...sent,
              remoteAddress,
              ...(apiKey !== null && { apiKey }),
              ...(projectId !== null && { projectId }),
            }),
          );
          expect(response.status).toBeLessThan(500);
          checkAgainstDocument({
            method,
            path,
            status: response.status,
            headers: byName(response.headers),
            text: method === "HEAD" || isStream(response) ? "" : String(response.body),
          });
        },
      ),
      { numRuns: 15_000 },
    );
    expect(errors).toEqual([]);
  }, 60_000);

  it("makes an answer once for all who ask for it meanwhile, and for each by himself after it failed", async () => {
    const doors: Source[] = [];
    const enter = (_route: unknown, _request: unknown, source: Source) => {
      doors.push(source);
      return () => {};
    };
    const made: { readonly resolve: (answer: ApiResponse) => void; readonly reject: (error: Error) => void }[] = [];
    const list = {
      ...{ method: "GET", path: "/things", scope: "project", mayBeKept: "when checks are late", responses: {} },
      handle: () => new Promise((resolve, reject) => void made.push({ resolve, reject })),
    } as unknown as Route;
    const app = createApp(apiOf(world, { reads: { isPressed: true, enter } as unknown as ReadGate }), [list]);
    const ask = () => Promise.all([1, 2, 3].map(async () => (await app(request({ path: "/api/v1/things" }))).status));
    const failing = ask();
    await vi.waitFor(() => expect(made).toHaveLength(1));
    made[0]?.reject(refusal("readsRefused", { retryAfterS: 1 }));
    await vi.waitFor(() => expect(made).toHaveLength(3));
    for (const { resolve } of made) resolve(ok({}));
    expect((await failing).toSorted()).toEqual([200, 200, 503]);
    expect(doors).toEqual(["shared", "shared", "shared"]);
    world.clock.nowMs += 1_000;
    const shared = ask();
    await vi.waitFor(() => expect(made).toHaveLength(4));
    made[3]?.resolve(ok({}));
    expect(await shared).toEqual([200, 200, 200]);
    expect(doors).toEqual(["shared", "shared", "shared", "shared", "memory", "memory"]);
  });

  it("makes what is made of memory alone before it asks for a turn among dear reads", async () => {
    const doors: Source[] = [];
    const enter = (_route: unknown, _request: unknown, source: Source) => {
      doors.push(source);
      return () => {};
    };
    const reads = { isPressed: true, enter } as unknown as ReadGate;
    const routeOf = (fromMemory: () => ApiResponse | undefined) =>
      ({
        ...{ method: "GET", path: "/things", scope: "project", responses: {} },
        ...{ fromMemory, handle: () => ok({ from: "store" }) },
      }) as unknown as Route;
    const bodyOf = async (fromMemory: () => ApiResponse | undefined): Promise<unknown> => {
      const answer = await createApp(apiOf(world, { reads }), [routeOf(fromMemory)])(
        request({ path: "/api/v1/things" }),
      );
      return isStream(answer) ? null : JSON.parse(String(answer.body));
    };
    expect(await bodyOf(() => ok({ from: "memory" }))).toEqual({ from: "memory" });
    expect(doors).toEqual(["memory"]);
    expect(await bodyOf(() => undefined)).toEqual({ from: "store" });
    expect(doors).toEqual(["memory", "memory", "made"]);
  });

  it("words its own failures without telling what they were", async () => {
    const broken = createApp(
      apiOf({ ...world, results: { ...world.results, ofProject: () => Promise.reject(new TypeError("secret")) } }),
      routes,
    );
    const response = await broken(request({ path: "/api/v1/results" }));
    expect(isStream(response) ? "" : JSON.parse(String(response.body))).toEqual({
      error: true,
      code: 500,
      message: "Internal server error",
    });
    expect(response.headers).toContain("X-RateLimit-Limit");
    expect(errors).toHaveLength(1);
    const clockless = createApp(
      apiOf(world, {
        clock: {
          now: () => {
            throw new Error("no clock");
          },
        },
      }),
      routes,
    );
    expect((await clockless(request({}))).status).toBe(500);
  });
});

function hashOf(text: string): number {
  let value = 0;
  for (let index = 0; index < text.length; index++) value = (value * 31 + text.charCodeAt(index)) | 0;
  return value;
}
