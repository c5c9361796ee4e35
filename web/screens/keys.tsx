/** Keys of the API: what there are, when each was used, and a new one that is shown once. */

import { useSignal } from "@preact/signals";
import { client, data, type Schemas } from "../api/client.ts";
import { useResource } from "../api/resource.ts";
import { Confirm, Dialog } from "../parts/dialog.tsx";
import { SelectField, TextField } from "../parts/field.tsx";
import { useFormFault } from "../parts/form-fault.ts";
import { AddButton } from "../parts/icon-button.tsx";
import { ShownOnce } from "../parts/shown-once.tsx";
import { Empty, Show } from "../parts/states.tsx";
import { Table } from "../parts/table.tsx";
import { Ago, Moment } from "../parts/time.tsx";
import { say } from "../state/notices.ts";
import { serviceNow } from "../state/project.ts";
import { canEdit } from "../state/session.ts";
import { number, t } from "../words/words.ts";
import { SettingsHead } from "./settings.tsx";

type Key = Schemas["Key"];
const DAY_MS = 86_400_000;
const LIVES = ["", "30", "90", "365"] as const;

export function Keys() {
  const making = useSignal(false);
  const made = useSignal<string | null>(null);
  const revoking = useSignal<Key | null>(null);
  const looking = useSignal<Key | null>(null);
  const list = useResource((signal) => data(client.GET("/keys", { signal })), "keys");
  return (
    <div class="screen">
      <SettingsHead title="nav.keys">
        {canEdit.value && <AddButton label={t("keys.make")} act={() => (making.value = true)} />}
      </SettingsHead>
      <Show resource={list} rows={4}>
        {({ keys }) =>
          keys.length === 0 ? (
            <Empty icon="key-round" title={t("keys.empty")} />
          ) : (
            <KeyTable keys={keys} look={(key) => (looking.value = key)} revoke={(key) => (revoking.value = key)} />
          )
        }
      </Show>
      {making.value && (
        <Make
          close={() => (making.value = false)}
          made={(key) => {
            made.value = key;
            list.reload();
          }}
        />
      )}
      {made.value !== null && (
        <ShownOnce
          title={t("keys.made")}
          text={t("keys.madeText")}
          value={made.value}
          copied={t("keys.copied")}
          close={() => (made.value = null)}
        />
      )}
      {looking.value !== null && <KeyUsage key_={looking.value} close={() => (looking.value = null)} />}
      {revoking.value !== null && (
        <Revoke key_={revoking.value} close={() => (revoking.value = null)} changed={list.reload} />
      )}
    </div>
  );
}

function KeyTable({
  keys,
  look,
  revoke,
}: {
  keys: readonly Key[];
  look: (key: Key) => void;
  revoke: (key: Key) => void;
}) {
  return (
    <div class="card">
      <Table
        label={t("nav.keys")}
        heads={[t("col.name"), t("col.state"), t("keys.created"), t("keys.used"), t("keys.expires")]}
        hasActs
      >
        {keys.map((key) => (
          <tr key={key.id}>
            <td dir="auto">{key.name}</td>
            <td>{t(`keys.state.${key.status}`)}</td>
            <td>
              <Moment at={key.createdDate} />
            </td>
            <td>{key.lastUsedAt === null ? t("keys.never") : <Ago at={key.lastUsedAt} />}</td>
            <td>{key.expires === null ? t("keys.noEnd") : <Moment at={key.expires} />}</td>
            <td class="end">
              <button
                type="button"
                class="button small"
                aria-label={t("keys.usageOf", { name: key.name })}
                onClick={() => look(key)}
              >
                {t("nav.usage")}
              </button>{" "}
              {key.status === "active" && canEdit.value && (
                <button
                  type="button"
                  class="button small"
                  aria-label={t("keys.revokeOf", { name: key.name })}
                  onClick={() => revoke(key)}
                >
                  {t("keys.revoke")}
                </button>
              )}
            </td>
          </tr>
        ))}
      </Table>
    </div>
  );
}

const STRETCHES = [
  ["today", "usage.today"],
  ["last_7_days", "usage.days7"],
  ["last_30_days", "usage.days30"],
] as const;
/** Of the busiest. */
const MOST_ENDPOINTS = 12;

/** What was asked with one key. */
function KeyUsage({ key_: key, close }: { key_: Key; close: () => void }) {
  const params = { path: { id: String(key.id) } };
  const usage = useResource((signal) => data(client.GET("/keys/{id}/usage", { params, signal })), `usage ${key.id}`);
  const heads = [t("usage.requests"), t("usage.errors")];
  return (
    <Dialog title={t("keys.usageOf", { name: key.name })} close={close} wide>
      <div class="form">
        <Show resource={usage} rows={4}>
          {(value) => (
            <>
              <Table label={t("usage.requests")} heads={[t("latency.period"), ...heads]}>
                {STRETCHES.map(([name, title]) => (
                  <tr key={name}>
                    <td>{t(title)}</td>
                    <td class="number">{number(value[name].requests)}</td>
                    <td class="number">{number(value[name].errors)}</td>
                  </tr>
                ))}
              </Table>
              {value.endpoints.length > 0 && (
                <Table label={t("usage.endpoints")} heads={[t("usage.endpoint"), ...heads]}>
                  {value.endpoints.slice(0, MOST_ENDPOINTS).map(({ method, path, requests, errors }) => (
                    <tr key={`${method} ${path}`}>
                      <td>
                        <code dir="ltr">{`${method} ${path}`}</code>
                      </td>
                      <td class="number">{number(requests)}</td>
                      <td class="number">{number(errors)}</td>
                    </tr>
                  ))}
                </Table>
              )}
            </>
          )}
        </Show>
        <div class="dialog-acts">
          <button type="button" class="button" onClick={close}>
            {t("act.close")}
          </button>
        </div>
      </div>
    </Dialog>
  );
}

function Make({ close, made }: { close: () => void; made: (key: string) => void }) {
  const name = useSignal("");
  const life = useSignal<(typeof LIVES)[number]>("");
  const fault = useFormFault(["name", "expires"]);
  return (
    <Confirm
      title={t("keys.make")}
      close={close}
      confirm={t("keys.makeAct")}
      fault={fault}
      act={async () => {
        const expires = life.value === "" ? null : new Date(serviceNow() + Number(life.value) * DAY_MS).toISOString();
        const { key } = await data(client.POST("/keys", { body: { name: name.value, expires } }));
        made(key);
      }}
    >
      <TextField
        label={t("field.name")}
        error={fault.of("name")}
        required
        value={name.value}
        onValue={(text) => (name.value = text)}
      />
      <SelectField
        label={t("keys.expires")}
        error={fault.of("expires")}
        value={life.value}
        options={LIVES.map((days) => [days, days === "" ? t("keys.noEnd") : t("keys.days", { n: Number(days) })])}
        onValue={(days) => (life.value = days)}
      />
    </Confirm>
  );
}

function Revoke({ key_: key, close, changed }: { key_: Key; close: () => void; changed: () => void }) {
  return (
    <Confirm
      title={t("keys.revokeTitle")}
      close={close}
      confirm={t("keys.revoke")}
      danger
      act={async () => {
        await data(client.DELETE("/keys/{id}", { params: { path: { id: String(key.id) } } }));
        say(t("keys.revoked", { name: key.name }));
        changed();
      }}
    >
      <p>{t("keys.revokeText", { name: key.name })}</p>
    </Confirm>
  );
}
