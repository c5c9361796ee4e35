/** A program in a real pseudo-terminal: what a person at a keyboard sees and types. */
import { createRequire } from "node:module";

/** As much of node-pty as is used; its own types name the package that it is an alias of. */
interface Pty {
  readonly pid: number;
  write(text: string): void;
  resize(columns: number, rows: number): void;
  kill(signal: string): void;
  onData(listener: (text: string) => void): void;
  onExit(listener: (end: { readonly exitCode: number; readonly signal?: number }) => void): void;
}
interface Terminals {
  spawn(
    program: string,
    words: readonly string[],
    options: { readonly env: Readonly<Record<string, string>>; readonly cols: number; readonly rows: number },
  ): Pty;
}
const terminals = createRequire(import.meta.url)("node-pty") as Terminals;

export interface Terminal {
  readonly pid: number;
  /** Everything that came to the screen so far, escape codes included. */
  shown(): string;
  /** Types; "\u0003" is Ctrl-C. */
  type(text: string): void;
  resize(columns: number, rows: number): void;
  /** The exit code. */
  readonly ended: Promise<number>;
}

const open = new Set<Pty>();

/** Ends what a test left running; for afterAll. */
export function closeTerminals(): void {
  for (const pty of open) pty.kill("SIGKILL");
}

export function openTerminal(
  program: string,
  words: readonly string[],
  env: Readonly<Record<string, string>>,
  size: { readonly columns: number; readonly rows: number } = { columns: 160, rows: 40 },
): Terminal {
  const pty = terminals.spawn(program, words, { env, cols: size.columns, rows: size.rows });
  open.add(pty);
  let shown = "";
  pty.onData((text) => {
    shown += text;
  });
  const ended = new Promise<number>((resolve) =>
    pty.onExit(({ exitCode }) => {
      open.delete(pty);
      resolve(exitCode);
    }),
  );
  return {
    pid: pty.pid,
    shown: () => shown,
    type: (text) => pty.write(text),
    resize: (columns, rows) => pty.resize(columns, rows),
    ended,
  };
}
