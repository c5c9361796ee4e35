/**
 * Gates: caps on what runs at the same time. An entry passes when all its gates have room; the first full one keeps it waiting,
 * first come first served. The last gate of all is the overall cap, shared fairly: when it is full, workspaces take turns.
 */
import type { Entry, Gate } from "./entry.ts";

export function createGate(limit: number): Gate {
  return { limit, running: 0, waiting: [] };
}

/** Gates by name, kept while anything runs or waits there. */
export interface GateBook {
  /** @param limit used when the gate is new */
  gate(name: string, limit: number): Gate;
  /** Forgets gates that nothing uses; called now and then. */
  sweep(inUse: ReadonlySet<Gate>): void;
  readonly size: number;
}

export function createGateBook(): GateBook {
  const gates = new Map<string, Gate>();
  return {
    gate(name, limit) {
      let gate = gates.get(name);
      if (gate === undefined || gate.limit !== limit) {
        gate = createGate(limit);
        gates.set(name, gate);
      }
      return gate;
    },
    sweep(inUse) {
      for (const [name, gate] of gates) {
        if (gate.running === 0 && gate.waiting.length === 0 && !inUse.has(gate)) gates.delete(name);
      }
    },
    get size() {
      return gates.size;
    },
  };
}

export interface Admission {
  /** Lets an entry run or makes it wait. The entry's state says which. */
  request(entry: Entry): void;
  /** An admitted entry has ended: gives its places back and admits entries that waited for them. */
  release(entry: Entry): void;
  /** A waiting entry gives up. */
  withdraw(entry: Entry): void;
  /** Stops all starts (the sink is full) or allows them again. */
  hold(isHeld: boolean): void;
  readonly running: number;
  readonly waiting: number;
}

/**
 * @param overallLimit checks in flight in this process
 * @param admit called for each entry that may run; it is `running` from then on
 */
export function createAdmission(overallLimit: number, admit: (entry: Entry) => void): Admission {
  /** Entries whose own gates had room when the overall cap was full, by workspace; the map's order is the order of the workspaces' turns. */
  const lines = new Map<number, Entry[]>();
  let running = 0;
  let waiting = 0;
  let isHeld = false;

  function start(entry: Entry): void {
    for (const gate of entry.held) gate.running += 1;
    running += 1;
    entry.state = "running";
    admit(entry);
  }

  function queueOverall(entry: Entry): void {
    const line = lines.get(entry.monitor.organizationId);
    if (line === undefined) lines.set(entry.monitor.organizationId, [entry]);
    else line.push(entry);
  }

  /** Starts the entry or puts it where it must wait; its state is `waiting` already when it comes from a queue. */
  function place(entry: Entry): boolean {
    const full = entry.held.find((gate) => gate.running >= gate.limit);
    if (full !== undefined) {
      full.waiting.push(entry);
      return false;
    }
    if (isHeld || running >= overallLimit) {
      queueOverall(entry);
      return false;
    }
    start(entry);
    return true;
  }

  /** The next workspace's oldest entry; that workspace goes to the end of the round. */
  function takeNext(): Entry | undefined {
    const first = lines.entries().next();
    if (first.done === true) return undefined;
    const [organizationId, line] = first.value;
    const entry = line.shift();
    lines.delete(organizationId);
    if (line.length > 0) lines.set(organizationId, line);
    return entry;
  }

  function fill(): void {
    while (!isHeld && running < overallLimit) {
      const entry = takeNext();
      if (entry === undefined) return;
      if (place(entry)) waiting -= 1;
    }
  }

  /** One place of each gate became free: the entries that wait there are placed again. */
  function wake(gate: Gate): void {
    while (gate.running < gate.limit) {
      const entry = gate.waiting.shift();
      if (entry === undefined) return;
      if (place(entry)) waiting -= 1;
      else if (gate.waiting.at(-1) === entry) return;
    }
  }

  return {
    request(entry) {
      entry.state = "waiting";
      entry.held = entry.gates;
      if (!place(entry)) waiting += 1;
    },
    release(entry) {
      running -= 1;
      for (const gate of entry.held) gate.running -= 1;
      for (const gate of entry.held) if (gate.waiting.length > 0) wake(gate);
      fill();
    },
    withdraw(entry) {
      if (entry.state !== "waiting") return;
      waiting -= 1;
      for (const gate of entry.held) remove(gate.waiting, entry);
      const line = lines.get(entry.monitor.organizationId);
      if (line !== undefined && remove(line, entry) && line.length === 0) lines.delete(entry.monitor.organizationId);
    },
    hold(held) {
      isHeld = held;
      if (!held) fill();
    },
    get running() {
      return running;
    },
    get waiting() {
      return waiting;
    },
  };
}

function remove(entries: Entry[], entry: Entry): boolean {
  const index = entries.indexOf(entry);
  if (index >= 0) entries.splice(index, 1);
  return index >= 0;
}
