/**
 * Children that are held: a small program (image.ts) takes rights away from itself and then becomes the child. What is to be taken is said by
 * the caller; what this machine can take is asked once, by trying it.
 */
import { type StdioOptions, spawnSync } from "node:child_process";
import { closeSync, openSync, writeSync } from "node:fs";
import { descriptorControl, TOKEN_BYTES } from "./broker.ts";
import { needNumber } from "./calls.ts";
import { brokerFilter, type Filter, filterFor, HANDING_FLAGS, type Reach, type Routes } from "./filter.ts";
import { type Arch, imageOf, Memory, type Step } from "./image.ts";
import { loadKernel } from "./kernel.ts";
import { landlockPowers, openRuleset, type Rules } from "./landlock.ts";

export interface Confinement {
  /** Files, ports and signals. */
  readonly rules: Rules;
  readonly mayUseDatagrams: boolean;
  /** `brokered`: prepareChild() needs a way to the broker. */
  readonly reach: Reach;
  readonly routes: Routes;
  /** Becomes this user and group, without other groups; null: stays who we are. Only root may. */
  readonly ownId: number | null;
  /** What root keeps of its capabilities (linux/capability.h): some of them read other processes past every other rule. */
  readonly capabilities: readonly number[];
  /** What it may write into files, bytes; null: as much as it likes. */
  readonly largestFileBytes: number | null;
}

export interface Program {
  readonly path: string;
  /** Of a program that `ownId` could not reach: it is handed over as descriptor 3. null: by its path. */
  readonly descriptor: number | null;
  readonly args: readonly string[];
  /** All of its environment, `NAME=value`. */
  readonly environment: readonly string[];
}

/** How a child hands itself over to the broker (broker-service.ts). */
export interface WayToBroker {
  readonly descriptor: number;
  /** TOKEN_BYTES; of this child alone. */
  readonly token: Buffer;
}

/** What to give to spawn(). The descriptors are those after stdin, stdout and stderr; close() when it was started. */
export interface PreparedChild {
  readonly file: string;
  readonly descriptors: readonly number[];
  close(): void;
}

/** What can be taken from children here. */
export interface Hold {
  /** Version of Landlock; 0: there is none. */
  readonly landlock: number;
  readonly seccomp: boolean;
}

/** Prefix of the message of a program that could not be confined as it should; the step that failed follows. */
export const REFUSED_HOLD = "sonde-launch: cannot hold the child: ";
/** Begins what it says when there is no such program, or it is none. */
export const NOT_STARTED = "sonde-launch: cannot start the program";

/** linux/prctl.h */
const PR_SET_PDEATHSIG = 1;
const PR_SET_DUMPABLE = 4;
const PR_CAPBSET_DROP = 24;
const PR_SET_NO_NEW_PRIVS = 38;
const SIGKILL = 9;
/** linux/capability.h: CAP_LAST_CAP is 40 now; one that is not known is refused, which is nothing. */
const MAX_CAPABILITIES = 64;
/** asm-generic/resource.h */
const RLIMIT_FSIZE = 1;
const RLIMIT_CORE = 4;
/** linux/seccomp.h */
const SECCOMP_SET_MODE_FILTER = 1;
const NEW_LISTENER = 1 << 3;
/** Since 5.19: a call that we were notified of is not interrupted by signals that do not kill. */
const WAIT_KILLABLE_RECV = 1 << 5;
const EFAULT = 14;
/** linux/memfd.h: since 6.3 it must be said that a file may be a program. */
const MFD_CLOEXEC = 1;
const MFD_EXEC = 0x10;
/** The first descriptor after stdin, stdout and stderr. */
const FIRST_FREE = 3;
/** Of the try, ms. */
const TRY_MS = 5_000;

let known: { readonly hold: Hold | null; readonly refusals: readonly string[] } | undefined;

/** Null where children cannot be held at all: another system, no FFI, or no program may be started from memory. */
export function holdHere(): Hold | null {
  return tried().hold;
}

/** What was refused while it was tried, in the kernel's words; for the operator. */
export function refusalsHere(): readonly string[] {
  return tried().refusals;
}

