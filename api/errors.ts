/** Every refusal of the API: status and message, in one table (docs/api-contract.md#order-of-checks). */
import { type ApiResponse, JSON_HEADERS } from "./http.ts";

const TABLE = {
  invalidServerId: [400, "Invalid server ID"],
  invalidIncidentId: [400, "Invalid incident ID"],
  invalidSubscriptionId: [400, "Invalid subscription ID"],
  invalidKeyId: [400, "Invalid key ID"],
  invalidOrganizationId: [400, "Invalid organization ID"],
  invalidJson: [400, "Invalid JSON body"],
  projectHeaderMissing: [400, "X-Project-Id header is required"],
  projectHeaderInvalid: [400, "Invalid X-Project-Id header"],
  nameInvalid: [400, "Missing or invalid name"],
  typeInvalid: [400, "Missing or invalid type"],
  urlInvalid: [400, "Missing or invalid url"],
  typeGroup: [400, "Groups cannot be created through the API."],
  typeChange: [400, "The type of a check cannot be changed. Create a new check instead."],
  signInInvalid: [400, "Send one of key, code and passkey."],
  invalidSessionId: [400, "Invalid session ID"],
  invalidPasskeyId: [400, "Invalid passkey ID"],
  passkeyNameInvalid: [400, "name must be a text of 1 to 60 characters."],
  passkeyInvalid: [400, "The browser's answer makes no passkey here: it is too old, or of another page. Try again."],
  othersMissing: [400, "others must be 1: it ends every session but this one."],
  invalidViewId: [400, "Invalid view ID"],
  viewNameInvalid: [400, "name must be a text of 1 to 60 characters."],
  viewQueryInvalid: [400, "query must be a text of 1 to 2000 characters."],
  viewSharedInvalid: [400, "shared must be true or false."],
  invalidMaintenanceId: [400, "Invalid maintenance ID"],
  invalidStatusPageId: [400, "Invalid status page ID"],
  maintenanceTargets: [400, "Name the monitors: server_ids, or a tag that some of them have, at most 1000 in all."],
  maintenanceTimes: [400, "ends_at must be a time after now and after starts_at, at most a year from now."],
  maintenanceTitle: [400, "title must be a text of 1 to 255 characters."],
  maintenanceText: [400, "text must be a text of at most 5000 characters."],
  maintenanceDays: [400, "starts_on and ends_on must be days such as 2026-12-31, the first not after the last."],
  maintenanceAnnounce: [400, "announce must be true or false."],
  incidentIdsInvalid: [400, "ids must be a list of 1 to 500 incident ids."],
  fromAfterTo: [400, "from must not be after to."],
  latencyPoints: [400, "It would have more than 500 points: send a longer step, or a shorter time."],
  noteInvalid: [400, "note must be a string of at most 500 characters."],
  invalidChannelId: [400, "Invalid channel ID"],
  channelKindInvalid: [400, "kind must be one of GET /channels/kinds."],
  documentNotFound: [404, "There is no document of this name."],
  channelKindFixed: [400, "kind of a channel cannot be changed: give another key."],
  channelSettingsInvalid: [400, "settings must be an object."],
  channelReasonInvalid: [
    400,
    "reason must be opened, raised, reminder, recovered, acknowledged, partial, expiring, sync, channel, digest or test.",
  ],
  channelsFull: [400, "A project has at most 100 channels."],
  noteTextInvalid: [400, "text must be a string of 1 to 5000 characters."],
  notePhaseInvalid: [400, "phase must be investigating, identified, monitoring or resolved."],
  notePublicInvalid: [400, "public must be true or false."],
  bulkTextInvalid: [400, "text must be share links, one a line."],
  bulkTextOrUrl: [400, "Send text or url, not both."],
  bulkAtOnceInvalid: [400, "at_once must be a whole number from 1 to 64."],
  bulkTextTooMany: [400, "text has more than 10000 configurations: send fewer."],
  linksInvalid: [400, "only must be healthy or all, format plain or base64, limit a whole number from 1 to 10000."],
  invalidWebhookId: [400, "Invalid webhook ID"],
  webhookEvents: [400, "events must be null or a list of types of events."],
  invalidMemberId: [400, "Invalid member ID"],
  memberEmailInvalid: [400, "Missing or invalid email"],
  memberNameInvalid: [400, "name must be a text of at most 120 characters."],
  memberRoleInvalid: [400, "role must be owner, admin, manager or viewer."],
  auditActorInvalid: [400, "actor must be the id of a user."],
  auditWhatInvalid: [400, "what must be a word of the audit log, such as monitor.deleted or monitor."],
  reportTitleInvalid: [400, "title must be a string of at most 200 characters, or null."],
  reportTextInvalid: [400, "postmortem must be a string of at most 20000 characters, or null."],
  keyNameMissing: [400, "Key name is required"],
  keyNameTooLong: [400, "Key name is required and must be at most 120 characters"],
  expiresUnreadable: [400, "expires must be a date, such as 2026-12-31."],
  expiresPast: [400, "expires must be in the future."],
  searchTextMissing: [400, "q is required"],
  serverIdInvalid: [400, "Missing or invalid server_id"],
  serverIdsInvalid: [400, "Missing or invalid server_ids"],
  serverIdsTooMany: [400, "server_ids must have at most 500 ids."],
  regionInvalid: [400, "Invalid region"],
  locationsInvalid: [400, "locations must be a list of 1 to 50 of any and lowercase two-letter countries."],
  disabledLocationsInvalid: [400, "disabled_locations must be some of the locations: not any, and not all of them."],
  notifyOnPartialInvalid: [400, "notify_on_partial must be true or false."],
  heartbeatLocations: [400, "A heartbeat has no locations."],
  heartbeatUnchecked: [400, "A heartbeat has no interval, timeout, retries or locations."],
  tagsTooMany: [400, "It would have more than 20 tags."],
  importSourceInvalid: [
    400,
    "source must be kuma, gatus, blackbox, xray-checker, uptimerobot, betterstack, checkly or openstatus.",
  ],
  importTextInvalid: [400, "text must be a file of the other program, or files a list of 1 to 50 with name and text."],
  importTooMany: [400, "These are more than 10000 monitors: sonde import on the command line takes them."],
  bulkActionInvalid: [400, "action must be pause, resume, delete, set or check."],
  bulkDryRunInvalid: [400, "dry_run must be true or false."],
  bulkExpectInvalid: [400, "expect must be a whole number, 0 or more."],
  bulkSetInvalid: [
    400,
    "set must be an object of interval, timeout, maxretries, tags_add, tags_remove, notify_on_partial and locations, one at least.",
  ],
  documentTextInvalid: [400, "document must be a text: YAML or JSON."],
  documentFlagsInvalid: [400, "dry_run, prune, adopt and skip_refused must be true or false."],
  documentExpectInvalid: [400, "expect must be the hash of a plan: ask with dry_run first."],
  textTooMuch: [400, "This text takes more memory or time to read than there is."],
  documentInvalid: [400, "The document has errors: nothing was changed."],
  documentNameInvalid: [400, "name must be 1 to 255 characters."],
  tokenForPush: [400, "token is for push checks."],
  tokenInvalid: [400, "token must be 10 to 64 letters or digits."],
  bulkTooMany: [400, "More than 10000 monitors match: name fewer."],
  tunnelsOnly: [400, "On-demand tests are for tunnels only."],
  heartbeatUntestable: [400, "A heartbeat cannot be tested."],
  protocolUndetected: [400, "Could not detect protocol"],
  configInvalid: [400, "Missing or invalid config"],
  endpointMissing: [400, "Could not extract Endpoint from wireguard config"],
  engineInvalid: [400, "engine must be xray or singbox."],
  idempotencyKeyInvalid: [400, "Idempotency-Key must be 1 to 255 visible ASCII characters."],
  keyMissing: [401, "API key is required. Provide X-API-Key header or Authorization: Bearer <key>"],
  keyInvalid: [401, "Invalid or expired API key"],
  keyExpired: [401, "API key has expired"],
  ownerInactive: [401, "API key owner account is inactive"],
  workspaceAccessRemoved: [401, "This API key's workspace access has been removed"],
  sessionEnded: [401, "The session has ended. Sign in again."],
  codeUseless: [401, "This sign-in link was used already or is too old. Make a new one."],
  passkeyUseless: [401, "This passkey signs no one in here. Try again, or sign in another way."],
  regionOnPlan: [402, "Region targeting requires the Pro plan or above."],
  notFromPage: [403, "This request did not come from the page."],
  sessionOnly: [403, "This is for sessions of the page. A key has none."],
  passkeyByKey: [403, "A session that began with a key adds no passkey. Sign in with a link or at the provider first."],
  viewForEditors: [403, "Views of everyone are saved and removed by owners, admins and managers."],
  noApiAccess: [403, "API access isn't included on this workspace's plan."],
  noApiAccessForKeys: [403, "API access isn't included on this workspace's plan. Upgrade to create API keys."],
  accountKeyCannotCreate: [403, "Account-wide keys cannot create API keys. Use a workspace key."],
  keyCreateForbidden: [403, "You do not have permission to create API keys"],
  keyRevokeForbidden: [403, "You do not have permission to revoke this key"],
  noOrganizationAccess: [403, "You do not have access to this organization"],
  otherOrganization: [403, "This API key is scoped to a different organization"],
  noProjectAccess: [403, "You do not have access to this project"],
  noTestsOnPlan: [403, "On-demand tests are not available on your plan"],
  serversNotAccessible: [403, "Some servers are not accessible"],
  noMonitorsOnPlan: [403, "Your plan does not allow monitors."],
  metricsNotHere: [403, "Metrics are answered on loopback only. Set SONDE_METRICS_TOKEN to read them from elsewhere."],
  metricsToken: [401, "The metrics token is required. Provide Authorization: Bearer <token>"],
  linksForbidden: [403, "Links are for owners and admins."],
  linksOff: [403, "Links are not revealed on this service."],
  serviceForbidden: [403, "This is for owners of the service's first workspace."],
  membersForbidden: [403, "Members are for owners and admins."],
  memberOwnerByOwner: [403, "Only an owner may make, change or remove an owner."],
  auditForbidden: [403, "The audit log is for owners and admins."],
  noteForeign: [403, "Only its author, an owner or an admin may change a note."],
  channelNotFound: [404, "Channel not found"],
  webhookNotFound: [404, "Webhook not found"],
  memberNotFound: [404, "Member not found"],
  noteNotFound: [404, "Note not found"],
  sessionNotFound: [404, "Session not found"],
  oidcOff: [404, "Signing in at a provider is not set up on this service."],
  passkeysOff: [404, "Passkeys need SONDE_BASE_URL: https:// and a name, or http://localhost."],
  passkeyNotFound: [404, "Passkey not found"],
  viewNotFound: [404, "View not found"],
  notFound: [404, "Not found"],
  monitorNotFound: [404, "Monitor not found"],
  serverNotFound: [404, "Server not found"],
  keyNotFound: [404, "API key not found"],
  incidentNotFound: [404, "Incident not found"],
  subscriptionNotFound: [404, "Subscription not found"],
  projectNotFound: [404, "Project not found or inactive"],
  methodNotAllowed: [405, "Method not allowed"],
  tunnelPaused: [409, "The tunnel is paused. Resume it to run a check."],
  monitorPaused: [409, "The monitor is paused. Resume it to run a check."],
  subscriptionOff: [409, "The monitor's subscription is switched off. Switch it on to resume the monitor."],
  providerDropped: [409, "The provider no longer lists this server."],
  bulkExpectOther: [409, "Another number of monitors matches now: look again, and send that number."],
  statusPageNotFound: [404, "Status page not found"],
  pageUpdateNotFound: [404, "Update not found"],
  slugTaken: [409, "Another status page already uses this slug."],
  domainOwn: [400, "domains must not have the address of this service itself."],
  domainTaken: [409, "Another status page already uses one of these domains."],
  statusPageMoved: [409, "The status page is another by now: read it again."],
  ifUpdatedAtInvalid: [400, "if_updated_at must be an ISO time."],
  statusPagesTooMany: [409, "This project has 100 status pages: delete one first."],
  maintenanceNotFound: [404, "Maintenance not found"],
  webhookOff: [409, "The webhook is switched off. Enable it to test it."],
  keysTooMany: [409, "A workspace has at most 1000 API keys: delete one with hard=1 first."],
  webhooksTooMany: [409, "The project has 100 webhooks, and may have no more."],
  passkeyTaken: [409, "This passkey was added already."],
  passkeysTooMany: [409, "You have 20 passkeys: remove one first."],
  viewsTooMany: [409, "There are 20 views: remove one first."],
  memberAlready: [409, "The person is a member of this workspace already."],
  memberLastOwner: [409, "The last owner of a workspace stays its owner."],
  membersTooMany: [409, "The workspace has 1000 members, and may have no more."],
  alertRulesMoved: [409, "The list is another by now: read it again, and send its version."],
  alertRuleUnknown: [400, "An id in rules is no rule of this project."],
  quietHoursUnknown: [400, "An id in quiet_hours is none of this project."],
  quietHoursUsed: [409, "A rule names quiet hours that would be gone."],
  maintenanceNotOn: [409, "No turn of this maintenance is on."],
  maintenanceTooMany: [409, "The project has 200 schedules of maintenance, and may have no more."],
  maintenanceGap: [
    409,
    "A monitor has another maintenance that has not ended: end it first, or choose a time that meets it.",
  ],
  channelNameTaken: [409, "Another channel of this project has this name"],
  tokenTaken: [409, "Another heartbeat has this token already."],
  documentOther: [409, "The plan is another one now: look at it again, and send its hash."],
  tokenFixed: [409, "token is given when a heartbeat is made, and cannot be changed."],
  urlTaken: [409, "Another subscription already uses this URL in this project"],
  followsSubscription: [409, "This monitor follows its subscription."],
  idempotencyKeyRunning: [
    409,
    "A request with this Idempotency-Key is still being answered. Try again in a few seconds.",
  ],
  documentRefused: [422, "Some things were refused: nothing was changed. skip_refused applies the others."],
  idempotencyKeyOther: [422, "This Idempotency-Key was used for another request."],
  idempotencyKeysUsedUp: [429, "This workspace has used 10000 Idempotency-Keys today."],
  channelTestsRunning: [429, "Too many tests of channels are under way. Wait for one to end."],
  tooManyPageRequests: [429, "Too many requests from this address. Try again later."],
  tooManyWrongKeys: [429, "Too many invalid API keys from this address. Try again later."],
  tooManySignIns: [429, "Too many sign-ins from this address. Wait a minute and try again."],
  internal: [500, "Internal server error"],
  checkerUnreachable: [502, "Checker unreachable"],
  noChecker: [503, "No checker nodes available"],
  noCheckerInRegion: [503, "No checker is available in this region."],
  pagesBusy: [503, "Too many status pages are being made. Try again in a few seconds."],
  textsBusy: [503, "Too many long texts wait to be read. Try again in a few seconds."],
  tooManyStreams: [503, "Too many streams are open. Close one, or try again later."],
  providerAway: [503, "The sign-in provider gives no good answer. Try again later; the log of the service says why."],
  storeAway: [503, "The database is not available right now. Try again in a few seconds."],
  readsRefused: [503, "The service is busy with checks. Try again in a few seconds."],
  redisAway: [503, "Redis is not available right now. Try again in a few seconds."],
} as const satisfies Record<string, readonly [number, string]>;

