/** Lists of servers that a provider keeps: whether each could be read, and what came of it. */
import { useSignal } from "@preact/signals";
import { client, data, type Schemas } from "../api/client.ts";
import { useResource } from "../api/resource.ts";
import { Confirm } from "../parts/dialog.tsx";
import { TextField } from "../parts/field.tsx";
import { useFormFault } from "../parts/form-fault.ts";
import { AddButton } from "../parts/icon-button.tsx";
import { Empty, Show } from "../parts/states.tsx";
import { StatusMark } from "../parts/status.tsx";
import { Ago } from "../parts/time.tsx";
import type { Status } from "../state/monitors.ts";
import { say } from "../state/notices.ts";
import { go } from "../state/route.ts";
import { canEdit } from "../state/session.ts";
import { t } from "../words/words.ts";

export type SubscriptionView = Schemas["Subscription"];
const RELOAD_MS = 15_000;
const MOST = 200;

export function Subscriptions() {
  const adding = useSignal(false);
  const list = useResource(
    (signal) => data(client.GET("/subscriptions", { params: { query: { limit: MOST } }, signal })),
    "subscriptions",
    RELOAD_MS,
  );
  return (
    <div class="screen">
      <header class="screen-head">
        <h1>{t("nav.subscriptions")}</h1>
        {canEdit.value && <AddButton label={t("subscription.add")} act={() => (adding.value = true)} />}
      </header>
      <Show resource={list} rows={6}>
        {({ subscriptions }) =>
          subscriptions.length === 0 ? (
            <Empty icon="link" title={t("subscription.empty")}>
              <p>{t("subscription.emptyText")}</p>
            </Empty>
          ) : (
            <ul class="cards">
              {subscriptions.map((one) => (
                <li key={one.id} class="card">
                  <h2>
                    <a href={`#/subscriptions/${one.id}`} dir="auto">
                      {one.name ?? t("subscription.unnamed", { n: one.id })}
                    </a>
                  </h2>
                  <SyncState view={one} />
                </li>
              ))}
            </ul>
          )
        }
      </Show>
      {adding.value && <Add close={() => (adding.value = false)} />}
    </div>
  );
}

export function SyncState({ view }: { view: SubscriptionView }) {
  const { enabled, lastSyncStatus: status, lastSyncedAt: at, lastServerCount: servers, syncErrorMessage: error } = view;
  const mark: Status =
    status === "success"
      ? "healthy"
      : status === "failed" || status === "auto_disabled"
        ? "down"
        : enabled
          ? "unknown"
          : "paused";
  return (
    <>
      <p class="sub">
        <StatusMark status={mark} />
        <span>{t(enabled || status === "auto_disabled" ? `sync.${status ?? "never"}` : "sync.off")}</span>
        {at !== null && <Ago at={at} />}
        {servers !== null && <span>{t("subscription.servers", { n: servers })}</span>}
      </p>
      {error !== null && (
        <p class="form-error" dir="auto">
          {error}
        </p>
      )}
    </>
  );
}

function Add({ close }: { close: () => void }) {
  const url = useSignal("");
  const name = useSignal("");
  const fault = useFormFault(["url", "name"]);
  return (
    <Confirm
      title={t("subscription.add")}
      close={close}
      confirm={t("act.save")}
      fault={fault}
      act={async () => {
        const body = { url: url.value.trim(), name: name.value.trim() === "" ? null : name.value };
        const made = await data(client.POST("/subscriptions", { body }));
        say(t("subscription.added"));
        go(`/subscriptions/${made.id}`);
      }}
    >
      <TextField
        label={t("field.url")}
        error={fault.of("url")}
        required
        autoComplete="off"
        value={url.value}
        onValue={(text) => (url.value = text)}
      />
      <TextField
        label={`${t("field.name")} ${t("field.optional")}`}
        error={fault.of("name")}
        value={name.value}
        onValue={(text) => (name.value = text)}
      />
    </Confirm>
  );
}
