/** One status page: what it shows, to whom, and how it looks. */
import { type Signal, useSignal } from "@preact/signals";
import { useRef } from "preact/hooks";
import { client, data, messageOf, type Schemas } from "../api/client.ts";
import { useResource } from "../api/resource.ts";
import { AreaField, CheckField, Field, SelectField, TextField } from "../parts/field.tsx";
import { type FormFault, useFormFault } from "../parts/form-fault.ts";
import { Icon } from "../parts/icon.tsx";
import { KeptNote } from "../parts/kept-note.tsx";
import { listOf } from "../parts/monitor-fields.ts";
import { readSelector, subscriptions } from "../parts/selector-field.tsx";
import { ShowOne } from "../parts/states.tsx";
import { useThingTitle } from "../parts/title.ts";
import { type Draft, useDraft } from "../state/drafts.ts";
import { say } from "../state/notices.ts";
import { type ApiSelector, selectorText } from "../state/selector-text.ts";
import { canEdit } from "../state/session.ts";
import { t } from "../words/words.ts";
import type { ScreenProps } from "./screen.ts";
import { Addresses, LogoField } from "./status-page-extras.tsx";
import { type FilledGroup, Groups, namesOf } from "./status-page-groups.tsx";
import { PageUpdates } from "./status-page-updates.tsx";
import { publicAddress } from "./status-pages.tsx";

type Page = Schemas["StatusPage"];
const ACCESS = ["public", "link", "password", "session"] as const;
const THEMES = ["auto", "light", "dark"] as const;
const FRAMES = ["none", "self", "*"] as const;

const LIST = { path: "/status-pages", title: "nav.statusPages" } as const;

export function StatusPage({ params: { id = "" } }: ScreenProps) {
  const page = useResource(
    (signal) => data(client.GET("/status-pages/{id}", { params: { path: { id } }, signal })),
    id,
  );
  return (
    <div class="screen narrow">
      <ShowOne resource={page} rows={8} list={LIST}>
        {(view) => <Editor page={view} changed={page.reload} />}
      </ShowOne>
    </div>
  );
}

interface Written {
  readonly texts: Readonly<Record<Text, string>>;
  readonly flags: Readonly<Record<Flag, boolean>>;
  readonly groups: readonly FilledGroup[];
}

interface Filled {
  readonly texts: Signal<Written["texts"]>;
  readonly flags: Signal<Written["flags"]>;
  readonly groups: Signal<Written["groups"]>;
  readonly fault: FormFault;
  /** It has what was written before the screen was left. */
  readonly isKept: Signal<boolean>;
  /** What is written now. */
  readonly now: () => Written;
  /** What the form began with, which the page may not be any more: another person may have changed it. */
  readonly before: () => Written;
  /** @param sent what was written meanwhile stays */
  readonly take: (page: Page, sent: Written) => void;
}

type Text =
  | "title"
  | "slug"
  | "text"
  | "domains"
  | "timezone"
  | "language"
  | "theme"
  | "accent"
  | "days"
  | "home"
  | "contact"
  | "access"
  | "password"
  | "frame"
  | "logo"
  | "css";
type Flag = "listed" | "index" | "uptime" | "latency" | "certificate";

/** As the API names them. */
const NAMES = [
  ...["title", "slug", "text", "domains", "timezone", "language", "accent", "days", "home", "contact", "password"],
  ...["logo", "css"],
];

function useFilled(page: Page): Filled {
  const texts = useDraft(`page ${page.id}`, textsOf(page));
  const flags = useDraft(`page ${page.id} flags`, flagsOf(page));
  const groups = useDraft(`page ${page.id} groups`, groupsOf(page));
  const drafts = [texts, flags, groups];
  const isKept = useSignal(drafts.some(({ wasKept }) => wasKept));
  return {
    ...{ texts: texts.value, flags: flags.value, groups: groups.value },
    fault: useFormFault([...NAMES, ...namesOf(groups.value.value)]),
    isKept,
    now: () => ({ texts: texts.value.peek(), flags: flags.value.peek(), groups: groups.value.peek() }),
    before: () => ({ texts: texts.clean(), flags: flags.clean(), groups: groups.clean() }),
    take: (latest, sent) => {
      adopt(texts, textsOf(latest), sent.texts);
      adopt(flags, flagsOf(latest), sent.flags);
      adopt(groups, groupsOf(latest), sent.groups);
      isKept.value = false;
    },
  };
}

function adopt<T>(draft: Draft<T>, latest: T, sent: T): void {
  if (draft.value.peek() === sent) draft.value.value = latest;
  draft.settle(latest);
}

