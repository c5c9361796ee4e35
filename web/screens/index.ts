/** THE LIST of screens. A new one is a file and a line here. `nav` puts it into the navigation; `group` says below which link it is. */
import type { ComponentType } from "preact";
import type { Key } from "../words/words.ts";
import { Monitor } from "./monitor.tsx";
import { Monitors } from "./monitors.tsx";
import { Overview } from "./overview.tsx";
import type { ScreenProps } from "./screen.ts";

export interface Screen {
  readonly pattern: string;
  readonly title: Key;
  /** Address of the link in the navigation that is lit while the screen is open. */
  readonly group: string;
  /** Part of the first load, or loaded when the screen is first opened. */
  readonly screen: ComponentType<ScreenProps> | { readonly load: () => Promise<ComponentType<ScreenProps>> };
}

export interface NavLink {
  readonly path: string;
  readonly title: Key;
  readonly icon: string;
  /** Among the links at the foot of a phone. */
  readonly onPhone?: true;
}

/** In the order of the navigation. */
export const NAVIGATION: readonly NavLink[] = [
  { path: "/", title: "nav.overview", icon: "layout-grid", onPhone: true },
  { path: "/monitors", title: "nav.monitors", icon: "list", onPhone: true },
  { path: "/tunnels", title: "nav.tunnels", icon: "waypoints" },
  { path: "/subscriptions", title: "nav.subscriptions", icon: "link" },
  { path: "/incidents", title: "nav.incidents", icon: "siren", onPhone: true },
  { path: "/maintenance", title: "nav.maintenance", icon: "calendar-clock" },
  { path: "/alerts", title: "nav.alerts", icon: "bell" },
  { path: "/status-pages", title: "nav.statusPages", icon: "globe" },
  { path: "/check", title: "nav.check", icon: "zap", onPhone: true },
  { path: "/settings", title: "nav.settings", icon: "cog" },
];

export const SCREENS: readonly Screen[] = [
  { pattern: "/", title: "nav.overview", group: "/", screen: Overview },
  {
    pattern: "/monitors",
    title: "nav.monitors",
    group: "/monitors",
    screen: Monitors,
  },
  {
    pattern: "/monitors/new",
    title: "new.title",
    group: "/monitors",
    screen: { load: async () => (await import("./new-monitor.tsx")).NewMonitor },
  },
  {
    pattern: "/monitors/:id",
    title: "nav.monitors",
    group: "/monitors",
    screen: Monitor,
  },
  {
    pattern: "/incidents",
    title: "nav.incidents",
    group: "/incidents",
    screen: { load: async () => (await import("./incidents.tsx")).Incidents },
  },
  {
    pattern: "/incidents/:id",
    title: "nav.incidents",
    group: "/incidents",
    screen: { load: async () => (await import("./incident.tsx")).Incident },
  },
  {
    pattern: "/tunnels",
    title: "nav.tunnels",
    group: "/tunnels",
    screen: { load: async () => (await import("./tunnels.tsx")).Tunnels },
  },
  {
    pattern: "/subscriptions",
    title: "nav.subscriptions",
    group: "/subscriptions",
    screen: { load: async () => (await import("./subscriptions.tsx")).Subscriptions },
  },
  {
    pattern: "/subscriptions/:id",
    title: "nav.subscriptions",
    group: "/subscriptions",
    screen: { load: async () => (await import("./subscription.tsx")).Subscription },
  },
  {
    pattern: "/maintenance",
    title: "nav.maintenance",
    group: "/maintenance",
    screen: { load: async () => (await import("./maintenance.tsx")).Maintenance },
  },
  {
    pattern: "/alerts",
    title: "nav.alerts",
    group: "/alerts",
    screen: { load: async () => (await import("./alerts.tsx")).Alerts },
  },
  {
    pattern: "/alerts/:tab",
    title: "nav.alerts",
    group: "/alerts",
    screen: { load: async () => (await import("./alerts.tsx")).Alerts },
  },
  {
    pattern: "/status-pages",
    title: "nav.statusPages",
    group: "/status-pages",
    screen: { load: async () => (await import("./status-pages.tsx")).StatusPages },
  },
  {
    pattern: "/status-pages/:id",
    title: "nav.statusPages",
    group: "/status-pages",
    screen: { load: async () => (await import("./status-page.tsx")).StatusPage },
  },
  {
    pattern: "/check",
    title: "nav.check",
    group: "/check",
    screen: { load: async () => (await import("./check.tsx")).Check },
  },
  {
    // Of those without an account, opened by one who has it.
    pattern: "/check/:who",
    title: "nav.check",
    group: "/check",
    screen: { load: async () => (await import("./check.tsx")).Check },
  },
  {
    pattern: "/settings",
    title: "nav.settings",
    group: "/settings",
    screen: { load: async () => (await import("./settings.tsx")).Settings },
  },
  {
    pattern: "/keys",
    title: "nav.keys",
    group: "/settings",
    screen: { load: async () => (await import("./keys.tsx")).Keys },
  },
  {
    pattern: "/usage",
    title: "nav.usage",
    group: "/settings",
    screen: { load: async () => (await import("./usage.tsx")).Usage },
  },
  {
    pattern: "/workspace",
    title: "nav.workspace",
    group: "/settings",
    screen: { load: async () => (await import("./workspace.tsx")).Workspace },
  },
  {
    pattern: "/locations",
    title: "nav.locations",
    group: "/settings",
    screen: { load: async () => (await import("./locations.tsx")).Locations },
  },
  {
    pattern: "/audit",
    title: "nav.audit",
    group: "/settings",
    screen: { load: async () => (await import("./audit.tsx")).Audit },
  },
  {
    pattern: "/import",
    title: "nav.import",
    group: "/settings",
    screen: { load: async () => (await import("./import.tsx")).Import },
  },
  {
    pattern: "/webhooks",
    title: "nav.webhooks",
    group: "/settings",
    screen: { load: async () => (await import("./webhooks.tsx")).Webhooks },
  },
  {
    pattern: "/service",
    title: "nav.service",
    group: "/settings",
    screen: { load: async () => (await import("./service.tsx")).Service },
  },
  {
    pattern: "/wall",
    title: "nav.wall",
    group: "/",
    screen: { load: async () => (await import("./wall.tsx")).Wall },
  },
  {
    pattern: "/account",
    title: "account.title",
    group: "/settings",
    screen: { load: async () => (await import("./account.tsx")).Account },
  },
];
