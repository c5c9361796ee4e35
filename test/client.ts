/** The REST API as a test speaks it: status, headers and body, no interpretation; every answer is held against the document. */
import { checkAgainstDocument } from "../testkit/api/contract.suite.ts";

export interface Answer<Body> {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Body;
}

type Fields = Readonly<Record<string, unknown>>;

export interface TestClient {
  get<Body = Fields>(path: string): Promise<Answer<Body>>;
  post<Body = Fields>(path: string, body?: unknown): Promise<Answer<Body>>;
  put<Body = Fields>(path: string, body: unknown): Promise<Answer<Body>>;
  remove<Body = Fields>(path: string): Promise<Answer<Body>>;
}

export function clientOf(url: string, key: string, project = "prj_1"): TestClient {
  async function ask<Body>(method: string, path: string, body?: unknown): Promise<Answer<Body>> {
    const response = await fetch(`${url}/api/v1${path}`, {
      method,
      headers: { "x-api-key": key, "x-project-id": project, "content-type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    checkAgainstDocument({
      method,
      path: `/api/v1${path}`,
      status: response.status,
      headers: Object.fromEntries(response.headers),
      text,
    });
    return {
      status: response.status,
      headers: response.headers,
      body: (text === "" ? null : JSON.parse(text)) as Body,
    };
  }
  return {
    get: (path) => ask("GET", path),
    post: (path, body) => ask("POST", path, body),
    put: (path, body) => ask("PUT", path, body),
    remove: (path) => ask("DELETE", path),
  };
}

/** As far as the tests look into them. */
export interface MonitorBody {
  readonly id: string;
  readonly name: string;
  readonly type: string;
  readonly status: string;
  readonly active: boolean;
  readonly latency_ms: number | null;
  readonly last_checked: string | null;
  readonly heartbeat_url?: string;
  readonly certificate?: { readonly valid: boolean; readonly days_remaining: number } | null;
}
export interface ResultsBody {
  readonly results: readonly {
    readonly id: string;
    readonly server_id: string;
    readonly status: string;
    readonly error_message: string | null;
  }[];
  readonly total: number;
  readonly success_rate?: number | null;
}
export interface IncidentsBody {
  readonly incidents: readonly {
    readonly id: string;
    readonly server_id: string;
    readonly status: string;
    readonly error_type: string;
  }[];
  readonly total: number;
  readonly active: number;
}
