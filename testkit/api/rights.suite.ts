/**
 * Who may do what, written down from what the API promises (docs/api-contract.md) alone: no line here looks at the code it judges. The matrix
 * (matrix.suite.ts) asks every route with every kind of key and compares.
 */
import type { Role } from "../../model/plan.ts";

export const ROLES = ["owner", "admin", "manager", "viewer", "none"] as const;
export type RoleOrNone = (typeof ROLES)[number];

export const KEY_KINDS = [
  "workspace",
  "dashboard",
  "account",
  "expired",
  "disabled",
  "owner inactive",
  "membership removed",
  "account disabled",
  "account, owner inactive",
  "account without a workspace",
  "workspace on Free",
] as const;
export type KeyKind = (typeof KEY_KINDS)[number];

/** Which project the header names. */
export const PROJECTS = ["own", "foreign", "inactive", "unknown", "malformed", "missing"] as const;
export type ProjectSent = (typeof PROJECTS)[number];

/** Status and message; of an answer that is no error only the status. */
export interface Verdict {
  readonly status: number;
  readonly message?: string;
  /** Limit headers stand on every answer to a valid key (docs/api-contract.md#order-of-checks). */
  readonly limits: boolean;
}

/** An endpoint as the contract has it; the request has `{}` for a body and an id that nothing has. */
export interface Right {
  readonly scope: "key" | "project";
  /** What a Viewer is told; absent: any role. */
  readonly editors?: string;
  /** What all but Owners are told; absent: any role. */
  readonly owners?: string;
  /** What a Viewer and a Manager are told; absent: any role. */
  readonly admins?: string;
  /** What the harmless request is answered once it is let in. */
  readonly admitted: Verdict;
}

const ok: Verdict = { status: 200, limits: true };
const refused = (status: number, message: string): Verdict => ({ status, message, limits: true });
const unauthorized = (message: string): Verdict => ({ status: 401, message, limits: false });

const NO_SERVER = refused(404, "Server not found");
const NO_INCIDENT = refused(404, "Incident not found");
const NO_SUBSCRIPTION = refused(404, "Subscription not found");
const NO_CHANNEL = refused(404, "Channel not found");
const CHANNEL_KIND = "kind must be one of GET /channels/kinds.";
const NO_MAINTENANCE = refused(404, "Maintenance not found");
const NO_WEBHOOK = refused(404, "Webhook not found");
const NO_KEY = refused(404, "API key not found");
const NO_PAGE = refused(404, "Status page not found");

const SESSION_ONLY = refused(403, "This is for sessions of the page. A key has none.");

const MEMBERS = "Members are for owners and admins.";
const EDIT = "You do not have permission to edit this project";
const RUN = "You do not have permission to run tests in this project";
const MAINTENANCE_TIMES = "ends_at must be a time after now and after starts_at, at most a year from now.";
const NO_API = "API access isn't included on this workspace's plan.";

