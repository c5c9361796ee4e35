/** Keys of the API: what there are, when each was used, and a new one that is shown once. */

import { useSignal } from "@preact/signals";
import { client, data, type Schemas } from "../api/client.ts";
import { useResource } from "../api/resource.ts";
import { Confirm } from "../parts/dialog.tsx";
import { SelectField, TextField } from "../parts/field.tsx";
import { useFormFault } from "../parts/form-fault.ts";
import { Icon } from "../parts/icon.tsx";
import { ShownOnce } from "../parts/shown-once.tsx";
import { Empty, Show } from "../parts/states.tsx";
import { Table } from "../parts/table.tsx";
import { Ago, Moment } from "../parts/time.tsx";
import { say } from "../state/notices.ts";
import { serviceNow } from "../state/project.ts";
import { canEdit } from "../state/session.ts";
import { t } from "../words/words.ts";
import { SettingsHead } from "./settings.tsx";

type Key = Schemas["Key"];
const DAY_MS = 86_400_000;
const LIVES = ["", "30", "90", "365"] as const;

export function Keys() {
  const making = useSignal(false);
  const made = useSignal<string | null>(null);
  const revoking = useSignal<Key | null>(null);
  const list = useResource((signal) => data(client.GET("/keys", { signal })), "keys");
  return (
    <div class="screen">
      <SettingsHead title="nav.keys">
        {canEdit.value && (
          <button type="button" class="button primary" onClick={() => (making.value = true)}>
            <Icon name="plus" size={16} /> {t("keys.make")}
          </button>
        )}
      </SettingsHead>
      <Show resource={list} rows={4}>
        {({ keys }) =>
          keys.length === 0 ? (
            <Empty icon="key-round" title={t("keys.empty")} />
          ) : (
            <KeyTable keys={keys} revoke={(key) => (revoking.value = key)} />
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
      {revoking.value !== null && (
        <Revoke key_={revoking.value} close={() => (revoking.value = null)} changed={list.reload} />
      )}
    </div>
  );
}

function KeyTable({ keys, revoke }: { keys: readonly Key[]; revoke: (key: Key) => void }) {
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
