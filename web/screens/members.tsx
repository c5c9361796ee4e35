/** The people of a workspace, what each may do, and how another one comes in. */
import { useSignal } from "@preact/signals";
import { client, data, type Schemas } from "../api/client.ts";
import { useResource } from "../api/resource.ts";
import { Card } from "../parts/card.tsx";
import { Confirm } from "../parts/dialog.tsx";
import { SelectField, TextField } from "../parts/field.tsx";
import { useFormFault } from "../parts/form-fault.ts";
import { Icon } from "../parts/icon.tsx";
import { AddButton, IconButton } from "../parts/icon-button.tsx";
import { ShownOnce } from "../parts/shown-once.tsx";
import { Show } from "../parts/states.tsx";
import { attempt, say } from "../state/notices.ts";
import { signedIn } from "../state/session.ts";
import { t } from "../words/words.ts";

type Member = Schemas["Member"];
const ROLES = ["owner", "admin", "manager", "viewer"] as const;
type Role = (typeof ROLES)[number];

export function Members() {
  const inviting = useSignal(false);
  const link = useSignal<string | null>(null);
  const removing = useSignal<Member | null>(null);
  const list = useResource((signal) => data(client.GET("/members", { signal })), "members");
  return (
    <Card
      id="members"
      title={t("members.title")}
      beside={<AddButton small label={t("members.invite")} act={() => (inviting.value = true)} />}
    >
      <Show resource={list} rows={3}>
        {({ members }) => (
          <ul class="lines" aria-label={t("members.title")}>
            {members.map((member) => (
              <Line key={member.id} member={member} changed={list.reload} remove={() => (removing.value = member)} />
            ))}
          </ul>
        )}
      </Show>
      {inviting.value && (
        <Invite
          close={() => (inviting.value = false)}
          invited={(made) => {
            link.value = made;
            list.reload();
          }}
        />
      )}
      {link.value !== null && (
        <ShownOnce
          title={t("members.link")}
          text={t("members.linkText")}
          value={link.value}
          copied={t("members.linkCopied")}
          close={() => (link.value = null)}
        />
      )}
      {removing.value !== null && (
        <Remove member={removing.value} close={() => (removing.value = null)} changed={list.reload} />
      )}
    </Card>
  );
}

function Line({ member, changed, remove }: { member: Member; changed: () => void; remove: () => void }) {
  const { id, name, email, role } = member;
  const isSelf = String(id) === String(signedIn.value?.user.id);
  const shown = name ?? email;
  const setRole = (word: Role) =>
    attempt(
      () => data(client.PUT("/members/{id}", { params: { path: { id: String(id) } }, body: { role: word } })),
      t("members.changed", { name: shown }),
    ).then(changed);
  return (
    <li class="line">
      <Icon name="circle-user" />
      <div class="line-text">
        <b dir="auto">{shown}</b> {isSelf && <span class="tag quiet">{t("members.you")}</span>}
        {name !== null && <p class="faint">{email}</p>}
      </div>
      <div class="acts">
        <select
          aria-label={t("members.roleOf", { name: shown })}
          value={role}
          disabled={isSelf}
          onChange={(event) => void setRole(event.currentTarget.value as Role)}
        >
          {ROLES.map((word) => (
            <option key={word} value={word}>
              {t(`role.${word}`)}
            </option>
          ))}
        </select>
        {!isSelf && <IconButton icon="trash-2" label={t("members.removeOf", { name: shown })} act={remove} />}
      </div>
    </li>
  );
}

function Invite({ close, invited }: { close: () => void; invited: (link: string) => void }) {
  const [email, name] = [useSignal(""), useSignal("")];
  const role = useSignal<Role>("manager");
  const fault = useFormFault(["email", "name", "role"]);
  return (
    <Confirm
      title={t("members.invite")}
      close={close}
      confirm={t("members.inviteAct")}
      fault={fault}
      act={async () => {
        const body = { email: email.value, ...(name.value !== "" && { name: name.value }), role: role.value };
        const { link } = await data(client.POST("/members", { body: body }));
        if (link !== null) invited(link);
        else say(t("members.added", { name: email.value }));
      }}
    >
      <TextField
        label={t("account.email")}
        error={fault.of("email")}
        type="email"
        required
        value={email.value}
        onValue={(text) => (email.value = text)}
      />
      <TextField
        label={`${t("account.name")} ${t("field.optional")}`}
        error={fault.of("name")}
        value={name.value}
        onValue={(text) => (name.value = text)}
      />
      <SelectField
        label={t("members.role")}
        hint={t(`members.may.${role.value}`)}
        error={fault.of("role")}
        value={role.value}
        options={ROLES.map((word) => [word, t(`role.${word}`)] as const)}
        onValue={(word) => (role.value = word)}
      />
    </Confirm>
  );
}

function Remove({ member: { id, name, email }, close, changed }: RemoveProps) {
  const shown = name ?? email;
  return (
    <Confirm
      title={t("members.removeTitle")}
      close={close}
      confirm={t("members.remove")}
      danger
      act={async () => {
        await data(client.DELETE("/members/{id}", { params: { path: { id: String(id) } } }));
        say(t("members.removed", { name: shown }));
        changed();
      }}
    >
      <p>{t("members.removeText", { name: shown })}</p>
    </Confirm>
  );
}

interface RemoveProps {
  readonly member: Member;
  readonly close: () => void;
  readonly changed: () => void;
}
