/** What is around every screen: navigation, project, live state, account, notices. */
import { useSignal, useSignalEffect } from "@preact/signals";
import type { ComponentType } from "preact";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { liveState } from "../api/live.ts";
import { NAVIGATION, type NavLink, SCREENS } from "../screens/index.ts";
import type { ScreenProps } from "../screens/screen.ts";
import { announcement, attempt, closeNotice, notice } from "../state/notices.ts";
import { keysOpen, paletteOpen } from "../state/palette-open.ts";
import { theme } from "../state/prefs.ts";
import { counts } from "../state/project.ts";
import { entry, go, matchPath, route } from "../state/route.ts";
import { openProject, project, signedIn, signOut } from "../state/session.ts";
import { number, t } from "../words/words.ts";
import { Icon } from "./icon.tsx";
import { KeysHelp } from "./keys-help.tsx";
import { Palette } from "./palette.tsx";
import { Failed, Skeleton } from "./states.tsx";
import { useScreenTitle } from "./title.ts";

export function Shell() {
  return (
    <div class={route.value.path === "/wall" ? "shell on-wall" : "shell"}>
      <button type="button" class="skip" onClick={() => document.getElementById("main")?.focus()}>
        {t("shell.skip")}
      </button>
      <header class="top">
        <a class="brand" href="#/">
          <Icon name="activity" size={20} />
          <span>Sonde</span>
        </a>
        <ProjectSwitcher />
        <span class="grow" />
        <button type="button" class="button ghost find" onClick={() => (paletteOpen.value = true)}>
          <Icon name="search" size={16} />
          <span>{t("palette.open")}</span>
          <kbd>Ctrl K</kbd>
        </button>
        <Live />
        <AccountMenu />
      </header>
      <Navigation />
      <main id="main" tabIndex={-1}>
        <Body />
      </main>
      {notice.value !== null && (
        <div class={notice.value.isError ? "notice error" : "notice"} role={notice.value.isError ? "alert" : "status"}>
          <span>{notice.value.text}</span>
          <button type="button" class="icon-button" aria-label={t("act.close")} onClick={closeNotice}>
            <Icon name="x" size={16} />
          </button>
        </div>
      )}
      <p class="sr-only" aria-live="polite">
        {announcement.value}
      </p>
      {paletteOpen.value && <Palette />}
      {keysOpen.value && <KeysHelp />}
    </div>
  );
}

function currentScreen() {
  for (const screen of SCREENS) {
    const params = matchPath(screen.pattern, route.value.path);
    if (params !== null) return { screen, params };
  }
  return null;
}

/** By pattern; what is part of the first load is there from the start. */
const loaded = new Map<string, ComponentType<ScreenProps>>();
for (const { pattern, screen } of SCREENS) if (typeof screen === "function") loaded.set(pattern, screen);

/** A new screen is read from its top. Where the focus was on what is gone with the old one, the next key goes on from the new one. */
function useBeginning(path: string): void {
  const before = useRef(path);
  useLayoutEffect(() => {
    if (before.current === path) return;
    before.current = path;
    if (entry.isNew) scrollTo(0, 0);
    if (document.activeElement === document.body) document.getElementById("main")?.focus({ preventScroll: true });
  }, [path]);
}

function Body() {
  const found = currentScreen();
  useBeginning(route.value.path);
  const pattern = found?.screen.pattern ?? "";
  useScreenTitle(found === null ? t("lost.title") : pattern === "/" ? "" : t(found.screen.title));
  const ready = useSignal("");
  const failed = useSignal(false);
  const attempts = useSignal(0);
  useEffect(() => {
    failed.value = false;
    const screen = found?.screen.screen;
    if (screen === undefined || typeof screen === "function" || loaded.has(pattern)) return;
    screen.load().then(
      (component) => {
        loaded.set(pattern, component);
        ready.value = pattern;
      },
      () => {
        failed.value = true;
      },
    );
  }, [pattern, attempts.value]);
  useSignalEffect(() => {
    if (liveState.value === "live" && failed.peek()) attempts.value++;
  });
  if (found === null)
    return (
      <div class="screen">
        <h1>{t("lost.title")}</h1>
        <p>{t("lost.text")}</p>
        <p>
          <a href="#/">{t("nav.overview")}</a>
        </p>
      </div>
    );
  ready.value;
  const Component = loaded.get(pattern);
  if (Component !== undefined) return <Component key={JSON.stringify(found.params)} params={found.params} />;
  return (
    <div class="screen">
      {failed.value ? <Failed message={t("shell.outdated")} again={() => location.reload()} /> : <Skeleton rows={8} />}
    </div>
  );
}

