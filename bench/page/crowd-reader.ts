/**
 * Open pages and people who click, without a browser: a process that asks for what the page asks for, with the headers of a browser, and follows the
 * stream as the page does. Started with port and key; gets what it is to do, says what it saw.
 */
import { Agent, type IncomingMessage, request } from "node:http";
import { setTimeout as pause } from "node:timers/promises";
import { percentile } from "../statistics.ts";

export interface ToCrowd {
  readonly pages: number;
  readonly people: number;
  readonly seconds: number;
  readonly ids: readonly string[];
}

export interface CrowdReport {
  readonly answers: number;
  /** Of these, 503 with Retry-After. */
  readonly refused: number;
  /** Of the streams. */
  readonly events: number;
  readonly megabytes: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly cpuS: number;
}

const [port = "0", key = ""] = process.argv.slice(2);
/** A browser's for one page. */
const CONNECTIONS = 6;
const INCIDENTS = "/incidents?status=active&limit=50";
/** Between two clicks of a person, ms. */
const LEAST_PAUSE_MS = 2_000;
const MORE_PAUSE_MS = 3_000;
const MOST_TRIES = 5;

const any = (below: number): number => Math.floor(Math.random() * below);

class Crowd {
  readonly #what: ToCrowd;
  readonly #endAtMs: number;
  readonly #latencies: number[] = [];
  readonly #agents: Agent[] = [];
  readonly #streams: IncomingMessage[] = [];
  #refused = 0;
  #events = 0;
  #bytes = 0;

  constructor(what: ToCrowd) {
    this.#what = what;
    this.#endAtMs = performance.now() + what.seconds * 1_000;
  }

  async run(): Promise<CrowdReport> {
    const cpu = process.cpuUsage();
    const { pages, people } = this.#what;
    const opened = Array.from({ length: pages }, () => this.#page());
    const clicking = Array.from({ length: people }, () => this.#person());
    await Promise.all([...opened, ...clicking, pause(this.#endAtMs - performance.now())]);
    for (const stream of this.#streams) stream.destroy();
    for (const agent of this.#agents) agent.destroy();
    const { user, system } = process.cpuUsage(cpu);
    return {
      answers: this.#latencies.length,
      refused: this.#refused,
      events: this.#events,
      megabytes: this.#bytes / 1e6,
      p50Ms: percentile(this.#latencies, 0.5),
      p99Ms: percentile(this.#latencies, 0.99),
      cpuS: (user + system) / 1e6,
    };
  }

  get #isOver(): boolean {
    return performance.now() >= this.#endAtMs;
  }

  #open(): Agent {
    const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS });
    this.#agents.push(agent);
    return agent;
  }

  /** The overview, as it opens and as it stays open. All of them do not open in the same moment. */
  async #page(): Promise<void> {
    await pause(any(Math.min(5_000, this.#what.seconds * 250)));
    const agent = this.#open();
    await Promise.all([this.#ask(agent, "/overview"), this.#ask(agent, INCIDENTS)]);
    let isAsking = false;
    const news = (): void => {
      if (isAsking || this.#isOver) return;
      isAsking = true;
      void this.#ask(agent, INCIDENTS).finally(() => {
        isAsking = false;
      });
    };
    await this.#follow((name) => {
      this.#events += 1;
      if (name === "s" || name === "incident") news();
      if (name === "monitors" && !this.#isOver) void this.#ask(agent, "/overview");
    });
  }

  #follow(heard: (name: string) => void): Promise<void> {
    return new Promise((resolve) => {
      const headers = { "X-API-Key": key, Accept: "text/event-stream" };
      const asked = request(
        { host: "127.0.0.1", port, path: "/api/v1/live?project=prj_1", headers, agent: false },
        (stream) => {
          this.#streams.push(stream);
          if (stream.statusCode !== 200) throw new Error(`a stream was answered ${stream.statusCode}`);
          stream.setEncoding("utf8").on("data", (text: string) => {
            this.#bytes += text.length;
            for (const [, name = ""] of text.matchAll(/^event: (\w+)/gm)) heard(name);
          });
          stream.on("error", () => {});
          resolve();
        },
      );
      asked.on("error", (error) => {
        if (!this.#isOver) throw error;
      });
      asked.end();
    });
  }

  async #person(): Promise<void> {
    const agent = this.#open();
    const { ids } = this.#what;
    while (!this.#isOver) {
      await pause(LEAST_PAUSE_MS + any(MORE_PAUSE_MS));
      const id = ids[any(ids.length)] ?? "";
      const screens = [
        ["/overview", INCIDENTS],
        [`/servers?family=all&limit=50&offset=${any(ids.length / 50) * 50}`],
        [
          `/servers/${id}`,
          `/results/server/${id}?period=24h&limit=100&explain=1`,
          `/incidents?server_id=${id}&limit=5`,
          `/servers/${id}/days?days=90`,
          `/servers/${id}/latency?period=24h`,
        ],
        ["/incidents?limit=100"],
        ["/results?limit=100"],
      ];
      await Promise.all((screens[any(screens.length)] ?? []).map((path) => this.#ask(agent, path)));
    }
  }

  /** Asks again as it is told to. */
  async #ask(agent: Agent, path: string): Promise<void> {
    for (let tries = 0; tries < MOST_TRIES; tries++) {
      const waitS = await this.#askOnce(agent, path);
      if (waitS === null || this.#isOver) return;
      await pause(waitS * 1_000);
    }
  }

  #askOnce(agent: Agent, path: string): Promise<number | null> {
    const startedAt = performance.now();
    return new Promise((resolve, reject) => {
      const headers = { "X-API-Key": key, "X-Project-Id": "prj_1", "Accept-Encoding": "gzip" };
      const asked = request({ host: "127.0.0.1", port, path: `/api/v1${path}`, headers, agent }, (answer) => {
        answer.on("data", (bytes: Buffer) => {
          this.#bytes += bytes.length;
        });
        answer.on("end", () => {
          this.#latencies.push(performance.now() - startedAt);
          const retry = answer.headers["retry-after"];
          if (answer.statusCode === 200) return resolve(null);
          if (answer.statusCode !== 503 || retry === undefined)
            return reject(new Error(`${path} was answered ${answer.statusCode}`));
          this.#refused += 1;
          resolve(Number(retry));
        });
      });
      asked.on("error", (error) => (this.#isOver ? resolve(null) : reject(error)));
      asked.end();
    });
  }
}

process.on("message", (message: ToCrowd) => {
  new Crowd(message).run().then(
    (report) => process.send?.(report),
    (error: unknown) => {
      process.stderr.write(`a page got no good answer: ${String(error)}\n`);
      process.exit(1);
    },
  );
});
process.on("disconnect", () => process.exit(0));
