/** A client of a running service's REST API: what the terminal's commands and the demo ask with. */
import { setTimeout as pause } from "node:timers/promises";
import type { ClientConfig } from "../config.ts";
import { CommandError } from "./command.ts";

/** Longest wait for an answer, ms. */
const ANSWER_WITHIN_MS = 15_000;
/** How often a read is tried again that the service refused because checks need the processors. */
const TRIED_AGAIN = 5;
const LONGEST_PAUSE_S = 10;

/** Rows as the API sends them, as far as the terminal shows them. */
export interface MonitorRow {
  readonly id: string;
  readonly name: string;
  readonly type: string;
  readonly protocol: string;
  readonly status: string;
  readonly active: boolean;
  readonly interval: number | null;
  readonly latency_ms: number | null;
  readonly last_checked: string | null;
  readonly lateness_ms?: number | null;
}

export interface ResultRowShown {
  readonly id: string;
  readonly server_id: string;
  readonly server_name: string;
  readonly status: string;
  readonly latency_ms: number | null;
  readonly protocol: string;
  readonly tested_at: string;
  readonly error_message: string | null;
  readonly explain?: Readonly<Record<string, unknown>>;
}

export interface IncidentRow {
  readonly id: string;
  readonly server_id: string;
  readonly server_name: string;
  readonly status: string;
  readonly severity: string;
  readonly started_at: string;
  readonly ended_at: string | null;
  readonly acknowledged: boolean;
  readonly error_message: string;
}

/** The service refused. */
export class AnswerError extends CommandError {
  readonly status: number;
  /** As it was parsed; undefined: it was no JSON. */
  readonly answer: unknown;

  constructor(message: string, status: number, answer: unknown) {
    super(message);
    this.status = status;
    this.answer = answer;
  }
}

export interface Client {
  readonly url: string;
  get<Answer>(path: string, query?: Readonly<Record<string, string | number | undefined>>): Promise<Answer>;
  /** @param withinMs longest wait for the answer */
  post<Answer>(path: string, body: unknown, withinMs?: number): Promise<Answer>;
  put<Answer>(path: string, body: unknown): Promise<Answer>;
  remove<Answer>(path: string): Promise<Answer>;
}