/** Every endpoint of the contract that needs a key, and GET /servers/{id}/history of docs/api-contract.md#monitors. */
export const RIGHTS: Readonly<Record<string, Right>> = {
  "GET /overview": { scope: "project", admitted: ok },
  "GET /live": { scope: "project", admitted: ok },
  "GET /tags": { scope: "project", admitted: ok },
  "GET /views": { scope: "project", admitted: ok },
  "POST /views": { scope: "project", admitted: refused(400, "name must be a text of 1 to 60 characters.") },
  "DELETE /views/{id}": { scope: "project", admitted: refused(404, "View not found") },
  "GET /servers": { scope: "project", admitted: ok },
  "POST /servers": {
    scope: "project",
    editors: "You do not have permission to create monitors in this project",
    admitted: refused(400, "Missing or invalid name"),
  },
  "GET /servers/{id}": { scope: "project", admitted: NO_SERVER },
  "PUT /servers/{id}": {
    scope: "project",
    editors: "You do not have permission to edit this monitor",
    admitted: NO_SERVER,
  },
  "DELETE /servers/{id}": {
    scope: "project",
    editors: "You do not have permission to delete this monitor",
    admitted: NO_SERVER,
  },
  "GET /servers/{id}/locations": { scope: "project", admitted: NO_SERVER },
  "PUT /servers/{id}/locations": {
    scope: "project",
    editors: "You do not have permission to edit this monitor",
    admitted: NO_SERVER,
  },
  "POST /servers/{id}/check": { scope: "project", editors: RUN, admitted: NO_SERVER },
  "POST /servers/bulk": { scope: "project", editors: EDIT, admitted: refused(400, "select must be an object.") },
  "POST /apply": {
    scope: "project",
    editors: EDIT,
    admitted: refused(400, "document must be a text: YAML or JSON."),
  },
  "GET /export": { scope: "project", editors: EDIT, admitted: ok },
  "GET /servers/{id}/days": { scope: "project", admitted: NO_SERVER },
  "GET /servers/{id}/latency": { scope: "project", admitted: NO_SERVER },
  "GET /days": { scope: "project", admitted: ok },
  "GET /servers/{id}/history": { scope: "project", admitted: NO_SERVER },
  "GET /servers/search": { scope: "key", admitted: refused(400, "q is required") },
  "POST /test": { scope: "project", editors: RUN, admitted: refused(400, "Missing or invalid server_id") },
  "POST /test/batch": { scope: "project", editors: RUN, admitted: refused(400, "Missing or invalid server_ids") },
  "POST /check": { scope: "key", admitted: refused(400, "Missing or invalid config") },
  "POST /check/bulk": {
    scope: "project",
    editors: RUN,
    admitted: refused(400, "text must be share links, one a line."),
  },
  "GET /results": { scope: "project", admitted: ok },
  "GET /results/failures": { scope: "project", admitted: ok },
  "GET /results/recent": { scope: "project", admitted: ok },
  "GET /results/server/{id}": { scope: "project", admitted: NO_SERVER },
  "GET /incidents": { scope: "project", admitted: ok },
  "POST /incidents/acknowledge": {
    scope: "project",
    editors: EDIT,
    admitted: refused(400, "ids must be a list of 1 to 500 incident ids."),
  },
  "GET /incidents/{id}": { scope: "project", admitted: NO_INCIDENT },
  "GET /incidents/{id}/events": { scope: "project", admitted: NO_INCIDENT },
  "POST /incidents/{id}/acknowledge": { scope: "project", editors: EDIT, admitted: NO_INCIDENT },
  "POST /incidents/{id}/notes": { scope: "project", editors: EDIT, admitted: NO_INCIDENT },
  "PUT /incidents/{id}/notes/{note}": { scope: "project", editors: EDIT, admitted: NO_INCIDENT },
  "DELETE /incidents/{id}/notes/{note}": { scope: "project", editors: EDIT, admitted: NO_INCIDENT },
  "PUT /incidents/{id}/report": { scope: "project", editors: EDIT, admitted: NO_INCIDENT },
  "POST /incidents/{id}/retest": { scope: "project", editors: RUN, admitted: NO_INCIDENT },
  "GET /maintenances": { scope: "project", admitted: ok },
  "POST /maintenances": { scope: "project", editors: EDIT, admitted: refused(400, MAINTENANCE_TIMES) },
  "GET /channels": { scope: "project", editors: EDIT, admitted: ok },
  "POST /channels": { scope: "project", editors: EDIT, admitted: refused(400, CHANNEL_KIND) },
  "GET /channels/kinds": { scope: "project", admitted: ok },
  "POST /channels/test": { scope: "project", editors: EDIT, admitted: refused(400, CHANNEL_KIND) },
  "GET /channels/{id}": { scope: "project", editors: EDIT, admitted: NO_CHANNEL },
  "PUT /channels/{id}": { scope: "project", editors: EDIT, admitted: NO_CHANNEL },
  "DELETE /channels/{id}": { scope: "project", editors: EDIT, admitted: NO_CHANNEL },
  "POST /channels/{id}/test": { scope: "project", editors: EDIT, admitted: NO_CHANNEL },
  "GET /channels/{id}/deliveries": { scope: "project", editors: EDIT, admitted: NO_CHANNEL },
  "GET /incidents/{id}/alerts": { scope: "project", admitted: NO_INCIDENT },
  "GET /alert-rules": { scope: "project", admitted: ok },
  "PUT /alert-rules": {
    scope: "project",
    editors: EDIT,
    admitted: refused(400, "version: is missing"),
  },
  "POST /alert-rules/preview": {
    scope: "project",
    admitted: refused(400, "body: send either server_id or incident_id"),
  },
  "GET /quiet-hours": { scope: "project", admitted: ok },
  "PUT /quiet-hours": {
    scope: "project",
    editors: EDIT,
    admitted: refused(400, "version: is missing"),
  },
  "POST /import/convert": {
    scope: "project",
    editors: EDIT,
    admitted: refused(
      400,
      "source must be kuma, gatus, blackbox, xray-checker, uptimerobot, betterstack, checkly or openstatus.",
    ),
  },
  "GET /maintenances/{id}": { scope: "project", admitted: NO_MAINTENANCE },
  "PUT /maintenances/{id}": { scope: "project", editors: EDIT, admitted: NO_MAINTENANCE },
  "DELETE /maintenances/{id}": { scope: "project", editors: EDIT, admitted: NO_MAINTENANCE },
  "POST /maintenances/{id}/end": { scope: "project", editors: EDIT, admitted: NO_MAINTENANCE },
  "GET /status-pages": { scope: "project", admitted: ok },
  "POST /status-pages": {
    scope: "project",
    editors: EDIT,
    admitted: refused(400, "title must be a text of 1 to 120 characters."),
  },
  "GET /status-pages/{id}": { scope: "project", admitted: NO_PAGE },
  "PUT /status-pages/{id}": { scope: "project", editors: EDIT, admitted: NO_PAGE },
  "DELETE /status-pages/{id}": { scope: "project", editors: EDIT, admitted: NO_PAGE },
  "GET /status-pages/{id}/updates": { scope: "project", admitted: NO_PAGE },
  "POST /status-pages/{id}/updates": { scope: "project", editors: EDIT, admitted: NO_PAGE },
  "PUT /status-pages/{id}/updates/{update}": { scope: "project", editors: EDIT, admitted: NO_PAGE },
  "DELETE /status-pages/{id}/updates/{update}": { scope: "project", editors: EDIT, admitted: NO_PAGE },
  "GET /webhooks": { scope: "project", editors: EDIT, admitted: ok },
  "POST /webhooks": { scope: "project", editors: EDIT, admitted: refused(400, "Missing or invalid url") },
  "GET /webhooks/{id}": { scope: "project", editors: EDIT, admitted: NO_WEBHOOK },
  "PUT /webhooks/{id}": { scope: "project", editors: EDIT, admitted: NO_WEBHOOK },
  "DELETE /webhooks/{id}": { scope: "project", editors: EDIT, admitted: NO_WEBHOOK },
  "POST /webhooks/{id}/rotate": { scope: "project", editors: EDIT, admitted: NO_WEBHOOK },
  "POST /webhooks/{id}/test": { scope: "project", editors: EDIT, admitted: NO_WEBHOOK },
  "GET /webhooks/{id}/deliveries": { scope: "project", editors: EDIT, admitted: NO_WEBHOOK },
  "POST /webhooks/{id}/enable": { scope: "project", editors: EDIT, admitted: NO_WEBHOOK },
  "POST /webhooks/{id}/disable": { scope: "project", editors: EDIT, admitted: NO_WEBHOOK },
  "GET /subscriptions": { scope: "project", admitted: ok },
  "POST /subscriptions": { scope: "project", editors: EDIT, admitted: refused(400, "Missing or invalid url") },
  "GET /subscriptions/{id}": { scope: "project", admitted: NO_SUBSCRIPTION },
  "PUT /subscriptions/{id}": { scope: "project", editors: EDIT, admitted: NO_SUBSCRIPTION },
  "DELETE /subscriptions/{id}": { scope: "project", editors: EDIT, admitted: NO_SUBSCRIPTION },
  "POST /subscriptions/{id}/sync": { scope: "project", editors: EDIT, admitted: NO_SUBSCRIPTION },
  "GET /subscriptions/{id}/configs": { scope: "project", admitted: NO_SUBSCRIPTION },
  "POST /subscriptions/{id}/links": {
    scope: "project",
    admins: "Links are for owners and admins.",
    admitted: refused(403, "Links are not revealed on this service."),
  },
  "GET /whoami": { scope: "key", admitted: ok },
  "GET /organizations": { scope: "key", admitted: ok },
  "GET /organizations/{id}": {
    scope: "key",
    admitted: refused(403, "You do not have access to this organization"),
  },
  "GET /projects": { scope: "key", admitted: ok },
  "GET /usage": { scope: "key", admitted: ok },
  "GET /keys": { scope: "key", admitted: ok },
  "POST /keys": {
    scope: "key",
    editors: "You do not have permission to create API keys",
    admitted: refused(400, "Key name is required"),
  },
  "GET /audit": { scope: "key", admins: "The audit log is for owners and admins.", admitted: ok },
  "GET /members": { scope: "key", admins: MEMBERS, admitted: ok },
  "POST /members": { scope: "key", admins: MEMBERS, admitted: refused(400, "Missing or invalid email") },
  "PUT /members/{id}": {
    scope: "key",
    admins: MEMBERS,
    admitted: refused(400, "role must be owner, admin, manager or viewer."),
  },
  "DELETE /members/{id}": { scope: "key", admins: MEMBERS, admitted: refused(404, "Member not found") },
  "GET /keys/{id}/usage": { scope: "key", admitted: NO_KEY },
  "GET /service": { scope: "key", owners: "This is for owners of the service's first workspace.", admitted: ok },
  "GET /session": { scope: "key", admitted: SESSION_ONLY },
  "DELETE /session": { scope: "key", admitted: SESSION_ONLY },
  "GET /sessions": { scope: "key", admitted: SESSION_ONLY },
  "DELETE /sessions": { scope: "key", admitted: SESSION_ONLY },
  "DELETE /sessions/{id}": { scope: "key", admitted: SESSION_ONLY },
  "GET /passkeys": { scope: "key", admitted: SESSION_ONLY },
  "POST /passkeys/challenge": { scope: "key", admitted: SESSION_ONLY },
  "POST /passkeys": { scope: "key", admitted: SESSION_ONLY },
  "PUT /passkeys/{id}": { scope: "key", admitted: SESSION_ONLY },
  "DELETE /passkeys/{id}": { scope: "key", admitted: SESSION_ONLY },
  "DELETE /keys/{id}": {
    scope: "key",
    editors: "You do not have permission to revoke this key",
    admitted: NO_KEY,
  },
};

