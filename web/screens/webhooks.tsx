/** Webhooks: programs that are told what happens. A new one's secret is shown once. */
import { useSignal } from "@preact/signals";
import { client, data, type Schemas } from "../api/client.ts";
import { useResource } from "../api/resource.ts";
import { Delete } from "../parts/delete.tsx";
import { Confirm } from "../parts/dialog.tsx";
import { Icon } from "../parts/icon.tsx";
import { AddButton, EditAndDelete } from "../parts/icon-button.tsx";
import { LastArrived } from "../parts/last-arrived.tsx";
import { ShownOnce } from "../parts/shown-once.tsx";
import { Empty, Show } from "../parts/states.tsx";
import { Moment } from "../parts/time.tsx";
import { attempt } from "../state/notices.ts";
import { canEdit } from "../state/session.ts";
import { t } from "../words/words.ts";
import { SettingsHead } from "./settings.tsx";
import { EditWebhook } from "./webhook-form.tsx";

type Webhook = Schemas["Webhook"];
type Delivery = Schemas["WebhookDeliveryList"]["deliveries"][number];

const RELOAD_MS = 20_000;
const MOST_DELIVERIES = 50;

export function Webhooks() {
  const editing = useSignal<Webhook | "new" | null>(null);
  const deleting = useSignal<Webhook | null>(null);
  const rotating = useSignal<Webhook | null>(null);
  const secret = useSignal<string | null>(null);
  const list = useResource((signal) => data(client.GET("/webhooks", { signal })), "webhooks", RELOAD_MS);
  const removed = deleting.value;
  const add = canEdit.value && <AddButton label={t("webhook.add")} act={() => (editing.value = "new")} />;
  const acts = {
    changed: list.reload,
    edit: (webhook: Webhook) => (editing.value = webhook),
    remove: (webhook: Webhook) => (deleting.value = webhook),
    rotate: (webhook: Webhook) => (rotating.value = webhook),
  };
  const shown = (text: string) => (secret.value = text);
  return (
    <div class="screen narrow">
      <SettingsHead title="nav.webhooks">{add}</SettingsHead>
      <p class="hint">{t("webhook.hint")}</p>
      <Show resource={list} rows={4}>
        {({ webhooks }) =>
          webhooks.length === 0 ? (
            <Empty icon="webhook" title={t("webhook.empty")} />
          ) : (
            <List webhooks={webhooks} {...acts} />
          )
        }
      </Show>
      {editing.value !== null && (
        <EditWebhook
          webhook={editing.value === "new" ? null : editing.value}
          close={() => (editing.value = null)}
          changed={list.reload}
          made={shown}
        />
      )}
      {removed !== null && (
        <Delete
          what="webhook"
          name={removed.url}
          close={() => (deleting.value = null)}
          act={() =>
            data(client.DELETE("/webhooks/{id}", { params: { path: { id: String(removed.id) } } })).then(list.reload)
          }
        />
      )}
      {rotating.value !== null && (
        <Rotate
          webhook={rotating.value}
          close={() => (rotating.value = null)}
          made={(text) => {
            shown(text);
            list.reload();
          }}
        />
      )}
      {secret.value !== null && <Secret value={secret.value} close={() => (secret.value = null)} />}
    </div>
  );
}

function Secret({ value, close }: { value: string; close: () => void }) {
  return (
    <ShownOnce
      title={t("webhook.secret")}
      text={t("webhook.secretText")}
      value={value}
      copied={t("webhook.secretCopied")}
      close={close}
    />
  );
}

interface Acts {
  readonly changed: () => void;
  readonly edit: (webhook: Webhook) => void;
  readonly remove: (webhook: Webhook) => void;
  readonly rotate: (webhook: Webhook) => void;
}

function List({ webhooks, ...acts }: Acts & { webhooks: readonly Webhook[] }) {
  return (
    <ul class="card lines" aria-label={t("nav.webhooks")}>
      {webhooks.map((webhook) => (
        <Line key={webhook.id} webhook={webhook} {...acts} />
      ))}
    </ul>
  );
}