/** @param config its project null: the service takes the key's default project @throws CommandError without a key */
export function connect(config: ClientConfig): Client {
  if (config.key === null) {
    throw new CommandError(
      "no key: set SONDE_KEY, or set SONDE_DATA_DIR to the data folder of the service, whose owner.key is read",
    );
  }
  const headers: Record<string, string> = { "x-api-key": config.key, accept: "application/json" };
  if (config.project !== null) headers["x-project-id"] = config.project;

  async function ask(
    method: string,
    path: string,
    body?: unknown,
    withinMs: number = ANSWER_WITHIN_MS,
  ): Promise<unknown> {
    const { status, location, text } = await send(`${config.url}/api/v1${path}`, withinMs, {
      method,
      headers: body === undefined ? headers : { ...headers, "content-type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    if (location !== null)
      throw new CommandError(`${config.url} leads to ${location}: give that address with --url or SONDE_URL`);
    const answer = parse(text);
    const isOk = status >= 200 && status < 300;
    if (isOk && answer !== undefined) return answer;
    throw new AnswerError(refusalOf(status, answer, config.url), status, answer);
  }

  return {
    url: config.url,
    get: async <Answer>(path: string, query: Readonly<Record<string, string | number | undefined>> = {}) =>
      (await askAgain(() => ask("GET", path + queryText(query)))) as Answer,
    post: async <Answer>(path: string, body: unknown, withinMs?: number) =>
      (await ask("POST", path, body, withinMs)) as Answer,
    put: async <Answer>(path: string, body: unknown) => (await ask("PUT", path, body)) as Answer,
    remove: async <Answer>(path: string) => (await ask("DELETE", path)) as Answer,
  };

  /** Redirects are not followed: the key would go to wherever they lead, and a POST would go on as a GET. */
  async function send(url: string, withinMs: number, options: RequestInit): Promise<Answered> {
    try {
      const response = await fetch(url, { ...options, redirect: "manual", signal: AbortSignal.timeout(withinMs) });
      const isRedirect = response.status >= 300 && response.status < 400;
      const location = isRedirect ? response.headers.get("location") : null;
      return { status: response.status, location, text: await response.text() };
    } catch (error) {
      throw new CommandError(
        `no answer from ${config.url} (${reasonOf(error, withinMs)}): is the service running there? Give --url or SONDE_URL`,
      );
    }
  }
}

interface Answered {
  readonly status: number;
  /** Where a redirect leads. */
  readonly location: string | null;
  readonly text: string;
}

/** What the operating system and the client call what happens when no service is there. */
const NETWORK_WORDS: ReadonlyMap<string, string> = new Map([
  ["ECONNREFUSED", "nothing listens there"],
  ["ENOTFOUND", "the name does not exist"],
  ["EAI_AGAIN", "the name server does not answer"],
  ["EHOSTUNREACH", "no way leads there"],
  ["ENETUNREACH", "no way leads there"],
  ["ECONNRESET", "the connection was cut"],
  ["UND_ERR_SOCKET", "the connection was cut"],
  ["UND_ERR_CONNECT_TIMEOUT", "it takes no connection"],
]);

function reasonOf(error: unknown, withinMs: number): string {
  if (!(error instanceof Error)) return String(error);
  // Its code is a number of the DOM, which says nothing to people.
  if (error.name === "TimeoutError") return `not within ${withinMs / 1_000} s`;
  const cause = error.cause instanceof Error ? error.cause : error;
  const { code } = cause as NodeJS.ErrnoException;
  return code === undefined ? cause.message : (NETWORK_WORDS.get(code) ?? code);
}

function queryText(query: Readonly<Record<string, string | number | undefined>>): string {
  const words = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== undefined) words.set(name, String(value));
  return words.size === 0 ? "" : `?${words}`;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The service's own words are for people as they stand; what they leave to do here follows. */
function refusalOf(status: number, answer: unknown, url: string): string {
  const words = messageOf(answer);
  if (words === undefined) return `${url} answered ${status}, but not as Sonde does: is it the address of the service?`;
  if (status >= 500) return `the service answered ${status}: ${words}`;
  const advice = ADVICE.get(words);
  if (advice !== undefined) return advice;
  if (status === 401) return `${words}: give another one with --key or SONDE_KEY`;
  const isClosed = NOT_OPENED.test(words);
  return isClosed
    ? `${words.replace(/\.$/, "")}; the operator of the service can open it with SONDE_ALLOW_NETS`
    : words;
}

/** What the API calls a server is a monitor here. */
const ADVICE: ReadonlyMap<string, string> = new Map([
  ["Server not found", "there is no such monitor: sonde monitors lists them"],
  ["Invalid server ID", "this is no id of a monitor, such as srv_1: sonde monitors lists them"],
  ["Incident not found", "there is no such incident: sonde incidents lists them"],
  ["Invalid incident ID", "this is no id of an incident, such as inc_1: sonde incidents lists them"],
  ["Maintenance not found", "there is no such maintenance: sonde maintenance list shows it"],
  [
    "Project not found or inactive",
    "there is no such project, or it is inactive: give another with --project or SONDE_PROJECT",
  ],
  ["Invalid X-Project-Id header", "the project must be an id such as prj_1 (--project, SONDE_PROJECT)"],
]);

/** Of the address guard, and of a kind of address that a setting opens; documentation stays closed. */
const NOT_OPENED =
  /is an? (?:loopback|private|carrier-grade NAT|link-local|site-local) address|is an address of this machine/;

function messageOf(answer: unknown): string | undefined {
  if (typeof answer !== "object" || answer === null || !("message" in answer)) return undefined;
  return String(answer.message);
}

/** Asks again after the pause that the service names, TRIED_AGAIN times at most. */
async function askAgain(ask: () => Promise<unknown>): Promise<unknown> {
  for (let tries = 0; ; tries++) {
    try {
      return await ask();
    } catch (error) {
      const pauseS = error instanceof AnswerError && error.status === 503 ? pauseOf(error.answer) : null;
      if (pauseS === null || tries >= TRIED_AGAIN) throw error;
      await pause(pauseS * 1_000);
    }
  }
}

/** The pause that the service asks for, seconds; null: it names none. */
function pauseOf(answer: unknown): number | null {
  if (typeof answer !== "object" || answer === null || !("retry_after" in answer)) return null;
  const { retry_after: seconds } = answer;
  return typeof seconds === "number" && seconds >= 0 ? Math.min(seconds, LONGEST_PAUSE_S) : null;
}
