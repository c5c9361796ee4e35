/** What goes to standard output, in each of its forms; where that is for programs, the counts for people go to standard error. */

import { plain, plainJson, tableOptions } from "../table.ts";
import { type ClientList, clashList, singboxList } from "./client-lists.ts";
import { CSV_HEAD, csvLine } from "./csv.ts";
import type { BulkList } from "./list.ts";
import type { BulkOptions } from "./options.ts";
import type { Output } from "./output.ts";
import { type Ending, failedTable, healthyTable, summary } from "./report.ts";
import type { Measured } from "./speed.ts";
import { type BulkResult, byLatency, latencySpread, type Tally } from "./tally.ts";

export interface Writer {
  /** Each result is written as it comes. */
  readonly isStreaming: boolean;
  /** Before the first result. */
  begin?(): void;
  /** Each result as it comes; absent: all are written at the end. */
  result?(result: BulkResult): void;
  /** After the results: how fast one of them is. */
  speed?(measured: Measured): void;
  end(tally: Tally, ending: Ending): void;
}

const TOP_ON_TERMINAL = 30;
const LEFT_OUT_SHOWN = 5;

export function writerOf(options: BulkOptions, output: Output, list: BulkList): Writer {
  if (options.json === true) return jsonWriter(options.links === true, output, list);
  if (options.csv === true) return csvWriter(options.speed !== undefined, output, list);
  if (options.links === true) return linksWriter(output, list);
  if (options.clash === true) return clientWriter(clashList, output, list);
  if (options.singBox === true) return clientWriter(singboxList, output, list);
  const top = options.top === undefined ? (process.stdout.isTTY ? TOP_ON_TERMINAL : null) : options.top;
  return tableWriter(top, options.failures === true, output, list);
}

function tableWriter(top: number | null, hasFailures: boolean, output: Output, list: BulkList): Writer {
  const { columns } = tableOptions();
  return {
    isStreaming: false,
    end(tally, ending) {
      output.write(healthyTable(tally.results, top, columns, tally.speeds));
      if (hasFailures) output.write(failedTable(tally.results, top, columns));
      output.write(summary(list, tally, ending));
    },
  };
}

function jsonWriter(hasLinks: boolean, output: Output, list: BulkList): Writer {
  const write = (value: object): void => output.write(`${plainJson(value)}\n`);
  return {
    isStreaming: true,
    result({ item, view }) {
      const link = hasLinks && typeof item.settings.url === "string" ? { link: item.settings.url } : {};
      write({ type: "result", line: item.at, server: item.place, name: item.name, ...view, ...link });
    },
    speed({ result: { item }, mbitPerS }) {
      write({ type: "speed", line: item.at, server: item.place, name: item.name, mbit_per_s: mbitPerS });
    },
    end(tally, ending) {
      for (const { at, reason } of list.bad) write({ type: "left_out", line: at, reason });
      for (const { at, of } of list.duplicates) write({ type: "left_out", line: at, reason: "duplicate", same_as: of });
      write({ type: "summary", ...counts(list, tally, ending) });
      if (process.stderr.isTTY) process.stderr.write(summary(list, tally, ending));
    },
  };
}

function counts(list: BulkList, tally: Tally, { durationMs, isInterrupted }: Ending) {
  return {
    total: tally.total,
    checked: tally.checked,
    resumed: tally.resumed,
    healthy: tally.healthy,
    unmeasured: tally.unmeasured,
    duration_ms: Math.round(durationMs),
    interrupted: isInterrupted,
    by_protocol: Object.fromEntries(tally.byProtocol),
    by_category: Object.fromEntries(tally.failures),
    latency_ms: latencySpread(tally.results),
    duplicates: list.duplicates.length,
    unusable: list.bad.length,
    messages: list.messages,
  };
}

/** @param hasSpeeds they are measured after all checks, so no line is whole before */
function csvWriter(hasSpeeds: boolean, output: Output, list: BulkList): Writer {
  return {
    isStreaming: !hasSpeeds,
    begin: () => output.write(CSV_HEAD),
    result(result) {
      if (!hasSpeeds) output.write(csvLine(result, null));
    },
    end(tally, ending) {
      if (hasSpeeds)
        for (const result of tally.results) output.write(csvLine(result, tally.speeds.get(result.item.id) ?? null));
      process.stderr.write(summary(list, tally, ending));
    },
  };
}

/** Files have no link: their path is named. */
function linksWriter(output: Output, list: BulkList): Writer {
  return {
    isStreaming: false,
    end(tally, ending) {
      for (const { item } of byLatency(tally.results)) {
        output.write(`${typeof item.settings.url === "string" ? item.settings.url : item.at}\n`);
      }
      process.stderr.write(summary(list, tally, ending));
    },
  };
}

/** Lists for clients. Files of VPNs have no place in them. */
function clientWriter(make: (healthy: readonly BulkResult[]) => ClientList, output: Output, list: BulkList): Writer {
  return {
    isStreaming: false,
    end(tally, ending) {
      const { text, leftOut } = make(byLatency(tally.results));
      output.write(text);
      process.stderr.write(summary(list, tally, ending));
      for (const { at, reason } of leftOut.slice(0, LEFT_OUT_SHOWN))
        process.stderr.write(
          `  healthy, and left out: ${typeof at === "number" ? `line ${at}` : plain(at)}: ${reason}\n`,
        );
      const more = leftOut.length - LEFT_OUT_SHOWN;
      if (more > 0) process.stderr.write(`  … and ${more} more\n`);
    },
  };
}
