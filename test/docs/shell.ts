/** One terminal: a bash that takes a command after the other, so that functions and variables of a page stay. */
import { type ChildProcess, spawn } from "node:child_process";

export interface Ran {
  readonly code: number;
  /** stdout and stderr as they came. */
  readonly output: string;
}

export interface Shell {
  /** @throws when it has not ended in time */
  run(command: string): Promise<Ran>;
  /** Ends it and everything that it started. */
  close(): void;
}

/** No command of a page takes longer on two busy cores, ms. */
const WITHIN_MS = 90_000;
/** A record separator stands in no output (ASCII 30). */
const MARK = "\u001e";

/** @param within words before it, of the namespaces that it is to be in */
export function openShell(
  folder: string,
  env: Readonly<Record<string, string>>,
  within: readonly string[] = [],
): Shell {
  const [program = "", ...words] = [...within, "bash", "--norc", "--noprofile"];
  // A group of its own, so that what it leaves in the background ends with it.
  const child = spawn(program, words, { cwd: folder, env, stdio: "pipe", detached: true });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => {
      output += text;
    });
  }
  child.stdin.on("error", () => undefined);
  child.stdin.write("exec 2>&1\n");
  return {
    async run(command) {
      output = "";
      // What reads its input must not read the next command.
      child.stdin.write(`{ ${command}\n} </dev/null\nprintf '${MARK}%s${MARK}' "$?"\n`);
      const [text = "", code = ""] = (await marked(child, () => output, command)).split(MARK);
      return { code: Number(code), output: text };
    },
    close: () => killGroup(child),
  };
}

function marked(child: ChildProcess, output: () => string, command: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const finish = (act: () => void): void => {
      clearTimeout(late);
      child.stdout?.off("data", look);
      child.off("close", gone);
      act();
    };
    const look = (): void => {
      if (output().endsWith(MARK) && output().includes(MARK)) finish(() => resolve(output()));
    };
    const gone = (): void => finish(() => reject(new Error(`the shell ended at ${command}: ${output()}`)));
    const late = setTimeout(
      () => finish(() => reject(new Error(`${command} has not ended in ${WITHIN_MS} ms: ${output()}`))),
      WITHIN_MS,
    );
    child.stdout?.on("data", look);
    child.once("close", gone);
  });
}

export function killGroup(child: ChildProcess, signal: NodeJS.Signals = "SIGKILL"): void {
  try {
    if (child.pid !== undefined) process.kill(-child.pid, signal);
  } catch {
    // It has ended.
  }
}