/** Tries the most, then less: containers and old kernels forbid one or the other. */
function tried(): NonNullable<typeof known> {
  if (known !== undefined) return known;
  const landlock = landlockPowers()?.abi ?? 0;
  const most: readonly Hold[] = [
    { landlock, seccomp: true },
    { landlock: 0, seccomp: true },
    { landlock, seccomp: false },
    { landlock: 0, seccomp: false },
  ];
  const refusals: string[] = [];
  for (const hold of most) {
    const refusal = refusalOf(hold);
    if (refusal === null) {
      known = { hold, refusals };
      return known;
    }
    refusals.push(refusal);
  }
  known = { hold: null, refusals };
  return known;
}

function refusalOf(hold: Hold): string | null {
  const none: Confinement = {
    rules: { files: [], listens: [], connects: [] },
    mayUseDatagrams: false,
    reach: "any",
    routes: "none",
    ownId: null,
    capabilities: [],
    largestFileBytes: 0,
  };
  let child: PreparedChild | undefined;
  try {
    child = prepare({ confinement: none, program: null, hold, broker: null, more: [] });
    const stdio: StdioOptions = ["ignore", "ignore", "pipe", ...child.descriptors];
    const { status, signal, stderr, error } = spawnSync(child.file, [], { env: {}, stdio, timeout: TRY_MS });
    if (status === 0) return null;
    return error?.message ?? `${stderr.toString("latin1").trim()} (${signal ?? `errno ${status}`})`;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  } finally {
    child?.close();
  }
}

/** @throws Error when the kernel refuses what holdHere() found */
export function prepareChild(
  confinement: Confinement,
  program: Program,
  broker: WayToBroker | null = null,
): PreparedChild {
  return prepare({ confinement, program, hold: knownHold(), broker, more: [] });
}

/** A child that is nothing but a call for the broker: it ends with the call's errno, or with 0. @param sockaddr what it connects its stdin to */
export function prepareBrokerTrial(confinement: Confinement, broker: WayToBroker, sockaddr: Buffer): PreparedChild {
  // A change of user closes its memory to other processes until execve(2) opens it again, which a trial does not reach.
  const open: TrialCall = (arch) => ({
    call: needNumber(arch, "prctl"),
    args: [PR_SET_DUMPABLE, 1, 0, 0, 0],
    fault: "",
  });
  const call: TrialCall = (arch, memory) => {
    const args = [0, { data: memory.add(sockaddr) }, sockaddr.length];
    return { call: needNumber(arch, "connect"), args, fault: "" };
  };
  return prepare({ confinement, program: null, hold: knownHold(), broker, more: [open, call] });
}

/** Whether this kernel can notify a process of another one's calls (seccomp_unotify(2)); only a try shows whether a child may be held so. */
export function knowsListeners(): boolean {
  return listenerFlags() !== null;
}

type TrialCall = (arch: Arch, memory: Memory) => Step;

interface Preparation {
  readonly confinement: Confinement;
  readonly program: Program | null;
  readonly hold: Hold;
  readonly broker: WayToBroker | null;
  /** Made before the program starts. */
  readonly more: readonly TrialCall[];
}

function knownHold(): Hold {
  const hold = holdHere();
  if (hold === null) throw new Error("children cannot be held on this machine");
  return hold;
}

function listenerFlags(): number | null {
  const kernel = loadKernel();
  const isKnown = (flags: number): boolean => kernel?.seccompFlags(flags) === -1 && kernel.errno() === EFAULT;
  return [NEW_LISTENER | WAIT_KILLABLE_RECV, NEW_LISTENER].find(isKnown) ?? null;
}

function prepare({ confinement, program, hold, broker, more }: Preparation): PreparedChild {
  const kernel = loadKernel();
  if (kernel === null) throw new Error("this system has no FFI");
  const opened: number[] = [];
  const close = (): void => {
    for (const descriptor of opened.splice(0)) closeSync(descriptor);
  };
  try {
    const ruleset = hold.landlock > 0 ? openRuleset(confinement.rules) : null;
    if (ruleset !== null) opened.push(ruleset);
    const handed = program?.descriptor == null ? [] : [program.descriptor];
    const rulesetAt = ruleset === null ? null : FIRST_FREE + handed.length;
    if (ruleset !== null) handed.push(ruleset);
    const brokerAt = FIRST_FREE + handed.length;
    if (broker !== null) handed.push(broker.descriptor);
    const way = broker === null ? null : { token: broker.token, at: brokerAt };
    const imageAt = FIRST_FREE + handed.length;
    const image = imageFor(kernel.arch, { confinement, program, hold, rulesetAt, imageAt, way, more });
    const imageFile = fileInMemory(image);
    opened.push(imageFile);
    return {
      file: `/proc/self/fd/${imageAt}`,
      descriptors: [...handed, imageFile],
      close,
    };
  } catch (error) {
    close();
    throw error;
  }
}