/** Endpoints that ask for no key (docs/api-contract.md#health-and-documents; docs/api-contract.md#heartbeat-address, #health-and-documents; the operator's own). */
export const PUBLIC: readonly RegExp[] = [
  /^GET \/health$/,
  /^GET \/health\/deep$/,
  /^GET \/regions$/,
  /^POST \/check\/public$/,
  /^\* \/api\/push\/\{token\}$/,
  /^GET \/$/,
  /^POST \/session$/,
  /^GET \/sign-in$/,
  /^POST \/session\/passkey$/,
  // What is known by a cookie of its own.
  /^(GET|POST) \/session\/oidc$/,
  // Its token is the right.
  /^(GET|POST) \/(ack|confirm)\/\{token\}$/,
  /^GET \/status(\/|\/\{slug\}(\/|\/\{file\}|\/incidents\/\{incident\})?)?$/,
  /^POST \/status\/\{slug\}$/,
  /^GET \/badge\/\{token\}\/\{file\}$/,
  /^GET \/assets\/\{file\}$/,
  /^GET \/openapi\.(yaml|json)$/,
  /^GET \/docs(\/[\w.-]+)?$/,
  /^GET \/metrics$/,
  /^GET \/verify$/,
];

/** Answers that depend on the state of the key and the person behind it alone. */
function stateOf(kind: KeyKind, role: RoleOrNone): Verdict | undefined {
  switch (kind) {
    case "expired":
      return unauthorized("API key has expired");
    case "disabled":
    case "account disabled":
      return unauthorized("Invalid or expired API key");
    case "owner inactive":
    case "account, owner inactive":
      return unauthorized("API key owner account is inactive");
    case "membership removed":
    case "account without a workspace":
      return unauthorized("This API key's workspace access has been removed");
    case "workspace":
    case "dashboard":
    case "workspace on Free":
      return role === "none" ? unauthorized("This API key's workspace access has been removed") : undefined;
    case "account":
      return undefined;
  }
}

