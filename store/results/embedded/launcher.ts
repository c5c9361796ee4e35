/**
 * Starts the front (front.ts), again and again on the same port with the same password. When this machine refuses the best way to confine it,
 * the next way is used from then on.
 */
import { randomBytes } from "node:crypto";
import type { Logger } from "pino";
import { holdHere } from "../../../native/sandbox/confined.ts";
import type { FrontConfig } from "./front.ts";
import { FrontError, type FrontProcess, launchFront, type Start } from "./front-process.ts";

export interface LauncherOptions {
  /** Absolute. */
  readonly dir: string;
  readonly log: Logger;
  /** Default 64 MiB. */
  readonly ballastBytes?: number;
  /** Tests run from sources name the built one. */
  readonly frontFile?: URL;
  /** How it is started, the best first; absent: all that this machine has. */
  readonly starts?: readonly Start[];
  /** Other processes of our user may look into it. Default false. */
  readonly isDebuggable?: boolean;
}

/** The disk of the result store is full, or has room again. */
type OnDisk = (isFull: boolean, freeBytes: number) => void;

const USER = "sonde";
const DATABASE = "sonde";
const MAX_MEMORY_BYTES = 512 * 1024 * 1024;
const BALLAST_BYTES = 64 * 1024 * 1024;
/** A start that takes longer than this hangs, ms. */
const START_TIMEOUT_MS = 60_000;

/** Logged when this machine refused the way before. */
const LOOSER: Readonly<Record<Start["by"], string>> = {
  hold: "",
  setpriv: "the embedded ClickHouse cannot be held here: it may read what this user can",
  none: "setpriv (util-linux) is missing or too old, should we be killed the embedded ClickHouse ends by the end of its stdin alone",
};

export class Launcher {
  readonly #log: Logger;
  readonly #frontFile: URL;
  readonly #onDisk: OnDisk;
  #starts: readonly Start[];
  #config: FrontConfig;
  #latest: FrontProcess | undefined;

  constructor(options: LauncherOptions, onDisk: OnDisk) {
    this.#log = options.log;
    this.#onDisk = onDisk;
    this.#frontFile = options.frontFile ?? new URL("./front.js", import.meta.url);
    this.#starts = options.starts ?? startsHere();
    this.#config = {
      dir: options.dir,
      port: 0,
      user: USER,
      password: randomBytes(24).toString("hex"),
      database: DATABASE,
      maxMemoryBytes: MAX_MEMORY_BYTES,
      ballastBytes: options.ballastBytes ?? BALLAST_BYTES,
      isDebuggable: options.isDebuggable ?? false,
    };
  }

  /** 0 before the first start. */
  get port(): number {
    return this.#config.port;
  }

  get url(): string {
    return `http://${USER}:${this.#config.password}@127.0.0.1:${this.port}/${DATABASE}`;
  }

  /** Also while it is starting. */
  get latest(): FrontProcess | undefined {
    return this.#latest;
  }

  /** Resolves when it has its port; it is killed when it then does not become ready. @throws FrontError */
  async launch(): Promise<FrontProcess> {
    const [how = { by: "none" } as const, ...others] = this.#starts;
    try {
      return await this.#launchAs(how);
    } catch (error) {
      if (!(error instanceof FrontError) || error.code !== "START" || others.length === 0) throw error;
      this.#starts = others;
      this.#log.warn({ reason: error.message }, `results: ${LOOSER[others[0]?.by ?? "none"]}`);
      return this.launch();
    }
  }

  async #launchAs(how: Start): Promise<FrontProcess> {
    const onDisk = this.#onDisk;
    const launched = launchFront({ config: this.#config, frontFile: this.#frontFile, how, log: this.#log, onDisk });
    this.#latest = launched;
    const timer = setTimeout(() => launched.kill(), START_TIMEOUT_MS);
    const isDecided = (): void => clearTimeout(timer);
    launched.ready.then(isDecided, isDecided);
    this.#config = { ...this.#config, port: await launched.listening };
    return launched;
  }
}

function startsHere(): readonly Start[] {
  const others: readonly Start[] = [{ by: "setpriv", program: "setpriv" }, { by: "none" }];
  return holdHere() === null ? others : [{ by: "hold" }, ...others];
}
