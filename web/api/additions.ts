/** Endpoints that the committed types do not have yet, in the form of web/api/schema.d.ts. */

type Json<T> = { 200: { headers: { [name: string]: unknown }; content: { "application/json": T } } };
interface PlainOperation<Answer, Query = never> {
  parameters: { query?: Query; header?: never; path?: never; cookie?: never };
  requestBody?: never;
  responses: Json<Answer>;
}
interface BodyOperation<Answer, Body> {
  parameters: { query?: never; header?: never; path?: never; cookie?: never };
  requestBody: { content: { "application/json": Body } };
  responses: Json<Answer>;
}

export type Role = "owner" | "admin" | "manager" | "viewer";

export interface SessionView {
  user: { id: number; name: string | null; email: string };
  organizations: { id: number; name: string; role: Role; plan: string }[];
  projects: { id: string; name: string; organization_id: number; role: Role }[];
  default_organization_id: number;
  default_project_id: string | null;
  expires_at?: string;
}

export interface RecentResults {
  servers: Record<string, { status: string; latency_ms: (number | null)[]; tested_s: number[] }>;
}

export interface Additions {
  "/session": {
    get: PlainOperation<SessionView>;
    post: BodyOperation<SessionView, { key: string } | { code: string }>;
    delete: PlainOperation<unknown>;
  };
  "/results/recent": { get: PlainOperation<RecentResults, { ids: string; limit?: number }> };
}