function textsOf(page: Page): Readonly<Record<Text, string>> {
  const { title, slug, text, timezone, language, theme, accent, frame, links, access, logo, css } = page;
  return {
    ...{ title, slug, text, timezone, language, theme, accent, frame, password: "" },
    domains: page.domains.join(", "),
    days: String(page.days),
    home: links.home ?? "",
    contact: links.contact ?? "",
    access: access.type,
    logo: logo ?? "",
    css: css ?? "",
  };
}

function flagsOf({ listed, index, show: { uptime, latency, certificate } }: Page): Readonly<Record<Flag, boolean>> {
  return { listed, index, uptime, latency, certificate };
}

function groupsOf(page: Page): readonly FilledGroup[] {
  return page.groups.map(({ title, open, components }) => ({
    title,
    open,
    components: components.map(({ servers, title: shownAs, text, merge }) => ({
      line: selectorText(servers as ApiSelector, subscriptions()),
      title: shownAs ?? "",
      text,
      merge,
    })),
  }));
}

type Fields = Readonly<Record<string, unknown>>;

/** As the API names them, but for the groups. */
function fieldsOf({ texts, flags }: Written): { readonly own: Fields; readonly links: Fields; readonly show: Fields } {
  const { title, slug, text, domains, timezone, language, theme, accent, days, home, contact, access, password } =
    texts;
  const { css, logo, frame } = texts;
  const { listed, index, ...show } = flags;
  const own = {
    ...{ title, slug, text, timezone, language, theme, accent, frame, listed, index },
    css: css === "" ? null : css,
    logo: logo === "" ? null : logo,
    days: Number(days),
    domains: listOf(domains),
    access: { type: access, ...(access === "password" && password !== "" && { password }) },
  };
  const links = { home: home === "" ? null : home, contact: contact === "" ? null : contact };
  return { own, links, show };
}

function changed(now: Fields, before: Fields): Fields {
  const isChanged = (name: string) => JSON.stringify(now[name]) !== JSON.stringify(before[name]);
  return Object.fromEntries(Object.entries(now).filter(([name]) => isChanged(name)));
}

/** Only what was changed in the form: what another person has changed meanwhile stays. */
function bodyOf(written: Written, before: Written): Schemas["UpdateStatusPage"] {
  const [is, was] = [fieldsOf(written), fieldsOf(before)];
  const [links, show] = [changed(is.links, was.links), changed(is.show, was.show)];
  const body = {
    ...changed(is.own, was.own),
    ...(Object.keys(links).length > 0 && { links }),
    ...(Object.keys(show).length > 0 && { show }),
    ...(written.groups !== before.groups && { groups: written.groups.map(sentGroup) }),
  };
  return body as unknown as Schemas["UpdateStatusPage"];
}

function sentGroup(group: FilledGroup, at: number) {
  const components = group.components.map((one, line) => ({
    servers: readSelector(one.line, `groups.${at}.components.${line}.servers`),
    title: one.title === "" ? null : one.title,
    text: one.text,
    merge: one.merge,
  }));
  return { ...group, components };
}

function Editor({ page, changed }: { page: Page; changed: () => void }) {
  const filled = useFilled(page);
  useThingTitle(page.title);
  const form = useRef<HTMLFormElement>(null);
  const params = { path: { id: String(page.id) } };
  const save = async (more: Pick<Schemas["UpdateStatusPage"], "published">) => {
    filled.fault.clear();
    try {
      const sent = filled.now();
      const body = { ...bodyOf(sent, filled.before()), ...more };
      filled.take(await data(client.PUT("/status-pages/{id}", { params, body })), sent);
    } catch (reason) {
      if (!filled.fault.refuse(reason, form.current)) say(messageOf(reason), true);
      return;
    }
    say(t("act.saved", { name: filled.now().texts.title }));
    changed();
  };
  return (
    <>
      <form
        ref={form}
        class="form"
        onSubmit={(event) => {
          event.preventDefault();
          void save({});
        }}
      >
        <header class="screen-head">
          <h1 dir="auto">{page.title}</h1>
          <span class="tag quiet">{t(page.published ? "page.published" : "page.draft")}</span>
          <div class="acts">
            <a class="button" href={readAddress(page)} target="_blank" rel="noreferrer">
              {t(page.published ? "page.open" : "page.preview")} <Icon name="external-link" size={14} />
            </a>
            {canEdit.value && (
              <>
                <button type="submit" class="button primary">
                  {t("act.save")}
                </button>
                <button type="button" class="button" onClick={() => void save({ published: !page.published })}>
                  {t(page.published ? "page.unpublish" : "page.publish")}
                </button>
              </>
            )}
          </div>
        </header>
        {filled.isKept.value && <KeptNote anew={() => filled.take(page, filled.now())} />}
        <What filled={filled} />
        <Groups groups={filled.groups} fault={filled.fault} />
        <Readers filled={filled} />
        <Looks filled={filled} />
        <Addresses page={page} changed={changed} />
      </form>
      {page.published && <PageUpdates id={String(page.id)} />}
    </>
  );
}

