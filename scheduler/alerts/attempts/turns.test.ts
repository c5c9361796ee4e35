import { expect, it } from "vitest";
import { HandshakeTurns } from "./turns.ts";

it("reads one at a time, projects in turns, with other work between two", () => {
  const later: (() => void)[] = [];
  const turns = new HandshakeTurns((then) => void later.push(then));
  const read: string[] = [];
  const ask = (project: number, name: string): void => turns.ask(project, () => void read.push(name));
  for (const name of ["a1", "a2", "a3"]) ask(1, name);
  ask(2, "b1");
  const readBy = (): string => {
    expect(later).toHaveLength(1);
    later.shift()?.();
    return read.join(" ");
  };
  expect(read).toEqual([]);
  expect(readBy()).toBe("a1");
  ask(3, "c1");
  expect(readBy()).toBe("a1 b1");
  expect([readBy(), readBy(), readBy()]).toEqual(["a1 b1 a2", "a1 b1 a2 c1", "a1 b1 a2 c1 a3"]);
  expect(readBy()).toBe("a1 b1 a2 c1 a3");
  expect(later).toEqual([]);
  ask(1, "a4");
  expect(readBy()).toBe("a1 b1 a2 c1 a3 a4");
});

it("goes on when one of them throws", () => {
  const later: (() => void)[] = [];
  const turns = new HandshakeTurns((then) => void later.push(then));
  const read: number[] = [];
  turns.ask(1, () => {
    throw new Error("broken");
  });
  turns.ask(1, () => void read.push(2));
  expect(() => later.shift()?.()).toThrow("broken");
  later.shift()?.();
  expect(read).toEqual([2]);
});
