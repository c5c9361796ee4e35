import { expect, it } from "vitest";
import { routes } from "./endpoints/index.ts";
import { createRequestMetrics } from "./request-metrics.ts";
import type { Route } from "./route.ts";

it("counts by the route's pattern and the status, and never by what a caller chose", async () => {
  const metrics = createRequestMetrics();
  const find = (path: string): Route => {
    const route = routes.find((one) => one.path === path && one.method === "GET");
    if (route === undefined) throw new Error(path);
    return route;
  };
  metrics.count(find("/servers/{id}"), 200, 0.002);
  metrics.count(find("/servers/{id}"), 404, 0.2);
  metrics.count(null, 404, 0.001);
  const text = await metrics.text();
  expect(text).toContain("# TYPE sonde_http_requests_total counter");
  expect(text).toContain('sonde_http_requests_total{method="GET",route="/servers/{id}",status="200"} 1');
  expect(text).toContain('sonde_http_requests_total{method="GET",route="/servers/{id}",status="404"} 1');
  expect(text).toContain('sonde_http_requests_total{method="other",route="none",status="404"} 1');
  expect(text).toContain('sonde_http_request_duration_seconds_bucket{le="0.005",method="GET",route="/servers/{id}"} 1');
  expect(text).toContain('sonde_http_request_duration_seconds_count{method="GET",route="/servers/{id}"} 2');
});
