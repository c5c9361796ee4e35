/** A page as JSON, for programs of its readers. Pure. */
import { formatIso, isoOrNull } from "../../model/time.ts";
import type { StatusView } from "./view.ts";

/** @param badges prefix of the addresses of badges */
export function summaryOf(view: StatusView, badges: string, ageMs: number | null) {
  return {
    title: view.title,
    at: formatIso(view.atMs),
    age_s: ageMs === null ? 0 : Math.round(ageMs / 1_000),
    status: view.state,
    badge: `${badges}${view.badge}`,
    groups: view.groups.map(({ title, state, uptime, lines }) => ({
      title,
      status: state,
      uptime: rounded(uptime),
      components: lines.map((line) => ({
        title: line.title,
        text: line.text,
        status: line.state,
        working: line.share?.works ?? null,
        known: line.share?.known ?? null,
        uptime: rounded(line.uptime),
        latency_ms: line.latencyMs,
        certificate_days: line.certificateDays,
        badge: `${badges}${line.badge}`,
        days: line.days.map(({ date, look, downS }) => ({ date, state: look, down_s: downS })),
      })),
    })),
    incidents: view.incidents.map((one) => ({
      name: one.name,
      title: one.title,
      level: one.level,
      started_at: formatIso(one.fromMs),
      ended_at: isoOrNull(one.toMs),
      notes: one.notes.map(({ atMs, phase, text }) => ({ at: formatIso(atMs), phase, text })),
    })),
    updates: view.updates.map((one) => ({
      name: one.name,
      level: one.level,
      title: one.title,
      text: one.text,
      at: formatIso(one.atMs),
      ends_at: isoOrNull(one.endsAtMs),
    })),
    maintenance: view.maintenance.map(({ titles, fromMs, untilMs }) => ({
      titles,
      starts_at: formatIso(fromMs),
      ends_at: formatIso(untilMs),
    })),
  };
}

function rounded(uptime: number | null): number | null {
  return uptime === null ? null : Math.floor(uptime * 1_000) / 1_000;
}
