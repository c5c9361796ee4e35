/** What is set once and seldom looked at; each has a screen. */
import type { ComponentChildren } from "preact";
import { Icon } from "../parts/icon.tsx";
import { BackLink } from "../parts/states.tsx";
import { type Key, t } from "../words/words.ts";

const PLACES: readonly { readonly path: string; readonly title: Key; readonly text: Key; readonly icon: string }[] = [
  { path: "/keys", title: "nav.keys", text: "settings.keys", icon: "key-round" },
  { path: "/usage", title: "nav.usage", text: "settings.usage", icon: "gauge" },
  { path: "/workspace", title: "nav.workspace", text: "settings.workspace", icon: "users" },
  { path: "/import", title: "nav.import", text: "settings.import", icon: "database" },
  { path: "/audit", title: "nav.audit", text: "settings.audit", icon: "file-text" },
  { path: "/webhooks", title: "nav.webhooks", text: "settings.webhooks", icon: "webhook" },
  { path: "/service", title: "nav.service", text: "settings.service", icon: "activity" },
  { path: "/locations", title: "nav.locations", text: "settings.locations", icon: "map-pin" },
  { path: "/wall", title: "nav.wall", text: "settings.wall", icon: "grid-2x2" },
  { path: "/account", title: "account.title", text: "settings.account", icon: "circle-user" },
];

export function Settings() {
  return (
    <div class="screen">
      <h1>{t("nav.settings")}</h1>
      <ul class="cards">
        {PLACES.map(({ path, title, text, icon }) => (
          <li class="card place" key={path}>
            <Icon name={icon} size={22} />
            <div>
              <h2>
                <a href={`#${path}`}>{t(title)}</a>
              </h2>
              <p class="hint">{t(text)}</p>
            </div>
          </li>
        ))}
      </ul>
      <p class="hint">
        <a href="docs">{t("settings.docs")}</a>
      </p>
    </div>
  );
}

export function SettingsHead({ title, children }: { title: Key; children?: ComponentChildren }) {
  return (
    <>
      <BackLink path="/settings" title="nav.settings" />
      <header class="screen-head">
        <h1>{t(title)}</h1>
        {children}
      </header>
    </>
  );
}
