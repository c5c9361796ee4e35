/** Messages that were sent, or should be: to whom, why, and whether they arrived. */
import type { Schemas } from "../api/client.ts";
import { Icon } from "../parts/icon.tsx";
import { Moment } from "../parts/time.tsx";
import { t } from "../words/words.ts";

export type Sent = Schemas["SentAlerts"]["alerts"][number];

const ICONS: Readonly<Record<Sent["state"], readonly [string, string]>> = {
  delivered: ["circle-check", "s-healthy"],
  pending: ["clock", "s-degraded"],
  failed: ["circle-x", "s-down"],
  overtaken: ["refresh-cw", "s-paused"],
  cancelled: ["x", "s-paused"],
};

/** @param label what a screen reader calls the list */
export function SentList({ label, alerts }: { label: string; alerts: readonly Sent[] }) {
  return (
    <ul class="lines" aria-label={label}>
      {alerts.map((alert, index) => (
        <Line key={`${alert.created_at} ${index}`} alert={alert} />
      ))}
    </ul>
  );
}

function Line({ alert }: { alert: Sent }) {
  const { channel, reason, state, title, attempts, last_error: error, sent_at: sent, created_at: made } = alert;
  const next = alert.next_attempt_at;
  const [icon, tone] = ICONS[state];
  return (
    <li class="line">
      <span class={tone}>
        <Icon name={icon} />
      </span>
      <div class="line-text">
        <b dir="auto">{channel.name}</b> <span class="faint">{`${channel.kind} · ${t(`sent.reason.${reason}`)}`}</span>
        {title !== null && <p dir="auto">{title}</p>}
        <p class="faint">
          {t(`sent.state.${state}`)} · <Moment at={sent ?? made} />
          {attempts.length > 1 && ` · ${t("sent.attempts", { n: attempts.length })}`}
          {sent === null && next !== null && (
            <>
              {` · ${t("sent.next")} `}
              <Moment at={next} />
            </>
          )}
        </p>
        {sent === null && error !== null && (
          <p class="s-down" dir="auto">
            {error}
          </p>
        )}
      </div>
    </li>
  );
}