/** With what lets its readers in, where that is the link. */
function readAddress({ slug, access: { url } }: Page): string {
  return publicAddress(slug) + (url === undefined ? "" : new URL(url).search);
}

function What({ filled }: { filled: Filled }) {
  return (
    <section class="card form" aria-label={t("page.what")}>
      <div class="pair">
        <Text name="title" filled={filled} required />
        <Text name="slug" filled={filled} required hint={t("page.slugHint")} />
      </div>
      <Area name="text" filled={filled} hint={t("page.textHint")} />
    </section>
  );
}

type TextProps = {
  name: Exclude<Text, "theme" | "access" | "frame" | "logo">;
  filled: Filled;
  hint?: string;
  required?: boolean;
};

function Text({ name, filled: { texts, fault }, hint, required = false }: TextProps) {
  return (
    <TextField
      label={t(`page.${name}`)}
      error={fault.of(name)}
      hint={hint}
      required={required}
      value={texts.value[name]}
      onValue={(text) => (texts.value = { ...texts.value, [name]: text })}
    />
  );
}

function Area({ name, filled: { texts, fault }, hint }: TextProps) {
  return (
    <AreaField
      label={t(`page.${name}`)}
      error={fault.of(name)}
      hint={hint}
      rows={3}
      value={texts.value[name]}
      onValue={(text) => (texts.value = { ...texts.value, [name]: text })}
    />
  );
}

function Checked({ name, filled: { flags } }: { name: Flag; filled: Filled }) {
  return (
    <CheckField
      label={t(`page.show.${name}`)}
      checked={flags.value[name]}
      onChecked={(checked) => (flags.value = { ...flags.value, [name]: checked })}
    />
  );
}

function Readers({ filled }: { filled: Filled }) {
  const { texts } = filled;
  return (
    <section class="card form" aria-labelledby="readers">
      <h2 id="readers">{t("page.readers")}</h2>
      <div class="pair">
        <SelectField
          label={t("page.access")}
          value={texts.value.access}
          options={ACCESS.map((word) => [word, t(`page.access.${word}`)] as const)}
          onValue={(access) => (texts.value = { ...texts.value, access })}
        />
        {texts.value.access === "password" && <Text name="password" filled={filled} hint={t("field.kept")} />}
        <Text name="domains" filled={filled} hint={t("page.domainsHint")} />
        <Text name="home" filled={filled} />
        <Text name="contact" filled={filled} hint={t("page.contactHint")} />
        <SelectField
          label={t("page.frame")}
          value={texts.value.frame}
          options={FRAMES.map((word) => [word, t(`page.frame.${word === "*" ? "all" : word}`)] as const)}
          onValue={(frame) => (texts.value = { ...texts.value, frame })}
        />
      </div>
      <Checked name="listed" filled={filled} />
      <Checked name="index" filled={filled} />
    </section>
  );
}

function Looks({ filled }: { filled: Filled }) {
  const { texts, fault } = filled;
  return (
    <section class="card form" aria-labelledby="looks">
      <h2 id="looks">{t("page.looks")}</h2>
      <div class="pair">
        <SelectField
          label={t("account.theme")}
          value={texts.value.theme}
          options={THEMES.map((word) => [word, t(`theme.${word === "auto" ? "system" : word}`)] as const)}
          onValue={(theme) => (texts.value = { ...texts.value, theme })}
        />
        <Field label={t("page.accent")} error={fault.of("accent")}>
          {(attributes) => (
            <input
              type="color"
              {...attributes}
              value={texts.value.accent}
              onInput={(event) => (texts.value = { ...texts.value, accent: event.currentTarget.value })}
            />
          )}
        </Field>
        <LogoField
          refused={fault.of("logo")}
          value={texts.value.logo}
          onValue={(logo) => (texts.value = { ...texts.value, logo })}
        />
        <Text name="days" filled={filled} hint={t("page.daysHint")} />
        <Text name="timezone" filled={filled} />
        <Text name="language" filled={filled} hint={t("page.languageHint")} />
      </div>
      <div>
        <Checked name="uptime" filled={filled} />
        <Checked name="latency" filled={filled} />
        <Checked name="certificate" filled={filled} />
      </div>
      <details>
        <summary>{t("new.more")}</summary>
        <Area name="css" filled={filled} hint={t("page.cssHint")} />
      </details>
    </section>
  );
}
