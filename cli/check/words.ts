/** A check's outcome in words for people. */
import { PHASES } from "../../model/result.ts";
import { type Paint, plain } from "../table.ts";
import type { Explained } from "./outcome.ts";
import type { CheckTarget } from "./target.ts";

const LABEL_COLUMNS = 12;

export function describe({ kind, place, name }: CheckTarget, said: Explained, paint: Paint): string {
  const lines = [[kind, plain(place), name === null ? "" : plain(name)].filter((word) => word !== "").join("  ")];
  for (const phase of PHASES) {
    const ms = said.stages[phase];
    if (ms === undefined) continue;
    const mark = said.stage === phase ? paint("red", "  ✗ failed here") : "";
    lines.push(`  ${phase.padEnd(LABEL_COLUMNS)}${ms.toFixed(1).padStart(9)} ms${mark}`);
  }
  lines.push(said.status === "healthy" ? passed(said, paint) : failed(said, paint));
  for (const [label, value] of detailsOf(said)) lines.push(`  ${label.padEnd(LABEL_COLUMNS)} ${plain(value)}`);
  return `${lines.join("\n")}\n`;
}

function passed({ duration_ms }: Explained, paint: Paint): string {
  return `${paint("green", "PASSED")} in ${seconds(duration_ms)}`;
}

function failed({ status, verdict, error_category, duration_ms }: Explained, paint: Paint): string {
  const category = `${error_category ?? ""} (${verdict})`;
  return status === "unknown"
    ? `${paint("yellow", "NOT MEASURED")}: ${category}: this says nothing about the server`
    : `${paint("red", "FAILED")} after ${seconds(duration_ms)}: ${category}`;
}

function detailsOf(said: Explained): readonly (readonly [string, string])[] {
  const ms = (value: number | null): string | null => (value === null ? null : `${value} ms`);
  const all: readonly (readonly [string, string | null])[] = [
    ["why", said.error_message],
    ["latency", ms(said.latency_ms)],
    ["connect", ms(said.connect_ms)],
    ["handshake", ms(said.handshake_time_ms)],
    ["address", said.address],
    ["inside", said.assigned_ip],
    ["engine", said.engine_used],
    ["peer said", said.peer],
    ["hint", said.hint],
  ];
  return all.flatMap(([label, value]) => (value === null ? [] : [[label, value] as const]));
}

export function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(ms < 10_000 ? 2 : 1)} s`;
}
