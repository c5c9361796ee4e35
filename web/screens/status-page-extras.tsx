/** Of a status page: its logo, its secret link, and the addresses of its badges. */
import { useSignal } from "@preact/signals";
import { client, data, type Schemas } from "../api/client.ts";
import { Confirm } from "../parts/dialog.tsx";
import { Field, SelectField, TextField } from "../parts/field.tsx";
import { Icon } from "../parts/icon.tsx";
import { copyText } from "../state/clipboard.ts";
import { say } from "../state/notices.ts";
import { canEdit } from "../state/session.ts";
import { t } from "../words/words.ts";

/** The API takes no larger one, bytes. */
const MOST_LOGO = 65_536;
const BADGES = ["status", "uptime", "latency", "certificate"] as const;

/** An image as a data address: it is part of the page, and nothing else is asked for it. */
export function LogoField({
  refused,
  value,
  onValue,
}: {
  /** What the service says of it. */
  refused: string | null;
  value: string;
  onValue: (value: string) => void;
}) {
  const error = useSignal<string | null>(null);
  const read = (input: HTMLInputElement) => {
    const file = input.files?.[0];
    input.value = "";
    if (file === undefined) return;
    error.value = file.size > MOST_LOGO ? t("page.logoTooLarge") : null;
    if (error.value !== null) return;
    const reader = new FileReader();
    reader.onload = () => onValue(String(reader.result));
    reader.readAsDataURL(file);
  };
  return (
    <Field label={t("page.logo")} hint={t("page.logoHint")} error={error.value ?? refused}>
      {(attributes) => (
        <span class="logo-field">
          {value !== "" && <img src={value} alt={t("page.logo")} height={40} />}
          <input
            type="file"
            accept="image/png,image/jpeg,image/svg+xml,image/webp,image/gif"
            {...attributes}
            onChange={(event) => read(event.currentTarget)}
          />
          {value !== "" && (
            <button type="button" class="button small" onClick={() => onValue("")}>
              {t("page.logoRemove")}
            </button>
          )}
        </span>
      )}
    </Field>
  );
}

/** Where readers with the link, and sites that show a badge, find it. */
export function Addresses({ page, changed }: { page: Schemas["StatusPage"]; changed: () => void }) {
  const rotating = useSignal(false);
  const badge = useSignal<(typeof BADGES)[number]>("status");
  const { url } = page.access;
  const hasBadge = page.access.type === "public" || page.access.type === "link";
  if (url === undefined && !hasBadge) return null;
  return (
    <section class="card form" aria-labelledby="addresses">
      <h2 id="addresses">{t("page.addresses")}</h2>
      {url !== undefined && (
        <>
          <Address label={t("page.secretLink")} value={url} />
          {canEdit.value && (
            <div>
              <button type="button" class="button small" onClick={() => (rotating.value = true)}>
                <Icon name="refresh-cw" size={14} /> {t("page.rotate")}
              </button>
            </div>
          )}
        </>
      )}
      {hasBadge && (
        <div class="pair">
          <SelectField
            label={t("page.badge")}
            value={badge.value}
            options={BADGES.map((word) => [word, t(`page.badge.${word}`)] as const)}
            onValue={(word) => (badge.value = word)}
          />
          <Address label={t("page.badgeAddress")} value={`${page.badge}/${badge.value}.svg`} />
        </div>
      )}
      {rotating.value && (
        <Confirm
          title={t("page.rotate")}
          close={() => (rotating.value = false)}
          confirm={t("page.rotate")}
          danger
          act={async () => {
            const body = { access: { type: "link" as const, rotate: true } };
            await data(client.PUT("/status-pages/{id}", { params: { path: { id: String(page.id) } }, body }));
            say(t("page.rotated"));
            changed();
          }}
        >
          <p>{t("page.rotateText")}</p>
        </Confirm>
      )}
    </section>
  );
}

function Address({ label, value }: { label: string; value: string }) {
  const copy = () => copyText(value, t("page.addressCopied"));
  return (
    <div class="address">
      <TextField label={label} dir="ltr" readOnly value={value} onValue={() => {}} />
      <button
        type="button"
        class="button small"
        aria-label={t("page.copyOf", { name: label })}
        onClick={() => void copy()}
      >
        <Icon name="copy" size={14} /> {t("keys.copy")}
      </button>
    </div>
  );
}
