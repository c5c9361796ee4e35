/** Routes as data: path, scope, parameters, answers, and the handler. */
import type { z } from "zod";
import type { Actor } from "../model/actor.ts";
import type { AuditWord } from "../model/audit.ts";
import { type IdKind, parseId } from "../model/ids.ts";
import type { MaybePromise } from "../model/maybe-promise.ts";
import type { Plan, Role } from "../model/plan.ts";
import type { KeyRecord } from "../store/sql/accounts/keys-port.ts";
import type { ProjectRecord, UserRecord, WorkspaceRecord } from "../store/sql/accounts/port.ts";
import type { SessionRecord } from "../store/sql/accounts/sessions-port.ts";
import type { Api } from "./api.ts";
import type { JsonObject } from "./body.ts";
import { type ErrorName, refusal } from "./errors.ts";
import type { ApiAnswer, ApiRequest, ApiResponse } from "./http.ts";
import type { QueryParameters } from "./query.ts";
import type * as schemas from "./schemas/index.ts";
import type { Known } from "./warnings.ts";

export interface Call {
  readonly request: ApiRequest;
  /** Path parameters, decoded, in the order of the path. */
  readonly params: readonly string[];
  readonly nowMs: number;
  /** Of the caller; taken from a forwarded header only when a trusted proxy sent it. */
  readonly clientAddress: string;
}

export interface KeyCall extends Call {
  readonly user: UserRecord;
  /** The one that was sent, or that the session was made with; null: a session of a sign-in link. */
  readonly key: KeyRecord | null;
  /** null: a key was sent. */
  readonly session: SessionRecord | null;
  /** Whether it reaches every workspace of the person. */
  readonly isWide: boolean;
  /** Its plan and limits decide: the key's own, the project's, or the default one of an account-wide key. */
  readonly workspace: WorkspaceRecord;
  readonly role: Role;
  readonly plan: Plan;
  readonly actor: Actor;
}

export interface ProjectCall extends KeyCall {
  readonly project: ProjectRecord;
}

export type Method = "GET" | "POST" | "PUT" | "DELETE";

interface RouteBase {
  /** `*`: any method. */
  readonly method: Method | "*";
  /** Relative to the API root unless `atRoot`; `{name}` is a parameter. */
  readonly path: string;
  readonly atRoot?: true;
  /** What generated clients call it, as `createMonitor`: never changed once it was released. */
  readonly operationId: string;
  readonly group: string;
  readonly summary: string;
  readonly description?: string;
  readonly params?: Readonly<Record<string, z.ZodType>>;
  readonly query?: QueryParameters;
  readonly body?: RouteBody;
  /** By status: the shape of a JSON answer, or the media type of another. */
  readonly responses: Readonly<Record<number, Shape | string>>;
  /** Further statuses that answer the standard error body. */
  readonly errors?: readonly number[];
  /**
   * For the document: what this route refuses with, beyond what its scope, ids, query and body refuse by themselves. Rows of the
   * table of errors by name; a message with numbers in it as an example.
   */
  readonly refusals?: readonly Refusal[];
  /** For the document: headers of its own. */
  readonly headers?: Readonly<Record<string, ResponseHeader>>;
  /** Its answer has an ETag and may be compressed: `listed()` of listed.ts says so. */
  readonly isList?: true;
  /**
   * Its answer may be a second old while checks need the processors, or already while reads are many: everyone of a role in the project is shown the same
   * (kept-answers.ts).
   */
  readonly mayBeKept?: "when checks are late" | "when reads are many";
  /** Of public routes: no cache may keep the answer. */
  readonly isPrivate?: true;
  /** Left out of the document. */
  readonly hidden?: true;
  /** What its requests leave in the audit log. A test asks every route that is no GET to say it, also where that is nothing. */
  readonly audit?: Audited;
}

/**
 * The shape of an answer, by its name in schemas/. The document alone needs the shapes themselves, and is made when Sonde is built: so a service does not
 * load those thousands of objects.
 */
export interface Shape {
  readonly shape: ShapeName;
}
type ShapeName = {
  [Name in keyof typeof schemas]: (typeof schemas)[Name] extends z.ZodType ? Name : never;
}[keyof typeof schemas];

export function shape(name: ShapeName): Shape {
  return { shape: name };
}

interface RouteBody {
  readonly schema: z.ZodType;
  readonly required: boolean;
  /** The fields that counted for the record that was answered, where that depends on its kind; absent: all of the schema. */
  fieldsOf?(answered: JsonObject): Known;
}

export type Refusal = ErrorName | readonly [status: number, example: string];

export interface ResponseHeader {
  readonly description: string;
  readonly schema: z.ZodType;
  /** Statuses that carry it; every one when absent. */
  readonly on?: readonly number[];
  /** Whether those always carry it. */
  readonly required: boolean;
}

interface PublicRoute extends RouteBase {
  readonly scope: "public";
  /** Answers OPTIONS and sends CORS headers: the contract's public endpoints. */
  readonly cors?: true;
  handle(api: Api, call: Call): MaybePromise<ApiAnswer>;
}
interface KeyRoute extends RouteBase {
  readonly scope: "key";
  /** The refusal for a plan without API access, where it is not the usual. */
  readonly noApiAccess?: ErrorName;
  handle(api: Api, call: KeyCall): MaybePromise<ApiAnswer>;
}
export interface ProjectRoute extends RouteBase {
  readonly scope: "project";
  /** `project` in the query names the project, and wins over the header: a browser's EventSource sends no headers. */
  readonly isProjectInQuery?: true;
  /** Owner, Admin and Manager only; the refusal for a Viewer. */
  readonly editorsOnly?: string;
  /** An answer that is in memory and current: it is looked for before the read has to wait for others. */
  kept?(api: Api, call: ProjectCall): ApiResponse | undefined;
  /**
   * The answer where its rows are in memory, whatever little SQL is asked besides: that costs little, and waits for no read that costs much. Else undefined,
   * and handle() makes it.
   */
  fromMemory?(api: Api, call: ProjectCall): MaybePromise<ApiResponse | undefined>;
  handle(api: Api, call: ProjectCall): MaybePromise<ApiAnswer>;
}
/** The refusal for a Viewer of most routes. */
export const EDITORS_ONLY = "You do not have permission to edit this project";

/** What a request was and what it was answered. */
export interface Change {
  readonly call: KeyCall | ProjectCall;
  readonly sent: JsonObject;
  readonly answered: JsonObject;
}

export interface AuditRule {
  readonly what: AuditWord | ((change: Change) => AuditWord);
  /** Whether the body says that nothing shall be changed. */
  isLook?(sent: JsonObject): boolean;
  /** Whether anything was changed; absent: always. */
  isChange?(change: Change): boolean;
  /** Counts, and words of closed lists. */
  detail?(change: Change): JsonObject;
  /** Asked before the change; for what is gone behind it. */
  nameOf?(api: Api, call: KeyCall | ProjectCall): Promise<string | null>;
}

/** A word is a rule by itself; null: its requests change nothing that people keep. */
type Audited = AuditWord | AuditRule | null;

export type Route = PublicRoute | KeyRoute | ProjectRoute;

export function canEdit(role: Role): boolean {
  return role !== "viewer";
}

/** The path's id, or the contract's 400. */
export function pathId(call: Call, kind: IdKind, error: ErrorName): number {
  const id = parseId(kind, call.params[0] ?? "");
  if (id === undefined) throw refusal(error);
  return id;
}

/** Callers without a key have no answers of their own that could be kept. */
export function takesIdempotencyKey({ method, scope }: Route): boolean {
  return method === "POST" && scope !== "public";
}
