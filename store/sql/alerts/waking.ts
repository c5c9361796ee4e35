/**
 * Groups wait for times that rules, quiet hours and maintenance said, and for ends of what monitors had. When those change, or a monitor is deleted,
 * the groups are looked at again. The sender asks what has
 * changed, and no writer of settings wakes groups, because only the holder of the sender's lease changes them.
 */
import { type Session, statement } from "../db/database.ts";

/** What ended so long before the look before is looked at once more, ms; our choice: clocks of processes are apart by seconds. */
const LOOKED_BACK_MS = 120_000;

const WRITTEN = statement(
  "alerts_settings_written",
  "select cast(coalesce(sum(rules + quiet_hours), 0) as bigint) as total from alert_rule_versions",
);
const SOME_ENDED = statement(
  "alerts_maintenance_ended",
  "select id from maintenance_windows where ends_at_ms > ? and ends_at_ms <= ? limit 1",
);
const WAKE_ALL = statement(
  "alerts_wake_all",
  "update alert_groups set due_at_ms = ? where closed_at_ms is null and (due_at_ms is null or due_at_ms > ?)",
);
const WAKE_ENDED = statement(
  "alerts_wake_ended",
  `update alert_groups set due_at_ms = ? where closed_at_ms is null and due_at_ms > ? and id in (
     select m.group_id from alert_members m join maintenance_windows w on w.monitor_id = m.monitor_id
     where w.ends_at_ms > ? and w.ends_at_ms <= ?)`,
);

const SOME_GONE = statement("alerts_monitors_gone", "select id from monitors where deleted_at_ms > ? limit 1");
const WAKE_GONE = statement(
  "alerts_wake_gone",
  `update alert_groups set due_at_ms = ? where closed_at_ms is null and (due_at_ms is null or due_at_ms > ?) and id in (
     select m.group_id from alert_members m join monitors n on n.id = m.monitor_id where n.deleted_at_ms > ?)`,
);

/** What one look found. */
interface Look {
  readonly atMs: number;
  /** How often lists of rules and of quiet hours were written, in all projects. */
  readonly written: number;
  /** `some`: groups of monitors whose maintenance has ended, or that were deleted. */
  readonly wakes: "all" | "some" | null;
}

export class SettingsWatch {
  #before: Look | null = null;

  /** At the first look everything counts as changed. */
  async look(session: Session, atMs: number): Promise<Look> {
    const [row] = await session.query<{ readonly total: number }>(WRITTEN);
    const written = row?.total ?? 0;
    if (this.#before === null || this.#before.written !== written) return { atMs, written, wakes: "all" };
    const ended = await session.query(SOME_ENDED, this.#lookedBackMs, atMs);
    const gone = await session.query(SOME_GONE, this.#lookedBackMs);
    return { atMs, written, wakes: ended.length + gone.length > 0 ? "some" : null };
  }

  async wake(session: Session, { atMs, wakes }: Look): Promise<void> {
    if (wakes === "all") await session.query(WAKE_ALL, atMs, atMs);
    if (wakes !== "some") return;
    await session.query(WAKE_ENDED, atMs, atMs, this.#lookedBackMs, atMs);
    await session.query(WAKE_GONE, atMs, atMs, this.#lookedBackMs);
  }

  /** What it found is written. */
  done(look: Look): void {
    this.#before = look;
  }

  get #lookedBackMs(): number {
    return (this.#before?.atMs ?? 0) - LOOKED_BACK_MS;
  }
}
