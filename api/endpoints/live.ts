/** What changes in a project, as it happens (docs/api-contract.md#overview). */
import { z } from "zod";
import type { Api } from "../api.ts";
import type { StreamedResponse } from "../http.ts";
import { MOST_WATCHED } from "../live/subscriber.ts";
import { monitorIdsParameter, readQuery, textParameter } from "../query.ts";
import type { ProjectCall, Route } from "../route.ts";
import { SSE_BEAT, SSE_HEADERS, SSE_TYPE, sseBye } from "../sse.ts";

const liveQuery = {
  project: textParameter(
    "The project, `prj_<n>` or `<n>`, where X-Project-Id cannot be sent: an EventSource sends no headers.",
  ),
  watch: monitorIdsParameter(
    "watch",
    MOST_WATCHED,
    "Monitors whose every check is told, `srv_<n>` or `<n>`, between commas.",
  ),
} as const;

async function open(api: Api, call: ProjectCall): Promise<StreamedResponse> {
  const { watch } = readQuery(liveQuery, call.request.query);
  return {
    status: 200,
    headers: SSE_HEADERS,
    open: (sink) =>
      api.live.open(
        {
          projectId: call.project.id,
          watched: watch ?? [],
        },
        {
          send: (event) => void sink.write(event),
          keepAlive: () => void sink.write(SSE_BEAT),
          get full() {
            return sink.full;
          },
          end: () => sink.end(),
        },
      ),
    farewell: sseBye,
  };
}

export const live: readonly Route[] = [
  {
    method: "GET",
    path: "/live",
    operationId: "followProject",
    group: "Overview",
    summary: "What changes in a project, as server-sent events",
    description:
      "An addition of ours, for pages that are open. Events: `hello` first; `s`, once a second at most, `{at, m: [[monitor, letter, latency_ms, seconds since its check], …]}` of monitors whose status changed and of those in `watch`; `incident` `{what, incident}`; `monitors` `{changed, gone}`; `subscription`; `job`, a test that ended; `beat` every 5 s; `bye` when the process stops. Nothing is sent again: after a new connection ask `GET /overview`.",
    scope: "project",
    isProjectInQuery: true,
    query: liveQuery,
    responses: { 200: SSE_TYPE },
    refusals: ["tooManyStreams"],
    headers: {
      "X-Accel-Buffering": {
        description: "Proxies that know it pass each event on at once",
        schema: z.literal("no"),
        required: true,
        on: [200],
      },
    },
    handle: open,
  },
];