function Line({ webhook, ...acts }: Acts & { webhook: Webhook }) {
  const { active, failing_since: failing, last_success_at: told, off_reason: reason, events, url } = webhook;
  const isOpen = useSignal(false);
  const isUntried = active && failing === null && told === null;
  const tone = !active ? "s-paused" : isUntried ? "s-unknown" : failing === null ? "s-healthy" : "s-down";
  const icon = !active ? "pause" : isUntried ? "clock" : failing === null ? "circle-check" : "triangle-alert";
  return (
    <li class="line">
      <span class={tone}>
        <Icon name={icon} size={20} />
      </span>
      <div class="line-text">
        <b dir="ltr">{url}</b>
        <p class="faint">
          <span class={tone}>
            {!active
              ? t(`webhook.off.${reason ?? "operator"}`)
              : t(isUntried ? "channel.state.untried" : failing === null ? "webhook.ok" : "webhook.failing")}
          </span>
          <LastArrived at={told} isSaid={!isUntried} />
          {" · "}
          {events === null ? t("webhook.allEvents") : t("webhook.someEvents", { n: events.length })}
        </p>
        <details onToggle={(event) => (isOpen.value = event.currentTarget.open)}>
          <summary>{t("webhook.deliveries")}</summary>
          {isOpen.value && <Deliveries id={webhook.id} />}
        </details>
      </div>
      {canEdit.value && <LineActs webhook={webhook} {...acts} />}
    </li>
  );
}

function LineActs({ webhook, changed, edit, remove, rotate }: Acts & { webhook: Webhook }) {
  const { id, url: name, active } = webhook;
  const params = { path: { id: String(id) } };
  const act = (work: () => Promise<unknown>, done?: string) => void attempt(work, done).then(changed);
  return (
    <div class="acts">
      <button
        type="button"
        class="button small"
        aria-label={t("channel.testOf", { name })}
        onClick={() => act(() => data(client.POST("/webhooks/{id}/test", { params })), t("webhook.queued"))}
      >
        {t("channel.test")}
      </button>
      <button
        type="button"
        class="button small"
        aria-label={t(active ? "act.pauseOf" : "act.resumeOf", { name })}
        onClick={() =>
          act(() => data(client.POST(active ? "/webhooks/{id}/disable" : "/webhooks/{id}/enable", { params })))
        }
      >
        {t(active ? "act.pause" : "act.resume")}
      </button>
      <button
        type="button"
        class="button small"
        aria-label={t("webhook.rotateOf", { name })}
        onClick={() => rotate(webhook)}
      >
        {t("webhook.rotate")}
      </button>
      <EditAndDelete name={name} edit={() => edit(webhook)} remove={() => remove(webhook)} />
    </div>
  );
}

function Deliveries({ id }: { id: number }) {
  const list = useResource(
    (signal) =>
      data(
        client.GET("/webhooks/{id}/deliveries", {
          params: { path: { id: String(id) }, query: { limit: MOST_DELIVERIES } },
          signal,
        }),
      ),
    String(id),
    RELOAD_MS,
  );
  return (
    <Show resource={list} rows={3}>
      {({ deliveries }) =>
        deliveries.length === 0 ? (
          <p class="hint">{t("delivery.empty")}</p>
        ) : (
          <ul class="plain-list" aria-label={t("webhook.deliveries")}>
            {deliveries.map((one) => (
              <DeliveryLine key={one.id} delivery={one} />
            ))}
          </ul>
        )
      }
    </Show>
  );
}

const TONES = { pending: "s-degraded", delivered: "s-healthy", failed: "s-down", cancelled: "s-paused" } as const;

function DeliveryLine({
  delivery: { type, state, created_at: at, attempts, next_attempt_at: next },
}: {
  delivery: Delivery;
}) {
  const last = attempts.at(-1);
  return (
    <li>
      <Moment at={at} /> <code>{type}</code> <span class={TONES[state]}>{t(`webhook.state.${state}`)}</span>{" "}
      <span class="faint">
        {last !== undefined &&
          t("webhook.attempt", { n: attempts.length, what: last.error ?? String(last.status_code) })}
        {state === "pending" && next !== null && (
          <>
            {" · "}
            {t("webhook.next")} <Moment at={next} />
          </>
        )}
      </span>
    </li>
  );
}

function Rotate({
  webhook: { id, url },
  close,
  made,
}: {
  webhook: Webhook;
  close: () => void;
  made: (secret: string) => void;
}) {
  return (
    <Confirm
      title={t("webhook.rotateTitle")}
      close={close}
      confirm={t("webhook.rotate")}
      act={async () => {
        const { secret } = await data(client.POST("/webhooks/{id}/rotate", { params: { path: { id: String(id) } } }));
        made(secret);
      }}
    >
      <p>{t("webhook.rotateText", { name: url })}</p>
    </Confirm>
  );
}
