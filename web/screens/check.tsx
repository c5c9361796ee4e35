/** Checks a link, a configuration or a list once. Nothing is stored. */

import { useSignal } from "@preact/signals";
import { client, data, messageOf, type Schemas } from "../api/client.ts";
import { Field } from "../parts/field.tsx";
import { Icon } from "../parts/icon.tsx";
import { Scroll } from "../parts/scroll.tsx";
import { StatusWord } from "../parts/status.tsx";
import { categoryWord } from "../parts/why.tsx";
import { detect, detectLine } from "../state/detect.ts";
import { say } from "../state/notices.ts";
import { milliseconds } from "../words/times.ts";
import { t } from "../words/words.ts";

type Result = Schemas["ConfigCheck"];

interface Line {
  readonly name: string;
  readonly body: Schemas["CheckConfig"];
  /** The link itself, for copying what works; null of a file. */
  readonly link: string | null;
  readonly result: Result | null;
  readonly error: string | null;
}

/** One request is one check of the day's quota: longer lists are for subscriptions. */
const MOST_LINES = 100;
const AT_ONCE = 4;
const TIMEOUT_S = 30;

/** @returns what of the text can be checked, and how many lines cannot */
function linesOf(text: string): { readonly lines: readonly Line[]; readonly refused: number } {
  const whole = detect(text);
  const parts =
    whole !== null
      ? [whole]
      : text
          .split("\n")
          .map((line) => line.trim())
          .filter((line) => line !== "")
          .map((line) => detectLine(line));
  const tunnels = parts.filter((part) => part?.kind === "vpn").slice(0, MOST_LINES);
  const lines = tunnels.map((part): Line => {
    const { url, config, protocol } = part?.fields ?? {};
    const link = typeof url === "string" ? url : null;
    const body = {
      config: String(url ?? config),
      ...(link === null && protocol !== undefined && { protocol }),
      timeout: TIMEOUT_S,
    };
    return { name: part?.name ?? "", body: body as Schemas["CheckConfig"], link, result: null, error: null };
  });
  return { lines, refused: parts.length - lines.length };
}

/** The lines that are being checked, some at once, until they are done or stopped. */
function useChecks() {
  const lines = useSignal<readonly Line[]>([]);
  const refused = useSignal(0);
  const stop = useSignal<AbortController | null>(null);
  const run = async (text: string) => {
    const found = linesOf(text);
    lines.value = found.lines;
    refused.value = found.refused;
    if (found.lines.length === 0) return;
    const own = new AbortController();
    stop.value = own;
    let next = 0;
    const lane = async () => {
      while (!own.signal.aborted && next < found.lines.length) {
        const index = next++;
        const outcome = await checkOne(found.lines[index], own.signal);
        lines.value = lines.value.map((line, at) => (at === index ? { ...line, ...outcome } : line));
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, lane));
    stop.value = null;
  };
  return { lines, refused, stop, run };
}

export function Check() {
  const text = useSignal("");
  const { lines, refused, stop, run } = useChecks();
  const done = lines.value.filter(({ result, error }) => result !== null || error !== null).length;
  return (
    <div class="screen">
      <h1>{t("nav.check")}</h1>
      <form
        class="card form"
        onSubmit={(event) => {
          event.preventDefault();
          if (stop.value === null) void run(text.value);
        }}
      >
        <Field label={t("check.what")} hint={t("check.hint", { n: MOST_LINES })}>
          {(attributes) => (
            <textarea
              dir="auto"
              {...attributes}
              class="paste"
              rows={6}
              spellcheck={false}
              placeholder="vless://…"
              value={text.value}
              onInput={(event) => (text.value = event.currentTarget.value)}
            />
          )}
        </Field>
        <div class="dialog-acts">
          {stop.value !== null && (
            <button type="button" class="button" onClick={() => stop.value?.abort()}>
              {t("check.stop")}
            </button>
          )}
          <button type="submit" class="button primary" aria-disabled={stop.value !== null}>
            <Icon name="zap" size={16} /> {t("check.act")}
          </button>
        </div>
      </form>
      {refused.value > 0 && <p class="hint">{t("check.refused", { n: refused.value })}</p>}
      {lines.value.length > 0 && (
        <>
          <div class="progress-line">
            <progress aria-label={t("check.progress")} max={lines.value.length} value={done} />
            <span>{t("check.done", { n: done, total: lines.value.length })}</span>
          </div>
          <Results lines={lines.value} />
        </>
      )}
    </div>
  );
}

async function checkOne(line: Line | undefined, signal: AbortSignal): Promise<Pick<Line, "result" | "error">> {
  if (line === undefined) return { result: null, error: null };
  try {
    return { result: await data(client.POST("/check", { body: line.body, signal })), error: null };
  } catch (error) {
    return { result: null, error: signal.aborted ? t("check.stopped") : messageOf(error) };
  }
}

function Results({ lines }: { lines: readonly Line[] }) {
  const working = lines.flatMap(({ result, link }) => (result?.status === "healthy" && link !== null ? [link] : []));
  const copy = () =>
    navigator.clipboard.writeText(working.join("\n")).then(
      () => say(t("check.copied", { n: working.length })),
      () => say(t("check.notCopied"), true),
    );
  return (
    <section class="card">
      <header class="card-head">
        <h2>{t("check.results")}</h2>
        {working.length > 0 && (
          <button type="button" class="button small" onClick={() => void copy()}>
            <Icon name="copy" size={14} /> {t("check.copy", { n: working.length })}
          </button>
        )}
      </header>
      <Scroll label={t("check.results")}>
        <table class="table" aria-label={t("check.results")}>
          <thead>
            <tr>
              <th scope="col">{t("col.result")}</th>
              <th scope="col">{t("col.name")}</th>
              <th scope="col">{t("col.kind")}</th>
              <th scope="col">{t("col.latency")}</th>
              <th scope="col">{t("col.engine")}</th>
              <th scope="col">{t("why.title")}</th>
            </tr>
          </thead>
          <tbody>
            {lines.map(({ name, result, error }, index) => (
              <tr key={index}>
                <td>
                  {result !== null ? (
                    <StatusWord status={result.status} />
                  ) : error !== null ? (
                    t("check.failed")
                  ) : (
                    t("check.running")
                  )}
                </td>
                <td dir="auto">{name}</td>
                <td>{result?.protocol ?? "–"}</td>
                <td class="number">{milliseconds(result?.latency_ms)}</td>
                <td>{result?.engine_used ?? "–"}</td>
                <td title={result?.error_message ?? undefined}>
                  {error ??
                    (result?.error_category == null
                      ? (result?.error_message ?? "")
                      : categoryWord(result.error_category))}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
    </section>
  );
}
