/** The passkeys of the person: what their devices sign in with. */
import { useSignal } from "@preact/signals";
import { client, data, type Schemas } from "../api/client.ts";
import { useResource } from "../api/resource.ts";
import { Card } from "../parts/card.tsx";
import { Confirm } from "../parts/dialog.tsx";
import { TextField } from "../parts/field.tsx";
import { useFormFault } from "../parts/form-fault.ts";
import { Icon } from "../parts/icon.tsx";
import { AddButton, IconButton } from "../parts/icon-button.tsx";
import { Show } from "../parts/states.tsx";
import { Ago, Moment } from "../parts/time.tsx";
import { say } from "../state/notices.ts";
import { addPasskey, hasPasskeys, isGivenUp } from "../state/passkeys.ts";
import { t } from "../words/words.ts";

type Passkey = Schemas["Passkey"];
type Open = { readonly kind: "add" } | { readonly kind: "rename" | "remove"; readonly passkey: Passkey };

/** Nothing where the service has no address that passkeys can be bound to. */
export function Passkeys() {
  const ways = useResource((signal) => data(client.GET("/sign-in", { signal })), "sign-in");
  return ways.state.value.value?.passkeys === true ? <OwnPasskeys /> : null;
}

function OwnPasskeys() {
  const open = useSignal<Open | null>(null);
  const list = useResource((signal) => data(client.GET("/passkeys", { signal })), "passkeys");
  const close = () => {
    open.value = null;
  };
  return (
    <Card
      id="passkeys"
      title={t("passkeys.title")}
      beside={hasPasskeys() && <AddButton small label={t("passkeys.add")} act={() => (open.value = { kind: "add" })} />}
    >
      <Show resource={list} rows={1}>
        {({ passkeys }) =>
          passkeys.length === 0 ? (
            <p class="hint">{t("passkeys.none")}</p>
          ) : (
            <ul class="lines" aria-label={t("passkeys.title")}>
              {passkeys.map((passkey) => (
                <Line key={passkey.id} passkey={passkey} open={(kind) => (open.value = { kind, passkey })} />
              ))}
            </ul>
          )
        }
      </Show>
      {open.value !== null && <Act open={open.value} close={close} changed={list.reload} />}
    </Card>
  );
}

interface LineProps {
  readonly passkey: Passkey;
  readonly open: (kind: "rename" | "remove") => void;
}

function Line({ passkey: { name, created_at: added, used_at: used }, open }: LineProps) {
  return (
    <li class="line">
      <Icon name="key-round" />
      <div class="line-text">
        <b dir="auto">{name}</b>
        <p class="faint">
          {t("passkeys.added")} <Moment at={added} /> · {t("passkeys.used")}{" "}
          {used === null ? t("passkeys.never") : <Ago at={used} />}
        </p>
      </div>
      <div class="acts">
        <button
          type="button"
          class="button small"
          aria-label={t("passkeys.renameOf", { name })}
          onClick={() => open("rename")}
        >
          {t("passkeys.rename")}
        </button>
        <IconButton icon="trash-2" label={t("passkeys.removeOf", { name })} act={() => open("remove")} />
      </div>
    </li>
  );
}

interface ActProps {
  readonly open: Open;
  readonly close: () => void;
  readonly changed: () => void;
}

function Act({ open, close, changed }: ActProps) {
  if (open.kind === "remove") return <Remove passkey={open.passkey} close={close} changed={changed} />;
  return <Name passkey={open.kind === "add" ? null : open.passkey} close={close} changed={changed} />;
}

/** @param passkey null: a new one */
function Name({ passkey, close, changed }: Omit<ActProps, "open"> & { readonly passkey: Passkey | null }) {
  const name = useSignal(passkey?.name ?? "");
  const fault = useFormFault(["name"]);
  const act = async () => {
    if (passkey === null) {
      await addPasskey(name.value).catch((error: unknown) => {
        throw isGivenUp(error) ? new Error(t("passkeys.givenUp")) : error;
      });
      say(t("passkeys.addedOne", { name: name.value }));
    } else {
      const path = { id: String(passkey.id) };
      await data(client.PUT("/passkeys/{id}", { params: { path }, body: { name: name.value } }));
    }
    changed();
  };
  const title = t(passkey === null ? "passkeys.add" : "passkeys.rename");
  return (
    <Confirm title={title} close={close} confirm={title} act={act} fault={fault}>
      <TextField
        label={t("passkeys.name")}
        hint={t("passkeys.nameHint")}
        error={fault.of("name")}
        required
        maxLength={60}
        value={name.value}
        onValue={(text) => (name.value = text)}
      />
    </Confirm>
  );
}

function Remove({ passkey: { id, name }, close, changed }: Omit<ActProps, "open"> & { readonly passkey: Passkey }) {
  return (
    <Confirm
      title={t("passkeys.removeTitle")}
      close={close}
      confirm={t("passkeys.remove")}
      danger
      act={async () => {
        await data(client.DELETE("/passkeys/{id}", { params: { path: { id: String(id) } } }));
        changed();
      }}
    >
      <p>{t("passkeys.removeText", { name })}</p>
    </Confirm>
  );
}