export type ErrorName = keyof typeof TABLE;

export const ERROR_NAMES = Object.keys(TABLE) as readonly ErrorName[];

/** Status and message, for the document. */
export function wordsOf(name: ErrorName): readonly [status: number, message: string] {
  return TABLE[name];
}

interface ErrorExtras {
  readonly details?: unknown;
  /** Seconds, in the body and as Retry-After. */
  readonly retryAfterS?: number;
  readonly headers?: readonly string[];
}

/** Thrown by handlers and checks; becomes the standard body. */
export class ApiError extends Error {
  override readonly name = "ApiError";
  readonly status: number;
  readonly extras: ErrorExtras;

  constructor(status: number, message: string, extras: ErrorExtras = {}) {
    super(message);
    this.status = status;
    this.extras = extras;
  }
}

export function refusal(name: ErrorName, extras: ErrorExtras = {}): ApiError {
  const [status, message] = TABLE[name];
  return new ApiError(status, message, extras);
}

export const badRequest = (message: string): ApiError => new ApiError(400, message);
export const forbidden = (message: string): ApiError => new ApiError(403, message);
export const unprocessable = (message: string): ApiError => new ApiError(422, message);

/** A configuration field over its limit, in bytes of UTF-8 (docs/api-contract.md#lengths). */
export function fieldTooLong(field: string, limitBytes: number, sizeBytes: number): ApiError {
  return new ApiError(413, `${field} must be at most ${limitBytes} bytes (received ${sizeBytes}).`);
}

