/** Channels: the ways by which people are told. */
import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { client, data, type Schemas } from "../api/client.ts";
import { useResource } from "../api/resource.ts";
import { Delete } from "../parts/delete.tsx";
import { Icon } from "../parts/icon.tsx";
import { AddButton, EditAndDelete } from "../parts/icon-button.tsx";
import { LastArrived } from "../parts/last-arrived.tsx";
import { Empty, Show } from "../parts/states.tsx";
import { channelState } from "../state/channel-state.ts";
import { attempt, say } from "../state/notices.ts";
import { canEdit } from "../state/session.ts";
import { t } from "../words/words.ts";
import { EditChannel, testWords } from "./alert-channel-form.tsx";

type Channel = Schemas["Channel"];
type Kind = Schemas["ChannelKinds"]["kinds"][number];

const RELOAD_MS = 20_000;

export function Channels() {
  const editing = useSignal<Channel | "new" | null>(null);
  const deleting = useSignal<Channel | null>(null);
  const both = useResource(
    async (signal) => {
      const [{ channels }, { kinds }] = await Promise.all([
        data(client.GET("/channels", { signal })),
        data(client.GET("/channels/kinds", { signal })),
      ]);
      return { channels, kinds };
    },
    "channels",
    RELOAD_MS,
  );
  const removed = deleting.value;
  const add = canEdit.value && <AddButton label={t("channel.add")} act={() => (editing.value = "new")} />;
  return (
    <>
      <Show resource={both} rows={4}>
        {({ channels, kinds }) => (
          <>
            <List
              channels={channels}
              kinds={kinds}
              add={add}
              changed={both.reload}
              edit={(channel) => (editing.value = channel)}
              remove={(channel) => (deleting.value = channel)}
            />
            {editing.value !== null && (
              <EditChannel
                kinds={kinds}
                channel={editing.value === "new" ? null : editing.value}
                close={() => (editing.value = null)}
                changed={both.reload}
              />
            )}
          </>
        )}
      </Show>
      {removed !== null && (
        <Delete
          what="channel"
          name={removed.name}
          close={() => (deleting.value = null)}
          act={() =>
            data(client.DELETE("/channels/{id}", { params: { path: { id: String(removed.id) } } })).then(both.reload)
          }
        />
      )}
    </>
  );
}

function List({
  channels,
  kinds,
  add,
  changed,
  edit,
  remove,
}: {
  channels: readonly Channel[];
  kinds: readonly Kind[];
  add: ComponentChildren;
  changed: () => void;
  edit: (channel: Channel) => void;
  remove: (channel: Channel) => void;
}) {
  if (channels.length === 0)
    return (
      <Empty icon="bell" title={t("channel.empty")}>
        <p>{t("channel.emptyText")}</p>
        {add}
      </Empty>
    );
  return (
    <>
      <div class="tab-acts">{add}</div>
      <ul class="card lines" aria-label={t("alerts.channels")}>
        {channels.map((channel) => (
          <Line
            key={channel.id}
            channel={channel}
            kinds={kinds}
            changed={changed}
            edit={() => edit(channel)}
            remove={() => remove(channel)}
          />
        ))}
      </ul>
    </>
  );
}

const STATE_ICONS = {
  ...{ ok: "circle-check", untried: "clock", troubled: "triangle-alert" },
  ...{ failing: "triangle-alert", off: "pause", unverified: "clock" },
} as const;
const STATE_TONES = {
  ...{ ok: "s-healthy", untried: "s-unknown", troubled: "s-degraded" },
  ...{ failing: "s-down", off: "s-paused", unverified: "s-unknown" },
} as const;

interface LineProps {
  readonly channel: Channel;
  readonly kinds: readonly Kind[];
  readonly changed: () => void;
  readonly edit: () => void;
  readonly remove: () => void;
}

function Line({ channel, kinds, changed, edit, remove }: LineProps) {
  const { id, name, kind, last_success_at: told, last_error: error } = channel;
  const state = channelState(channel);
  return (
    <li class="line">
      <span class={STATE_TONES[state]}>
        <Icon name={STATE_ICONS[state]} size={20} />
      </span>
      <div class="line-text">
        <b dir="auto">{name}</b> <span class="faint">{kinds.find((one) => one.kind === kind)?.name ?? kind}</span>
        <p class="faint">
          <span class={STATE_TONES[state]}>{t(`channel.state.${state}`)}</span>
          <LastArrived at={told} isSaid={state !== "untried"} />
        </p>
        {(state === "failing" || state === "troubled") && error !== null && (
          <p class={`cut-2 ${STATE_TONES[state]}`} dir="auto">
            {error}
          </p>
        )}
      </div>
      {canEdit.value && <Acts id={id} name={name} active={channel.active} {...{ changed, edit, remove }} />}
    </li>
  );
}

function Acts({
  id,
  name,
  active,
  changed,
  edit,
  remove,
}: Pick<LineProps, "changed" | "edit" | "remove"> & Pick<Channel, "id" | "name" | "active">) {
  const busy = useSignal(false);
  const params = { path: { id: String(id) } };
  const test = async () => {
    if (busy.value) return;
    busy.value = true;
    await attempt(async () => {
      const outcome = await data(client.POST("/channels/{id}/test", { params }));
      say(testWords(outcome), !outcome.delivered);
    });
    busy.value = false;
    changed();
  };
  const setActive = () =>
    attempt(() => data(client.PUT("/channels/{id}", { params, body: { active: !active } }))).then(changed);
  return (
    <div class="acts">
      <button
        type="button"
        class="button small"
        aria-disabled={busy.value}
        aria-label={t("channel.testOf", { name })}
        onClick={() => void test()}
      >
        {busy.value ? t("channel.testing") : t("channel.test")}
      </button>
      <button
        type="button"
        class="button small"
        aria-label={t(active ? "act.pauseOf" : "act.resumeOf", { name })}
        onClick={() => void setActive()}
      >
        {t(active ? "act.pause" : "act.resume")}
      </button>
      <EditAndDelete name={name} edit={edit} remove={remove} />
    </div>
  );
}
