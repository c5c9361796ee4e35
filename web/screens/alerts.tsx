/** Who is told what, when and by which way. */
import { Tabs } from "../parts/tabs.tsx";
import { t } from "../words/words.ts";
import { Channels } from "./alert-channels.tsx";
import { Deliveries } from "./alert-deliveries.tsx";
import { QuietHours } from "./alert-quiet-hours.tsx";
import { Rules } from "./alert-rules.tsx";
import type { ScreenProps } from "./screen.ts";

const TABS = {
  channels: { path: "/alerts", title: "alerts.channels", Content: Channels },
  rules: { path: "/alerts/rules", title: "alerts.rules", Content: Rules },
  "quiet-hours": { path: "/alerts/quiet-hours", title: "alerts.quietHours", Content: QuietHours },
  deliveries: { path: "/alerts/deliveries", title: "alerts.deliveries", Content: Deliveries },
} as const;

export function Alerts({ params: { tab = "channels" } }: ScreenProps) {
  const { path, Content } = Object.hasOwn(TABS, tab) ? TABS[tab as keyof typeof TABS] : TABS.channels;
  return (
    <div class="screen">
      <h1>{t("nav.alerts")}</h1>
      <Tabs
        label={t("nav.alerts")}
        tabs={Object.values(TABS).map((one) => ({ path: one.path, title: t(one.title) }))}
        current={path}
      >
        <Content />
      </Tabs>
    </div>
  );
}
