/** Progress on a terminal: a few lines that are drawn over again, whatever its width becomes. */
import type { Tally } from "./tally.ts";

const DRAW_EVERY_MS = 200;
const BAR_COLUMNS = 20;
/** Of a terminal that does not report its width. */
const STANDARD_COLUMNS = 80;

export interface Moment {
  readonly running: number;
  readonly secondLooks: number;
  readonly isCut: boolean;
  readonly isStopping: boolean;
}

/** @returns lines of at most so many columns */
export function progressLines(
  tally: Tally,
  { running, secondLooks, isCut, isStopping }: Moment,
  rate: number | null,
  columns: number,
): readonly string[] {
  const { total, checked } = tally;
  const share = total === 0 ? 1 : checked / total;
  const filled = Math.floor(share * BAR_COLUMNS);
  const bar = "█".repeat(filled) + "░".repeat(BAR_COLUMNS - filled);
  const left = rate === null || rate <= 0 ? "" : ` · ${timeLeft((total - checked) / rate)} left`;
  const pace = rate === null ? "" : ` · ${count(Math.round(rate))}/s${left}`;
  const state = isStopping ? " · stopping" : isCut ? " · our own network is cut, waiting" : "";
  const looks = secondLooks === 0 ? "" : ` · ${count(secondLooks)} looked at again`;
  const percent = (Math.floor(share * 1_000) / 10).toFixed(1);
  return [
    `${bar} ${percent} %  ${count(checked)} of ${count(total)}${pace} · ${running} in flight${looks}${state}`,
    protocolWords(tally),
    reasonWords(tally),
  ].map((line) => cut(line, columns - 1));
}

export function protocolWords({ byProtocol }: Tally): string {
  const words = [...byProtocol].map(([kind, { checked, healthy }]) => `${kind} ${count(healthy)}/${count(checked)}`);
  return words.join(" · ");
}

export function reasonWords({ healthy, failures }: Tally): string {
  const sorted = [...failures].sort(([, one], [, other]) => other - one);
  return [`healthy ${count(healthy)}`, ...sorted.map(([reason, many]) => `${reason} ${count(many)}`)].join(" · ");
}

export function count(number: number): string {
  return number.toLocaleString("en-US");
}

function timeLeft(seconds: number): string {
  const whole = Math.ceil(seconds);
  if (whole < 60) return `${whole} s`;
  if (whole < 3_600) return `${Math.floor(whole / 60)} min ${whole % 60} s`;
  return `${Math.floor(whole / 3_600)} h ${Math.floor((whole % 3_600) / 60)} min`;
}

function cut(line: string, columns: number): string {
  return line.length <= columns ? line : `${line.slice(0, Math.max(0, columns - 1))}…`;
}

export interface Screen {
  /** Takes the lines away. */
  close(): void;
}

/** Draws until it is closed. */
export function openScreen(stream: NodeJS.WriteStream, lines: (columns: number) => readonly string[]): Screen {
  let drawn: readonly string[] = [];
  const columns = (): number => stream.columns || STANDARD_COLUMNS;

  /** To the first column of the first line: what was drawn wraps where the terminal has become narrower. */
  function home(): string {
    const rows = drawn.reduce((sum, line) => sum + Math.max(1, Math.ceil(line.length / columns())), 0);
    return rows > 1 ? `\r\u001b[${rows - 1}A` : "\r";
  }
  function draw(): void {
    const next = lines(columns());
    if (next.length === drawn.length && next.every((line, index) => line === drawn[index])) return;
    stream.write(`${home()}${next.map((line) => `${line}\u001b[K`).join("\n")}\u001b[J`);
    drawn = next;
  }
  draw();
  const timer = setInterval(draw, DRAW_EVERY_MS);
  stream.on("resize", draw);
  return {
    close() {
      clearInterval(timer);
      stream.off("resize", draw);
      stream.write(`${home()}\u001b[J`);
    },
  };
}
