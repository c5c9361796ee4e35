/** The service for its operator: who schedules, who checks, what waits, what is wrong. */
import type { ComponentChildren } from "preact";
import { client, data, type Schemas } from "../api/client.ts";
import { useResource } from "../api/resource.ts";
import { Icon } from "../parts/icon.tsx";
import { Show } from "../parts/states.tsx";
import { Table } from "../parts/table.tsx";
import { Ago } from "../parts/time.tsx";
import { ago, milliseconds } from "../words/times.ts";
import { number, t } from "../words/words.ts";
import { SettingsHead } from "./settings.tsx";

type View = Schemas["Service"];

const RELOAD_MS = 5_000;

export function Service() {
  const service = useResource((signal) => data(client.GET("/service", { signal })), "service", RELOAD_MS);
  return (
    <div class="screen">
      <SettingsHead title="nav.service" />
      <Show resource={service} rows={8}>
        {(view) => (
          <>
            <Troubles view={view} />
            <Facts view={view} />
            <Schedulers rows={view.schedulers} />
            <Checkers rows={view.checkers} atMs={Date.parse(view.at)} />
          </>
        )}
      </Show>
    </div>
  );
}

/** What an operator should look at; one line says that there is nothing. */
function Troubles({ view }: { view: View }) {
  const lines = [
    view.database_trouble !== null && t("service.databaseTrouble"),
    view.queue_trouble !== null && t("service.queueTrouble"),
    view.condition,
    view.free_shards > 0 && t("service.freeShards", { n: view.free_shards }),
    ...view.warnings_of_service.map((word) => t(`service.warning.${word}`)),
    ...view.schedulers.map(({ name, trouble }) => trouble !== null && `${name}: ${trouble}`),
  ].filter((line): line is string => typeof line === "string");
  if (lines.length === 0)
    return (
      <p class="verdict v-healthy">
        <span class="s-healthy">
          <Icon name="circle-check" size={26} />
        </span>
        <span class="verdict-words">{t("service.well")}</span>
      </p>
    );
  return (
    <ul class="card lines" aria-label={t("service.troubles")}>
      {lines.map((line) => (
        <li class="line" key={line}>
          <span class="s-down">
            <Icon name="triangle-alert" size={20} />
          </span>
          <span dir="auto">{line}</span>
        </li>
      ))}
    </ul>
  );
}

function Facts({ view }: { view: View }) {
  return (
    <ul class="cards">
      <Fact name={t("service.version")}>
        {view.version} <span class="faint">{`node:${view.http_server === "net" ? "net" : "http"}`}</span>
      </Fact>
      <Fact name={t("service.started")}>
        <Ago at={view.started_at} />
      </Fact>
      <Fact name={t("service.database")}>{view.database === "sqlite" ? "SQLite" : "PostgreSQL"}</Fact>
      <Fact name={t("service.waiting")}>{number(view.waiting_deliveries)}</Fact>
      <Fact name={t("service.skipped")}>{number(view.skipped_turns)}</Fact>
    </ul>
  );
}

function Fact({ name, children }: { name: string; children: ComponentChildren }) {
  return (
    <li class="card">
      <h2>{name}</h2>
      <p class="big-number">{children}</p>
    </li>
  );
}

function Section({ title, heads, children }: { title: string; heads: readonly string[]; children: ComponentChildren }) {
  return (
    <section class="card">
      <header class="card-head">
        <h2>{title}</h2>
      </header>
      <Table label={title} heads={heads}>
        {children}
      </Table>
    </section>
  );
}

function Schedulers({ rows }: { rows: View["schedulers"] }) {
  const heads = ["name", "shards", "monitors", "running", "waiting", "silent", "skipped", "spool"] as const;
  return (
    <Section title={t("service.schedulers")} heads={heads.map((word) => t(`service.col.${word}`))}>
      {rows.length === 0 && (
        <tr>
          <td colSpan={heads.length}>{t("service.own")}</td>
        </tr>
      )}
      {rows.map((row) => (
        <tr key={row.name}>
          <td dir="auto">{row.name}</td>
          {[
            row.shards,
            row.monitors,
            row.running,
            row.waiting,
            row.silent_monitors,
            row.skipped_turns,
            row.spool_rows,
          ].map((value, index) => (
            <td class="number" key={heads[index + 1]}>
              {number(value)}
            </td>
          ))}
        </tr>
      ))}
    </Section>
  );
}

/** Each machine that checks, or, where the service knows only how many there are, each location. */
function Checkers({ rows, atMs }: { rows: View["checkers"]; atMs: number }) {
  const heads = ["location", "name", "state", "clock", "running", "version", "seen"] as const;
  return (
    <Section title={t("service.checkers")} heads={heads.map((word) => t(`service.col.${word}`))}>
      {rows.flatMap(({ code, healthy_checkers: healthy, machines }) =>
        machines.length === 0
          ? [
              <tr key={code}>
                <td>{code}</td>
                <td colSpan={6}>{t("service.healthy", { n: healthy })}</td>
              </tr>,
            ]
          : machines.map((machine) => (
              <tr key={`${code} ${machine.name}`}>
                <td>{code}</td>
                <td dir="auto">{machine.name}</td>
                <td class={machine.healthy && machine.fit ? "s-healthy" : "s-down"} title={machine.reasons.join("\n")}>
                  {t(!machine.healthy ? "service.away" : machine.fit ? "service.fit" : "service.unfit")}
                </td>
                <td class="number" dir="ltr">
                  {machine.clock_offset_ms > 0 ? "+" : machine.clock_offset_ms < 0 ? "−" : ""}
                  {milliseconds(Math.abs(machine.clock_offset_ms))}
                </td>
                <td class="number">{`${number(machine.running)} / ${number(machine.room)}`}</td>
                <td>{machine.version}</td>
                <td>{ago(Date.parse(machine.seen_at), atMs)}</td>
              </tr>
            )),
      )}
    </Section>
  );
}