/** The order of checks: docs/api-contract.md#order-of-checks for account-wide keys. */
export function expected(endpoint: string, right: Right, kind: KeyKind, role: RoleOrNone, sent: ProjectSent): Verdict {
  const state = stateOf(kind, role);
  if (state !== undefined) return state;
  if (kind === "workspace on Free") {
    return refused(403, endpoint === "POST /keys" ? `${NO_API} Upgrade to create API keys.` : NO_API);
  }
  if (right.scope === "project") {
    const project = projectOf(kind, role, sent);
    if (project !== undefined) return project;
    return forRole(right, role);
  }
  if (kind === "account") return ofAccount(endpoint, right, role);
  return forRole(right, role);
}

function forRole(right: Right, role: RoleOrNone): Verdict {
  if (right.owners !== undefined && role !== "owner") return refused(403, right.owners);
  // Who has no role at home is a manager elsewhere.
  if (right.admins !== undefined && role !== "owner" && role !== "admin") return refused(403, right.admins);
  return role === "viewer" && right.editors !== undefined ? refused(403, right.editors) : right.admitted;
}

/** An account-wide key makes no keys; which of the others it may end is decided by the role in their workspace, and there is none. */
function ofAccount(endpoint: string, right: Right, role: RoleOrNone): Verdict {
  if (right.admins !== undefined || right.owners !== undefined) return forRole(right, role);
  if (endpoint !== "POST /keys") return right.admitted;
  return refused(403, "Account-wide keys cannot create API keys. Use a workspace key.");
}

