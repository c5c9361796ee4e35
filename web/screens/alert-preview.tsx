/** Which channels the rules would tell if something happened to a monitor now. Nothing is sent. */
import { useSignal } from "@preact/signals";
import { ALERT_EVENTS, type AlertEvent } from "../../model/alerting-rule.ts";
import { client, data, messageOf, type Schemas } from "../api/client.ts";
import { Card } from "../parts/card.tsx";
import { SelectField, TextField } from "../parts/field.tsx";
import { Icon } from "../parts/icon.tsx";
import { Moment } from "../parts/time.tsx";
import { shown } from "../state/project.ts";
import { route } from "../state/route.ts";
import { list, t } from "../words/words.ts";

type Heard = Schemas["AlertPreview"];
/** Names that the browser offers while one is written. */
const MOST_OFFERED = 200;

/** A name, or an id. */
function monitorNamed(text: string): string | null {
  const wanted = text.trim().toLowerCase();
  const entries = shown.value?.entries ?? [];
  return entries.find(({ id, name }) => id === wanted || name.toLowerCase() === wanted)?.id ?? null;
}

export function Preview() {
  // A monitor's own screen leads here with its id.
  const asked = route.peek().query.get("monitor") ?? "";
  const name = useSignal(shown.peek()?.byId.get(asked)?.name ?? asked);
  const event = useSignal<AlertEvent>("down");
  const heard = useSignal<Heard | null>(null);
  const error = useSignal<string | null>(null);
  const ask = async (submitted: Event) => {
    submitted.preventDefault();
    heard.value = null;
    error.value = null;
    const id = monitorNamed(name.value);
    if (id === null) {
      error.value = t("preview.noMonitor");
      return;
    }
    try {
      heard.value = await data(client.POST("/alert-rules/preview", { body: { event: event.value, server_id: id } }));
    } catch (reason) {
      error.value = messageOf(reason);
    }
  };
  return (
    <Card id="preview" title={t("preview.title")}>
      <form class="preview" onSubmit={ask}>
        <TextField
          label={t("col.monitor")}
          required
          list="preview-names"
          autoComplete="off"
          value={name.value}
          onValue={(text) => (name.value = text)}
        />
        <datalist id="preview-names">
          {(shown.value?.entries ?? []).slice(0, MOST_OFFERED).map((entry) => (
            <option key={entry.id} value={entry.name} />
          ))}
        </datalist>
        <SelectField
          label={t("preview.event")}
          value={event.value}
          options={ALERT_EVENTS.map((word) => [word, t(`rule.event.${word}`)] as const)}
          onValue={(word) => (event.value = word)}
        />
        <button type="submit" class="button">
          {t("preview.act")}
        </button>
      </form>
      <div role="status">
        {error.value !== null && <p class="form-error">{error.value}</p>}
        {heard.value !== null && <Steps heard={heard.value} />}
      </div>
    </Card>
  );
}

function Steps({ heard: { steps, silent_because: silent } }: { heard: Heard }) {
  return (
    <>
      {silent !== null && <p class="strong">{t("preview.silent", { why: silent })}</p>}
      <ol class="lines preview-steps">
        {steps.map((step, index) => (
          <li class="line" key={index}>
            <span class={step.matched ? "s-healthy" : "s-paused"}>
              <Icon name={step.matched ? "bell" : "x"} size={16} />
            </span>
            <div class="line-text">
              <b dir="auto">{step.rule.name}</b>
              {step.matched && step.channels.length > 0 && (
                <p>
                  {step.at !== null && (
                    <>
                      <Moment at={step.at} />{" "}
                    </>
                  )}
                  <Icon name="arrow-right" size={14} /> {list(step.channels.map(({ name }) => name))}
                </p>
              )}
              <p class="faint" dir="auto">
                {step.because}
              </p>
            </div>
          </li>
        ))}
      </ol>
    </>
  );
}
