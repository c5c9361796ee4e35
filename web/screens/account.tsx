/** What a person chooses on this device, and who they are. */
import { CheckField, SelectField } from "../parts/field.tsx";
import {
  HOURS,
  type Hours,
  hours,
  LANGUAGES,
  type Language,
  language,
  shortcuts,
  THEMES,
  type Theme,
  theme,
  zone,
} from "../state/prefs.ts";
import { signedIn } from "../state/session.ts";
import { t } from "../words/words.ts";
import { Passkeys } from "./passkeys.tsx";
import { Sessions } from "./sessions.tsx";

/** Each in itself, so that it is found by those who read no other. */
const LANGUAGE_NAMES: Readonly<Record<Language, string>> = {
  en: "English",
  ru: "Русский",
  fa: "فارسی",
  zh: "简体中文",
};

export function Account() {
  const user = signedIn.value?.user;
  const roles = signedIn.value?.organizations ?? [];
  return (
    <div class="screen narrow">
      <h1>{t("account.title")}</h1>
      <section class="card">
        <dl class="facts">
          <div>
            <dt>{t("account.name")}</dt>
            <dd dir="auto">{user?.name ?? "–"}</dd>
          </div>
          <div>
            <dt>{t("account.email")}</dt>
            <dd>{user?.email}</dd>
          </div>
          {roles.map(({ id, name, role }) => (
            <div key={id}>
              <dt dir="auto">{name}</dt>
              <dd>{t(`role.${role}`)}</dd>
            </div>
          ))}
        </dl>
      </section>
      <OnThisDevice />
      <Passkeys />
      <Sessions />
    </div>
  );
}

function OnThisDevice() {
  return (
    <section class="card form" aria-labelledby="look">
      <h2 id="look">{t("account.look")}</h2>
      <SelectField<Theme>
        label={t("account.theme")}
        value={theme.value}
        options={THEMES.map((word) => [word, t(`theme.${word}`)])}
        onValue={(word) => (theme.value = word)}
      />
      <SelectField<Language>
        label={t("account.language")}
        value={language.value}
        options={LANGUAGES.map((word) => [word, LANGUAGE_NAMES[word]])}
        onValue={(word) => (language.value = word)}
      />
      <SelectField<Hours>
        label={t("account.hours")}
        value={hours.value}
        options={HOURS.map((word) => [word, t(`account.hours.${word}`)])}
        onValue={(word) => (hours.value = word)}
      />
      <SelectField
        label={t("quiet.zone")}
        value={zone.value}
        options={[
          ["", t("account.zone.device")],
          ...Intl.supportedValuesOf("timeZone").map((one) => [one, one] as const),
        ]}
        onValue={(word) => (zone.value = word)}
      />
      <CheckField
        label={t("account.shortcuts")}
        checked={shortcuts.value === "on"}
        onChecked={(checked) => (shortcuts.value = checked ? "on" : "off")}
      />
      <p class="hint">{t("account.shortcutsHint")}</p>
    </section>
  );
}