function Navigation() {
  const group = currentScreen()?.screen.group;
  const open = useSignal(false);
  const down = counts.value?.down ?? 0;
  const link = ({ path, title, icon, onPhone }: NavLink) => (
    <li key={path} class={onPhone === true ? "on-phone" : "more"}>
      <a
        href={`#${path}`}
        aria-current={group === path ? "page" : undefined}
        onClick={() => {
          open.value = false;
        }}
      >
        <Icon name={icon} />
        <span>{t(title)}</span>
      </a>
      {path === "/" && down > 0 && (
        <span class="badge s-down" aria-hidden="true">
          {number(down)}
        </span>
      )}
    </li>
  );
  return (
    <nav class={open.value ? "nav open" : "nav"} aria-label={t("nav.label")}>
      <ul>
        {NAVIGATION.map(link)}
        <li class="only-phone">
          <button type="button" aria-expanded={open.value} onClick={() => (open.value = !open.value)}>
            <Icon name="menu" />
            <span>{t("nav.more")}</span>
          </button>
        </li>
      </ul>
    </nav>
  );
}

function ProjectSwitcher() {
  const view = signedIn.value;
  const current = project.value;
  if (view === null || current === null) return null;
  const nameOf = (organizationId: number) => view.organizations.find(({ id }) => id === organizationId)?.name ?? "";
  return (
    <select
      class="project"
      aria-label={t("shell.project")}
      value={current.id}
      onChange={(event) => openProject(event.currentTarget.value)}
    >
      {view.projects.map(({ id, name, organization_id }) => (
        <option key={id} value={id}>
          {`${nameOf(organization_id)} / ${name}`}
        </option>
      ))}
    </select>
  );
}

function Live() {
  const state = liveState.value;
  return (
    <span class={`live is-${state}`} title={t(`live.${state}.long`)}>
      <span class="dot" aria-hidden="true" />
      <span class="live-word">{t(`live.${state}`)}</span>
    </span>
  );
}

function AccountMenu() {
  const menu = useRef<HTMLDivElement>(null);
  const open = useSignal(false);
  // With the menu itself: a later focus would take the next key away from where a person has gone meanwhile.
  useLayoutEffect(() => {
    if (!open.value) return;
    menu.current?.querySelector<HTMLElement>("[role^=menuitem]")?.focus();
    const away = (event: Event) => {
      if (!(event.target instanceof Node) || menu.current?.parentElement?.contains(event.target) !== true)
        open.value = false;
    };
    document.addEventListener("pointerdown", away);
    return () => document.removeEventListener("pointerdown", away);
  }, [open.value, open]);
  const move = (event: KeyboardEvent) => {
    if (event.key === "Escape") {
      open.value = false;
      menu.current?.parentElement?.querySelector("button")?.focus();
    }
    const items = [...(menu.current?.querySelectorAll<HTMLElement>("[role^=menuitem]") ?? [])];
    const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    if (step === 0) return;
    event.preventDefault();
    const at = items.indexOf(document.activeElement as HTMLElement);
    items[(at + step + items.length) % items.length]?.focus();
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the keys are those of the menu inside
    <div class="account" onKeyDown={move}>
      <button
        type="button"
        class="icon-button"
        aria-label={t("account.button")}
        aria-haspopup="menu"
        aria-expanded={open.value}
        onClick={() => (open.value = !open.value)}
      >
        <Icon name="circle-user" size={20} />
      </button>
      {open.value && (
        <div class="menu" role="menu" aria-label={t("account.button")} ref={menu}>
          <MenuItems close={() => (open.value = false)} />
        </div>
      )}
    </div>
  );
}

function MenuItems({ close }: { close: () => void }) {
  const user = signedIn.value?.user;
  return (
    <>
      <p class="menu-head" role="presentation">
        <b>{user?.name ?? user?.email}</b>
        {user?.name !== null && <span class="faint">{user?.email}</span>}
      </p>
      {(["system", "light", "dark"] as const).map((word) => (
        <button
          key={word}
          type="button"
          role="menuitemradio"
          aria-checked={theme.value === word}
          onClick={() => (theme.value = word)}
        >
          <Icon name={word === "system" ? "monitor" : word === "light" ? "sun" : "moon"} size={16} />
          {t(`theme.${word}`)}
        </button>
      ))}
      <button
        type="button"
        role="menuitem"
        onClick={() => {
          close();
          go("/account");
        }}
      >
        <Icon name="cog" size={16} />
        {t("account.title")}
      </button>
      <button type="button" role="menuitem" onClick={() => void attempt(signOut)}>
        <Icon name="log-out" size={16} />
        {t("account.signOut")}
      </button>
    </>
  );
}