export function bodyTooLong(limitBytes: number): ApiError {
  return new ApiError(413, `The request body must be at most ${limitBytes} bytes.`);
}

export function resultsAway(reason: string | null): ApiError {
  const why = reason === null ? "" : ` (${reason})`;
  return new ApiError(503, `Results are not available right now${why}. Try again in a few seconds.`, {
    headers: RETRY_SOON,
  });
}

/** Seconds until a store that is away is worth asking again. */
export const RETRY_SOON: readonly string[] = ["Retry-After", "5"];

/** RFC 9110 section 11.6.1: a 401 names a way to authenticate. Browsers show no dialog for a password at this scheme. */
const BEARER: readonly string[] = ["WWW-Authenticate", "Bearer"];

/** Standard error body (docs/api-contract.md#order-of-checks). */
export function errorResponse(error: ApiError): ApiResponse {
  const { details, retryAfterS, headers } = error.extras;
  const body: Record<string, unknown> = { error: true, code: error.status, message: error.message };
  if (details !== undefined) body.details = details;
  let sent = headers === undefined ? JSON_HEADERS : [...JSON_HEADERS, ...headers];
  if (error.status === 401) sent = [...sent, ...BEARER];
  if (retryAfterS !== undefined) {
    body.retry_after = retryAfterS;
    sent = [...sent, "Retry-After", String(retryAfterS)];
  }
  return { status: error.status, headers: sent, body: JSON.stringify(body) };
}