/** @returns a descriptor that only reads: a file that is open for writing cannot be started */
function fileInMemory(content: Buffer): number {
  const kernel = loadKernel();
  const name = "sonde-launch";
  let file = kernel?.memfdCreate(name, MFD_CLOEXEC | MFD_EXEC) ?? -1;
  if (file < 0) file = kernel?.memfdCreate(name, MFD_CLOEXEC) ?? -1;
  if (file < 0) throw new Error(`memfd_create failed (errno ${kernel?.errno() ?? 0})`);
  try {
    for (let at = 0; at < content.length; ) at += writeSync(file, content, at);
    return openSync(`/proc/self/fd/${file}`, "r");
  } finally {
    closeSync(file);
  }
}

interface ImageNeeds {
  readonly confinement: Confinement;
  readonly program: Program | null;
  readonly hold: Hold;
  readonly rulesetAt: number | null;
  readonly imageAt: number;
  readonly way: { readonly token: Buffer; readonly at: number } | null;
  readonly more: readonly TrialCall[];
}

function imageFor(arch: Arch, { confinement, program, hold, rulesetAt, imageAt, way, more }: ImageNeeds): Buffer {
  const memory = new Memory();
  const { ownId, largestFileBytes } = confinement;
  const call = (name: Parameters<typeof needNumber>[1]): number => needNumber(arch, name);
  const must = (what: string): string => `${REFUSED_HOLD}${what}`;
  const limit = (kind: number, most: number): Step => {
    const limits = Buffer.alloc(16);
    limits.writeBigUInt64LE(BigInt(most), 0);
    limits.writeBigUInt64LE(BigInt(most), 8);
    return { call: call("prlimit64"), args: [0, kind, { data: memory.add(limits) }, 0], fault: must("limits") };
  };
  const steps: Step[] = capabilitySteps(arch, confinement.capabilities);
  if (ownId !== null) steps.push(...userSteps(arch, ownId));
  steps.push(
    // After the change of user, which clears it.
    { call: call("prctl"), args: [PR_SET_PDEATHSIG, SIGKILL], fault: must("its end with ours") },
    limit(RLIMIT_CORE, 0),
    ...(largestFileBytes === null ? [] : [limit(RLIMIT_FSIZE, largestFileBytes)]),
    { call: call("prctl"), args: [PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0], fault: must("no new privileges") },
  );
  if (rulesetAt !== null) {
    steps.push(
      { call: call("landlock_restrict_self"), args: [rulesetAt, 0], fault: must("Landlock") },
      { call: call("close"), args: [rulesetAt], fault: null },
    );
  }
  steps.push({ call: call("close"), args: [imageAt], fault: null });
  if (confinement.reach === "brokered") {
    if (way === null || !hold.seccomp) throw new Error("there is no broker here");
    steps.push(...brokerSteps(arch, memory, confinement.mayUseDatagrams, way));
  }
  if (hold.seccomp) steps.push(...filterSteps(arch, memory, confinement));
  steps.push(...more.map((make) => make(arch, memory)));
  if (program !== null) steps.push(startStep(arch, memory, program));
  return imageOf(arch, steps, memory);
}

/** What is taken from the bounding set is gone with execve(2); who is not root has none to take, and is refused. */
function capabilitySteps(arch: Arch, kept: readonly number[]): Step[] {
  const dropped = Array.from({ length: MAX_CAPABILITIES }, (_, capability) => capability);
  return dropped
    .filter((capability) => !kept.includes(capability))
    .map((capability) => {
      return { call: needNumber(arch, "prctl"), args: [PR_CAPBSET_DROP, capability, 0, 0, 0], fault: null };
    });
}

