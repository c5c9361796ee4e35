/** Checks a link, a configuration, a list or what is behind a subscription's address once, and shows each as its check ends. Nothing is stored. */
import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { client, data, messageOf, type Schemas } from "../api/client.ts";
import { postForLines } from "../api/lines.ts";
import { AreaField, SelectField } from "../parts/field.tsx";
import { Icon } from "../parts/icon.tsx";
import { endOf, type Head, headOf, pastedLines, type Row, rowOf } from "../state/checked.ts";
import { detect } from "../state/detect.ts";
import { useDraft } from "../state/drafts.ts";
import { t } from "../words/words.ts";
import { type Asked, CheckResults, type Progress } from "./check-results.tsx";

/** Longer lists are for subscriptions; the API takes no more. */
const MOST_CONFIGS = 10_000;
const ENGINES = ["", "xray", "singbox"] as const;
/** s. */
const TIMEOUTS = ["10", "15", "30", "60"] as const;
const AT_ONCE = 32;
/** Rows that have come are shown together this often, ms: ten thousand one by one would be drawn ten thousand times. */
const DRAW_MS = 250;

interface Options {
  readonly engine: (typeof ENGINES)[number];
  readonly timeout: (typeof TIMEOUTS)[number];
}

const USUAL: Options = { engine: "", timeout: "15" };

/** What runs, and what came of it so far. Leaving the screen ends it. */
function useRun() {
  const progress = useSignal<Progress | null>(null);
  const error = useSignal<string | null>(null);
  const flight = useRef<AbortController | null>(null);
  useEffect(() => () => flight.current?.abort(), []);
  const run = async (text: string, options: Options) => {
    const own = new AbortController();
    flight.current = own;
    error.value = null;
    const gathered = new Gathered(askedOf(text), (now) => (progress.value = now));
    try {
      if (isOneFile(text)) await checkOne(text, options, own.signal, gathered);
      else await checkMany(text, options, own.signal, gathered);
      gathered.end("done");
    } catch (reason) {
      gathered.end(own.signal.aborted ? "stopped" : "broken");
      if (!own.signal.aborted) error.value = messageOf(reason);
    }
    flight.current = null;
  };
  return { progress, error, run, stop: () => flight.current?.abort() };
}

/** Collects what comes, and shows it from time to time. */
class Gathered {
  readonly #asked: Asked;
  readonly #show: (progress: Progress) => void;
  readonly #rows: Row[] = [];
  #head: Head | null = null;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isWhole = true;

  constructor(asked: Asked, show: (progress: Progress) => void) {
    this.#asked = asked;
    this.#show = show;
    this.#draw("running");
  }

  readonly take = (value: unknown): void => {
    const row = rowOf(value);
    if (row !== null) this.#rows.push(row);
    else {
      this.#head = headOf(value) ?? this.#head;
      this.#isWhole = endOf(value) ?? this.#isWhole;
    }
    this.#timer ??= setTimeout(() => this.#draw("running"), DRAW_MS);
  };

  end(state: "done" | "stopped" | "broken"): void {
    clearTimeout(this.#timer);
    this.#draw(state === "done" && !this.#isWhole ? "broken" : state);
  }

  #draw(state: Progress["state"]): void {
    this.#timer = undefined;
    this.#show({ asked: this.#asked, head: this.#head, rows: [...this.#rows], state });
  }
}

/** A file of WireGuard or OpenVPN has many lines and is one configuration. */
const isOneFile = (text: string): boolean => {
  const found = detect(text);
  return found?.kind === "vpn" && found.fields.config !== undefined;
};

function addressOf(text: string): string | null {
  const found = detect(text);
  return found?.kind === "http" && typeof found.fields.url === "string" ? found.fields.url : null;
}

function askedOf(text: string): Asked {
  const url = addressOf(text);
  return { url, links: url === null && !isOneFile(text) ? pastedLines(text) : [] };
}

const optionsOf = ({ engine, timeout }: Options) => ({ timeout: Number(timeout), ...(engine !== "" && { engine }) });

async function checkMany(text: string, options: Options, signal: AbortSignal, { take }: Gathered): Promise<void> {
  const url = addressOf(text);
  const body: Schemas["CheckMany"] = {
    ...(url === null ? { text } : { url }),
    at_once: AT_ONCE,
    ...optionsOf(options),
  };
  await postForLines("/check/bulk", body, signal, take);
}

async function checkOne(text: string, { timeout }: Options, signal: AbortSignal, { take }: Gathered): Promise<void> {
  const found = detect(text);
  take({ total: 1, invalid_count: 0, invalid: [] });
  const { protocol, config } = found?.fields ?? {};
  const body = { config, ...(protocol !== undefined && { protocol }), timeout: Number(timeout) };
  const result = await data(client.POST("/check", { body: body as Schemas["CheckConfig"], signal }));
  take({
    ...{ line: 1, tag: found?.name ?? "", type: result.protocol, server: "", port: 0 },
    ...{ success: result.status === "healthy", total_ms: result.connection_time_ms ?? result.latency_ms },
    ...{ error: result.error_message ?? "", error_category: result.error_category ?? "" },
    ...{ public_ip: result.assigned_ip ?? "", country: "", engine_used: result.engine_used ?? "" },
  });
}

export function Check() {
  const text = useDraft("check", "", false).value;
  const options = useDraft("check options", USUAL, false).value;
  const { progress, error, run, stop } = useRun();
  const isRunning = progress.value?.state === "running";
  return (
    <div class="screen">
      <h1>{t("nav.check")}</h1>
      <form
        class="card form"
        onSubmit={(event) => {
          event.preventDefault();
          if (!isRunning && text.value.trim() !== "") void run(text.value, options.value);
        }}
      >
        <AreaField
          label={t("check.what")}
          hint={t("check.hint", { n: MOST_CONFIGS })}
          class="paste"
          rows={6}
          spellcheck={false}
          placeholder="vless://…"
          value={text.value}
          onValue={(written) => (text.value = written)}
        />
        <div class="check-acts">
          <OptionFields value={options.value} onValue={(next) => (options.value = next)} />
          <span class="grow" />
          {isRunning && (
            <button type="button" class="button" onClick={stop}>
              {t("check.stop")}
            </button>
          )}
          <button type="submit" class="button primary" aria-disabled={isRunning}>
            <Icon name="zap" size={16} /> {t("check.act")}
          </button>
        </div>
        {error.value !== null && (
          <p class="form-error" role="alert" dir="auto">
            {error.value}
          </p>
        )}
      </form>
      {progress.value !== null && <CheckResults progress={progress.value} />}
    </div>
  );
}

function OptionFields({ value, onValue }: { value: Options; onValue: (value: Options) => void }) {
  return (
    <>
      <SelectField
        label={t("check.engine")}
        value={value.engine}
        options={ENGINES.map((word) => [word, word === "" ? t("check.engineAny") : word] as const)}
        onValue={(engine) => onValue({ ...value, engine })}
      />
      <SelectField
        label={t("check.timeout")}
        value={value.timeout}
        options={TIMEOUTS.map((word) => [word, t("check.seconds", { n: Number(word) })] as const)}
        onValue={(timeout) => onValue({ ...value, timeout })}
      />
    </>
  );
}
