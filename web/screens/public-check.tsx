/** One check of a link or a file without an account: as often as the service allows strangers. Nothing is stored. */
import { useSignal } from "@preact/signals";
import { useRef } from "preact/hooks";
import { client, data, messageOf, type Schemas } from "../api/client.ts";
import { AreaField, SelectField, TextField } from "../parts/field.tsx";
import { Icon } from "../parts/icon.tsx";
import { StatusMark } from "../parts/status.tsx";
import { categoryWord } from "../parts/why.tsx";
import { Working } from "../parts/working.tsx";
import { detect } from "../state/detect.ts";
import { milliseconds } from "../words/times.ts";
import { t } from "../words/words.ts";

type Order = Schemas["CheckConfigWithoutKey"];
/** What no link and no file says by itself. */
const PROTOCOLS = ["", "wireguard", "amneziawg", "openvpn", "openconnect", "ikev2"] as const;

interface Answer {
  readonly check: Schemas["ConfigCheck"];
  /** Checks that are left to this address today; null where the service does not say. */
  readonly left: number | null;
}

interface Asked {
  readonly text: string;
  readonly protocol: (typeof PROTOCOLS)[number];
  readonly username: string;
  readonly password: string;
}

const NOTHING: Asked = { text: "", protocol: "", username: "", password: "" };

function orderOf({ text, protocol, username, password }: Asked): Order {
  const read = detect(text)?.fields.protocol;
  const known = PROTOCOLS.find((word) => word !== "" && word === (protocol === "" ? read : protocol));
  return {
    config: text.trim(),
    ...(known !== undefined && known !== "" && { protocol: known }),
    ...(username !== "" && { username }),
    ...(password !== "" && { password }),
  };
}

async function ask(asked: Asked): Promise<Answer> {
  const answer = client.POST("/check/public", { body: orderOf(asked) });
  const check = await data(answer);
  const left = (await answer).response.headers.get("X-RateLimit-Remaining");
  return { check, left: left === null ? null : Number(left) };
}

export function PublicCheck(_: { close: () => void }) {
  const asked = useSignal(NOTHING);
  const answer = useSignal<Answer | null>(null);
  const error = useSignal<string | null>(null);
  const busy = useSignal(false);
  const field = useRef<HTMLTextAreaElement>(null);
  const submit = async (event: Event) => {
    event.preventDefault();
    if (asked.value.text.trim() === "") return field.current?.focus();
    if (busy.value) return;
    busy.value = true;
    error.value = null;
    answer.value = null;
    try {
      answer.value = await ask(asked.value);
    } catch (reason) {
      error.value = messageOf(reason);
    }
    busy.value = false;
  };
  return (
    <main class="sign-in">
      <form class="card wide" onSubmit={submit}>
        <Head />
        <AreaField
          label={t("publicCheck.what")}
          hint={t("publicCheck.hint")}
          field={field}
          class="paste"
          rows={5}
          spellcheck={false}
          placeholder="vless://…"
          value={asked.value.text}
          onValue={(text) => (asked.value = { ...asked.value, text })}
        />
        <More asked={asked.value} onAsked={(next) => (asked.value = next)} />
        <button type="submit" class="button primary wide" aria-disabled={busy.value}>
          <Icon name="zap" size={16} /> {t("check.act")}
        </button>
        {busy.value && <Working />}
        {error.value !== null && (
          <p class="form-error" role="alert" dir="auto">
            {error.value}
          </p>
        )}
        <div role="status">{answer.value !== null && <Found {...answer.value} />}</div>
        <p>
          <a href="#/">{t("signIn.title")}</a>
        </p>
      </form>
    </main>
  );
}

function Head() {
  return (
    <>
      <p class="brand big">
        <Icon name="activity" size={26} />
        <span>Sonde</span>
      </p>
      <h1>{t("publicCheck.title")}</h1>
    </>
  );
}

function More({ asked, onAsked }: { asked: Asked; onAsked: (asked: Asked) => void }) {
  return (
    <details>
      <summary>{t("new.more")}</summary>
      <div class="form">
        <SelectField
          label={t("field.protocol")}
          value={asked.protocol}
          options={PROTOCOLS.map((word) => [word, word === "" ? t("field.protocolRead") : word])}
          onValue={(protocol) => onAsked({ ...asked, protocol })}
        />
        <TextField
          label={t("field.username")}
          autoComplete="off"
          value={asked.username}
          onValue={(username) => onAsked({ ...asked, username })}
        />
        <TextField
          label={t("field.password")}
          autoComplete="off"
          class="hidden-text"
          value={asked.password}
          onValue={(password) => onAsked({ ...asked, password })}
        />
      </div>
    </details>
  );
}

function Found({ check, left }: Answer) {
  const works = check.status === "healthy";
  const { error_category: category, error_message: message } = check;
  return (
    <>
      <p class={`status strong s-${works ? "healthy" : "down"}`}>
        <StatusMark status={works ? "healthy" : "down"} />
        <span>{t(works ? "check.works" : "check.fails")}</span>
      </p>
      <dl class="facts">
        <Fact name={t("field.protocol")} value={check.protocol} />
        {works && <Fact name={t("col.latency")} value={milliseconds(check.connection_time_ms ?? check.latency_ms)} />}
        {check.assigned_ip !== null && <Fact name={t("check.exit")} value={check.assigned_ip} />}
        {check.engine_used !== null && <Fact name={t("col.engine")} value={check.engine_used} />}
        {category !== null && <Fact name={t("why.meaning")} value={categoryWord(category)} />}
        {message !== null && <Fact name={t("why.peer")} value={message} />}
      </dl>
      {left !== null && <p class="hint">{t("publicCheck.left", { n: left })}</p>}
    </>
  );
}

function Fact({ name, value }: { name: string; value: string }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd dir="auto">{value}</dd>
    </div>
  );
}
