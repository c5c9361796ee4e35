/** Conditions of Gatus, such as `[STATUS] == 200`: what each of them is in a monitor. */
import { goDurationIn } from "../durations.ts";
import { daysAtLeast, type MonitorDraft } from "../monitor-draft.ts";
import { Codes } from "../status-codes.ts";
import { numberIn, quoted } from "../values.ts";
import type { Condition, Operator } from "./condition.ts";
import { jsonExpression } from "./json-path.ts";

const DAY_S = 86_400;
/** Conditions of one endpoint, put into its monitor; those that cannot be said are in `rest`. */
export class ConditionReader {
  readonly #monitor: MonitorDraft;
  readonly #codes = new Codes();
  readonly #queries: string[] = [];
  readonly rest: Condition[] = [];

  constructor(monitor: MonitorDraft) {
    this.#monitor = monitor;
  }

  read(conditions: readonly Condition[], kind: "website" | "dns" | "tls" | "connection"): void {
    for (const condition of conditions) {
      const isSaid = this.#common(condition) || (kind !== "connection" && this.#of(kind, condition));
      if (!isSaid) this.rest.push(condition);
    }
    if (kind !== "website") return;
    const ranges = this.#codes.ranges();
    if (ranges.length === 0) this.#monitor.lost("its conditions on the status leave no code");
    else this.#monitor.set("accepted_statuscodes", ranges);
    if (this.#queries.length > 0) this.#monitor.set("json_query", this.#queries.join(" and "));
  }

  /** What every check asks anyway. */
  #common({ left, operator, right }: Condition): boolean {
    return (
      left === "[CONNECTED]" && ((operator === "==" && right === "true") || (operator === "!=" && right === "false"))
    );
  }

  #of(kind: "website" | "dns" | "tls", condition: Condition): boolean {
    if (kind === "dns") return this.#dns(condition);
    if (condition.left === "[CERTIFICATE_EXPIRATION]") return this.#expiration(condition, "ssl_expiration");
    if (kind === "tls") return false;
    if (condition.left === "[DOMAIN_EXPIRATION]") return this.#expiration(condition, "domain_expiration");
    if (condition.left === "[STATUS]") return this.#status(condition);
    if (condition.left === "[RESPONSE_TIME]") return this.#responseTime(condition);
    if (condition.left === "[BODY]") return this.#body(condition);
    const query = jsonExpression(condition);
    if (query !== undefined) this.#queries.push(query);
    return query !== undefined;
  }

  #status({ operator, right }: Condition): boolean {
    const any = /^any\((.*)\)$/.exec(right)?.[1];
    const codes = (any ?? right).split(",").map((one) => numberIn(one.trim()));
    if (codes.some((code) => code === undefined) || (any !== undefined && operator !== "==" && operator !== "!="))
      return false;
    const [limit = 0] = codes as readonly number[];
    const tests: Readonly<Record<Operator, (code: number) => boolean>> = {
      "==": (code) => codes.includes(code),
      "!=": (code) => !codes.includes(code),
      "<=": (code) => code <= limit,
      ">=": (code) => code >= limit,
      "<": (code) => code < limit,
      ">": (code) => code > limit,
    };
    this.#codes.keep(tests[operator]);
    return true;
  }

  /** Gatus is down then; a monitor here warns, and stays up. */
  #expiration({ operator, right }: Condition, field: "ssl_expiration" | "domain_expiration"): boolean {
    const seconds = durationOf(right);
    if ((operator !== ">" && operator !== ">=") || seconds === undefined) return false;
    const days = daysAtLeast(Math.ceil(seconds / DAY_S));
    this.#monitor.set(field, days);
    this.#monitor.changed(`${field} of ${days} days warns, where Gatus was down`);
    return true;
  }

  /** Milliseconds, or a duration. */
  #responseTime({ operator, right }: Condition): boolean {
    const seconds = durationOf(right);
    const ms = seconds === undefined ? numberIn(right) : seconds * 1_000;
    if ((operator !== "<" && operator !== "<=") || ms === undefined || ms < 1) return false;
    this.#monitor.set("max_response_time", Math.min(Math.round(ms), 120_000));
    this.#monitor.changed("a slow answer makes it degraded, where Gatus was down");
    return true;
  }

  #body({ operator, right }: Condition): boolean {
    const part = /^pat\(\*([^*?[\\]{1,255})\*\)$/.exec(right)?.[1];
    if (part !== undefined && this.#monitor.get("keyword") === undefined) {
      this.#monitor.kind("keyword").set("keyword", part);
      if (operator === "!=") this.#monitor.set("invert_keyword", true);
      return operator === "==" || operator === "!=";
    }
    const regex = operator === "==" && this.#monitor.get("body_regex") === undefined ? wholeRegex(right) : undefined;
    if (regex !== undefined) this.#monitor.set("body_regex", regex);
    return regex !== undefined;
  }

  #dns({ left, operator, right }: Condition): boolean {
    if (operator !== "==") return false;
    if (left === "[DNS_RCODE]") return right === "NOERROR";
    if (left !== "[BODY]") return false;
    const part = /^pat\(\*([^*?[\\]{1,255})\*\)$/.exec(right)?.[1];
    if (part !== undefined) this.#monitor.set("keyword", part);
    else if (/^(?:pat|any)\(/.test(right)) return false;
    else this.#monitor.set("expected", [right]);
    return true;
  }
}

/** `48h`; a bare number is no duration. */
function durationOf(text: string): number | undefined {
  return numberIn(text) === undefined ? goDurationIn(text) : undefined;
}

/** The whole text, or a pattern with * and ?, as a regular expression (RE2). */
function wholeRegex(text: string): string | undefined {
  if (/^any\(/.test(text) || text.length > 500) return undefined;
  const pattern = /^pat\((.*)\)$/s.exec(text)?.[1];
  if (pattern === undefined) return `^${escaped(text)}$`;
  if (/[[\\]/.test(pattern)) return undefined;
  const parts = [...pattern].map((sign) => (sign === "*" ? ".*" : sign === "?" ? "." : escaped(sign)));
  return `(?s)^${parts.join("")}$`;
}

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
}

/** For notes. */
export function conditionsText(conditions: readonly Condition[]): string {
  return conditions.map(({ text }) => quoted(text)).join(", ");
}
