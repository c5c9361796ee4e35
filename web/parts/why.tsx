/** Why a check failed, in the order in which a person asks: what happened, where it stopped, what the other side said, how long each step took. */
import type { Schemas } from "../api/client.ts";
import { isOurs } from "../state/point-state.ts";
import { isUnanswered } from "../state/unanswered.ts";
import { milliseconds } from "../words/times.ts";
import { type Key, t } from "../words/words.ts";

export type Explain = Schemas["Explain"];
export const PHASES = ["resolve", "connect", "handshake", "request", "transfer"] as const;
/** @returns the page's own words for a category of the API; the category where there are none yet */
export function categoryWord(category: string): string {
  const key = `why.${category}`;
  return KNOWN.has(key) ? t(key as Key) : category;
}
const KNOWN: ReadonlySet<string> = new Set<Key>([
  "why.server_not_connected",
  "why.internet_stuck",
  "why.timeout",
  "why.auth_failed",
  "why.cert_error",
  "why.config_error",
  "why.dns_error",
  "why.checker_error",
  "why.rejected",
]);

function meaningOf(explain: Explain, category: string): string {
  return isUnanswered(explain, category) ? t("why.unanswered") : categoryWord(category);
}

export function Why({ message, explain }: { message: string | null; explain: Explain | undefined }) {
  return (
    <div class="why">
      <p class="why-message">{message ?? t("why.noMessage")}</p>
      {explain !== undefined && (
        <>
          {isOurs(explain.verdict) && <p class="why-ours">{t("why.ours")}</p>}
          <dl class="facts">
            {explain.error_category !== null && (
              <Fact name={t("why.meaning")} value={meaningOf(explain, explain.error_category)} />
            )}
            <Fact name={t("why.verdict")} value={explain.verdict} code />
            {explain.stage !== null && <Fact name={t("why.stage")} value={t(`phase.${explain.stage}`)} />}
            {explain.address !== null && <Fact name={t("why.address")} value={explain.address} code />}
            {explain.peer !== null && <Fact name={t("why.peer")} value={explain.peer} code />}
            {explain.hint !== null && <Fact name={t("why.hint")} value={explain.hint} />}
            <Fact name={t("why.from")} value={explain.location} code />
            <Fact name={t("why.late")} value={milliseconds(explain.lateness_ms)} />
          </dl>
          <Phases explain={explain} />
        </>
      )}
    </div>
  );
}

function Fact({ name, value, code = false }: { name: string; value: string; code?: boolean }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{code ? <code dir="auto">{value}</code> : <span dir="auto">{value}</span>}</dd>
    </div>
  );
}

/** The steps in order; the one that did not end is named as such. */
function Phases({ explain: { phases, stage, duration_ms: total } }: { explain: Explain }) {
  const steps = PHASES.filter((phase) => phases[phase] !== undefined || phase === stage);
  if (steps.length === 0) return null;
  const whole = Math.max(total, 0.001);
  return (
    <ol class="phases" aria-label={t("why.phases")}>
      {steps.map((phase) => {
        const ms = phases[phase];
        return (
          <li key={phase} class={phase === stage ? "phase stopped" : "phase"}>
            <span class="phase-name">{t(`phase.${phase}`)}</span>
            <meter class="phase-bar" min={0} max={whole} value={ms ?? whole} aria-label={t(`phase.${phase}`)} />
            <span class="phase-ms">
              {milliseconds(ms)}
              {phase === stage && ` ${t("why.stopped")}`}
            </span>
          </li>
        );
      })}
    </ol>
  );
}
