/** A new channel, or a change of one: its form is what the service says of its kind. */
import { useSignal } from "@preact/signals";
import { client, data, messageOf, type Schemas } from "../api/client.ts";
import { Confirm } from "../parts/dialog.tsx";
import { SelectField, TextField } from "../parts/field.tsx";
import { useFormFault } from "../parts/form-fault.ts";
import { Icon } from "../parts/icon.tsx";
import { fieldsOf, settingsOf, type Written, writtenOf } from "../parts/schema-fields.ts";
import { SchemaForm } from "../parts/schema-form.tsx";
import { say } from "../state/notices.ts";
import { milliseconds } from "../words/times.ts";
import { t } from "../words/words.ts";

type Channel = Schemas["Channel"];
type Kind = Schemas["ChannelKinds"]["kinds"][number];
type Tested = Schemas["ChannelTest"];
/** One of those that the service names. */
type KindName = Schemas["CreateChannel"]["kind"];

/** @returns the service's words, or that it took the message */
export function testWords({ delivered, error, duration_ms: ms }: Tested): string {
  return delivered ? t("channel.delivered", { duration: milliseconds(ms) }) : (error ?? t("channel.notDelivered"));
}

interface Props {
  readonly kinds: readonly Kind[];
  /** Null: a new one. */
  readonly channel: Channel | null;
  readonly close: () => void;
  readonly changed: () => void;
}

export function EditChannel({ kinds, channel, close, changed }: Props) {
  const kind = useSignal(channel?.kind ?? kinds[0]?.kind ?? "");
  const name = useSignal(channel?.name ?? "");
  const chosen = kinds.find((one) => one.kind === kind.value);
  const fields = fieldsOf(chosen?.fields);
  const written = useSignal<Written>(channel === null ? {} : writtenOf(fields, channel.settings));
  // Of an object each of its names is said: `secrets.token`.
  const kept = (channel?.has_secret ?? []).map((one) => one.split(".", 1)[0] ?? one);
  const fault = useFormFault(["name", ...fields.map((field) => field.name)]);
  const settings = () => settingsOf(fields, written.value, kept);
  const save = async () => {
    await store(channel, kind.value as KindName, { name: name.value, settings: settings() });
    say(t("act.saved", { name: name.value }));
    changed();
  };
  return (
    <Confirm
      title={t(channel === null ? "channel.add" : "channel.editTitle")}
      close={close}
      confirm={t("act.save")}
      act={save}
      fault={fault}
    >
      {channel === null && (
        <SelectField
          label={t("new.kind")}
          hint={<span dir="auto">{chosen?.summary}</span>}
          value={kind.value}
          options={kinds.map((one) => [one.kind, one.name] as const)}
          onValue={(word) => {
            kind.value = word;
            written.value = {};
          }}
        />
      )}
      <TextField
        label={t("field.name")}
        error={fault.of("name")}
        required
        maxLength={120}
        placeholder={chosen?.name ?? ""}
        value={name.value}
        onValue={(text) => (name.value = text)}
      />
      <SchemaForm
        key={kind.value}
        fields={fields}
        written={written.value}
        onValue={(field, text) => (written.value = { ...written.value, [field]: text })}
        kept={kept}
        fault={fault}
      />
      <Try channel={channel} kind={kind.value} settings={settings} />
    </Confirm>
  );
}

type Content = Omit<Schemas["CreateChannel"], "kind">;

function store(channel: Channel | null, kind: KindName, content: Content): Promise<unknown> {
  if (channel === null) return data(client.POST("/channels", { body: { kind, ...content } }));
  const params = { path: { id: String(channel.id) } };
  return data(client.PUT("/channels/{id}", { params, body: content }));
}

interface TryProps {
  readonly channel: Channel | null;
  readonly kind: string;
  readonly settings: () => Readonly<Record<string, unknown>>;
}

/** Sends a test with what is written, before it is saved. */
function Try({ channel, kind, settings }: TryProps) {
  const busy = useSignal(false);
  const outcome = useSignal<{ readonly words: string; readonly isWell: boolean; readonly sent: string } | null>(null);
  const send = async () => {
    if (busy.value) return;
    busy.value = true;
    outcome.value = null;
    try {
      const body = { kind: kind as KindName, settings: settings(), ...(channel !== null && { id: channel.id }) };
      const tested = await data(client.POST("/channels/test", { body }));
      outcome.value = { words: testWords(tested), isWell: tested.delivered, sent: tested.sent };
    } catch (error) {
      outcome.value = { words: messageOf(error), isWell: false, sent: "" };
    }
    busy.value = false;
  };
  return (
    <div class="form">
      <div>
        <button type="button" class="button" aria-disabled={busy.value} onClick={() => void send()}>
          <Icon name="zap" size={16} /> {t(busy.value ? "channel.testing" : "channel.test")}
        </button>
      </div>
      {outcome.value !== null && (
        <div class="tried" role="status">
          <span class={outcome.value.isWell ? "s-healthy" : "s-down"}>
            <Icon name={outcome.value.isWell ? "circle-check" : "circle-x"} size={16} />
          </span>
          <span dir="auto">{outcome.value.words}</span>
          {outcome.value.sent !== "" && (
            <details>
              <summary>{t("channel.sent")}</summary>
              <pre class="sent" dir="auto">
                {outcome.value.sent}
              </pre>
            </details>
          )}
        </div>
      )}
    </div>
  );
}