/** Groups before the user, who may not change them. */
function userSteps(arch: Arch, id: number): readonly Step[] {
  const fault = `${REFUSED_HOLD}a user of its own`;
  return [
    { call: needNumber(arch, "setgroups"), args: [0, 0], fault },
    { call: needNumber(arch, "setresgid"), args: [id, id, id], fault },
    { call: needNumber(arch, "setresuid"), args: [id, id, id], fault },
  ];
}

/** Its listener goes to the broker, and is closed by execve(2) here: who has it answers its own calls. */
function brokerSteps(
  arch: Arch,
  memory: Memory,
  mayUseDatagrams: boolean,
  { token, at }: { readonly token: Buffer; readonly at: number },
): readonly Step[] {
  const flags = listenerFlags();
  if (flags === null || token.length !== TOKEN_BYTES) throw new Error("this kernel has no seccomp listeners");
  const { bytes, descriptorAt } = descriptorControl();
  const control = memory.add(bytes);
  const vector = Buffer.alloc(16);
  vector.writeBigUInt64LE(BigInt(memory.add(token)), 0);
  vector.writeBigUInt64LE(BigInt(token.length), 8);
  // struct msghdr
  const header = Buffer.alloc(56);
  header.writeBigUInt64LE(BigInt(memory.add(vector)), 16);
  header.writeBigUInt64LE(1n, 24);
  header.writeBigUInt64LE(BigInt(control), 32);
  header.writeBigUInt64LE(BigInt(bytes.length), 40);
  const message = { data: memory.add(header) };
  const filter = { data: filterDescription(memory, knownBrokerFilter(arch, mayUseDatagrams)).at };
  const fault = `${REFUSED_HOLD}the broker`;
  return [
    {
      call: needNumber(arch, "seccomp"),
      args: [SECCOMP_SET_MODE_FILTER, flags, filter],
      fault,
      into: [control + descriptorAt],
    },
    { call: needNumber(arch, "sendmsg"), args: [at, message, HANDING_FLAGS], fault },
    { call: needNumber(arch, "close"), args: [at], fault },
  ];
}

/** Filters that were made: there are few of them, and each takes milliseconds. */
const filters = new Map<string, Filter>();
const brokerFilters = new Map<boolean, Buffer>();

function knownFilter(arch: Arch, { mayUseDatagrams, reach, routes }: Confinement): Filter {
  const key = `${mayUseDatagrams} ${reach} ${routes}`;
  const filter = filters.get(key) ?? filterFor(arch, { mayUseDatagrams, reach, routes });
  filters.set(key, filter);
  return filter;
}

function knownBrokerFilter(arch: Arch, mayUseDatagrams: boolean): Buffer {
  const filter = brokerFilters.get(mayUseDatagrams) ?? brokerFilter(arch, mayUseDatagrams);
  brokerFilters.set(mayUseDatagrams, filter);
  return filter;
}

/** struct sock_fprog: a count of 16 bits, then a pointer. */
function filterDescription(memory: Memory, program: Buffer): { readonly at: number; readonly programAt: number } {
  const programAt = memory.add(program);
  const description = Buffer.alloc(16);
  description.writeUInt16LE(program.length / 8, 0);
  description.writeBigUInt64LE(BigInt(programAt), 8);
  return { at: memory.add(description), programAt };
}

function filterSteps(arch: Arch, memory: Memory, confinement: Confinement): readonly Step[] {
  const filter = knownFilter(arch, confinement);
  const { at, programAt } = filterDescription(memory, filter.program);
  const into = filter.ownPidAt.map((offset) => programAt + offset);
  return [
    { call: needNumber(arch, "getpid"), args: [], fault: null, into },
    {
      call: needNumber(arch, "seccomp"),
      args: [SECCOMP_SET_MODE_FILTER, 0, { data: at }],
      fault: `${REFUSED_HOLD}seccomp`,
    },
  ];
}

function startStep(arch: Arch, memory: Memory, { path, descriptor, args, environment }: Program): Step {
  const file = descriptor === null ? path : `/proc/self/fd/${FIRST_FREE}`;
  return {
    call: needNumber(arch, "execve"),
    args: [{ data: memory.text(file) }, { data: memory.texts([path, ...args]) }, { data: memory.texts(environment) }],
    fault: NOT_STARTED,
  };
}
