import { spawnSync } from "node:child_process";
import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { temporaryFolder } from "../../testkit/temporary-folder.ts";
import { needNumber } from "./calls.ts";
import { type Arch, imageOf, Memory, type Step } from "./image.ts";

const folder = temporaryFolder();

const arch: Arch = process.arch === "arm64" ? "arm64" : "x64";
const call = (name: Parameters<typeof needNumber>[1]): number => needNumber(arch, name);

function run(steps: readonly Step[], memory: Memory, name = "program") {
  const file = join(folder, name);
  writeFileSync(file, imageOf(arch, steps, memory));
  chmodSync(file, 0o755);
  const { status, stdout, stderr } = spawnSync(file, [], { encoding: "utf8" });
  return { status, stdout, stderr };
}

describe.runIf(process.platform === "linux")("a program of system calls", () => {
  it("does its steps in order and ends well", () => {
    const memory = new Memory();
    const args = [
      { data: memory.text("/bin/echo") },
      { data: memory.texts(["echo", "-n", "it is"]) },
      { data: memory.texts([]) },
    ];
    expect(run([{ call: call("execve"), args, fault: "cannot" }], memory)).toEqual({
      status: 0,
      stdout: "it is",
      stderr: "",
    });
    expect(run([], new Memory(), "empty").status).toBe(0);
  });

  it("ends at the first failure that counts, with its words and its errno", () => {
    const memory = new Memory();
    const none = { data: memory.text("/nowhere") };
    const steps: Step[] = [
      { call: call("close"), args: [4_000], fault: null },
      {
        call: call("execve"),
        args: [none, { data: memory.texts([]) }, { data: memory.texts([]) }],
        fault: "no such thing",
      },
      { call: call("execve"), args: [none, { data: 0 }, { data: 0 }], fault: "never said" },
    ];
    // ENOENT
    expect(run(steps, memory)).toEqual({ status: 2, stdout: "", stderr: "no such thing\n" });
  });

  it("writes down what a call returned", () => {
    const memory = new Memory();
    // Only the child knows its process id as a limit: the second call fails unless the first one's result was written over it.
    const limits = Buffer.alloc(16, 0xff);
    const at = memory.add(limits);
    const steps: Step[] = [
      { call: call("getpid"), args: [], fault: null, into: [at, at + 8] },
      // RLIMIT_CORE of itself.
      { call: call("prlimit64"), args: [0, 4, { data: at }, 0], fault: "limits" },
    ];
    expect(run(steps, memory).status).toBe(0);
  });
});

describe("its memory", () => {
  it("keeps what was added where it said", () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 40 })), (parts) => {
        const memory = new Memory(0);
        const places = parts.map((part) => memory.add(part));
        const bytes = memory.bytes();
        parts.forEach((part, index) => {
          const at = places[index] ?? -1;
          expect(at % 8).toBe(0);
          expect(bytes.subarray(at, at + part.length)).toEqual(Buffer.from(part));
        });
      }),
    );
  });

  it("stands beside code that an assembler would write for arm64, too", () => {
    // As Go's assembler has it: MOVZ and three MOVK for each register, SVC, TBZ, ORR, then NEG and STR.
    const steps: Step[] = [{ call: 0x1234, args: [], fault: "f", into: [0x1_0000] }];
    const memory = new Memory();
    const code = imageOf("arm64", steps, memory).subarray(232);
    const word = (index: number): string => code.readUInt32LE(index * 4).toString(16);
    expect([0, 1, 2, 3, 4, 5, 6].map(word)).toEqual([
      "d2824688",
      "f2a00008",
      "f2c00008",
      "f2e00008",
      "d4000001",
      "b6f80320",
      "2a0003f4",
    ]);
    expect([24, 25, 29, 30, 31, 34, 43].map(word)).toEqual([
      "4b1403e0",
      "d2800bc8",
      "d4000001",
      "d2800009",
      "f2a00029",
      "b9000120",
      "d4000001",
    ]);
  });
});