export const SESSION_KINDS = ["session of a key", "session of a link"] as const;
export type SessionKind = (typeof SESSION_KINDS)[number];

const OF_SESSIONS: Readonly<Record<string, Verdict>> = {
  "GET /session": ok,
  "GET /sessions": ok,
  "DELETE /sessions": refused(400, "others must be 1: it ends every session but this one."),
  "DELETE /sessions/{id}": refused(404, "Session not found"),
  "GET /passkeys": ok,
  "PUT /passkeys/{id}": refused(400, "name must be a text of 1 to 60 characters."),
  "DELETE /passkeys/{id}": refused(404, "Passkey not found"),
};

/** The matrix has no SONDE_BASE_URL. */
const NO_PASSKEYS = [404, "Passkeys need SONDE_BASE_URL: https:// and a name, or http://localhost."] as const;
const BY_KEY = [
  403,
  "A session that began with a key adds no passkey. Sign in with a link or at the provider first.",
] as const;
const ADDING: ReadonlySet<string> = new Set(["POST /passkeys", "POST /passkeys/challenge"]);

/** As the key that it was made with, or as an account-wide one; it counts as no use of the API, so it has no limit headers. */
export function expectedOfSession(
  endpoint: string,
  right: Right,
  kind: SessionKind,
  role: RoleOrNone,
  sent: ProjectSent,
): Verdict {
  const asKey = expected(endpoint, right, kind === "session of a key" ? "workspace" : "account", role, sent);
  const own = asKey.status === 401 ? undefined : OF_SESSIONS[endpoint];
  // A link's session makes keys where its person may. Who has no role at home is a manager elsewhere.
  const makesKey = kind === "session of a link" && endpoint === "POST /keys";
  const ofKeys = role === "viewer" ? refused(403, right.editors ?? "") : right.admitted;
  const addsPasskey = asKey.status !== 401 && ADDING.has(endpoint);
  const [status, message] = kind === "session of a key" ? BY_KEY : NO_PASSKEYS;
  if (addsPasskey) return { status, message, limits: false };
  return { ...(own ?? (makesKey ? ofKeys : asKey)), limits: false };
}

function projectOf(kind: KeyKind, role: RoleOrNone, sent: ProjectSent): Verdict | undefined {
  switch (sent) {
    case "missing":
      return refused(400, "X-Project-Id header is required");
    case "malformed":
      return refused(400, "Invalid X-Project-Id header");
    case "unknown":
    case "inactive":
      return refused(404, "Project not found or inactive");
    case "foreign":
      return kind === "account"
        ? refused(403, "You do not have access to this project")
        : refused(403, "This API key is scoped to a different organization");
    case "own":
      return kind === "account" && role === "none" ? refused(403, "You do not have access to this project") : undefined;
  }
}

export function isRole(role: RoleOrNone): role is Role {
  return role !== "none";
}
