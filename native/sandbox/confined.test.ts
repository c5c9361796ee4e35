import { spawnSync } from "node:child_process";
import { closeSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { temporaryFolder } from "../../testkit/temporary-folder.ts";
import { type Confinement, holdHere, NOT_STARTED, prepareChild } from "./confined.ts";
import { landlockPowers, openRuleset } from "./landlock.ts";

const folder = temporaryFolder();
for (const name of ["in", "out"]) {
  mkdirSync(join(folder, name));
  writeFileSync(join(folder, name, "file"), name);
}

const SYSTEM = ["/bin", "/lib", "/lib64", "/usr", "/etc/ld.so.cache"].map((path) => ({ path, access: "run" as const }));
const confinement: Confinement = {
  rules: { files: [...SYSTEM, { path: join(folder, "in"), access: "write" }], listens: [], connects: [] },
  mayUseDatagrams: false,
  reach: "any",
  routes: "none",
  ownId: null,
  capabilities: [],
  largestFileBytes: null,
};

function shell(script: string, more: Partial<Confinement> = {}) {
  const program = {
    path: "/bin/sh",
    descriptor: null,
    args: ["-c", script],
    environment: ["PATH=/usr/bin:/bin", "A=b"],
  };
  const child = prepareChild({ ...confinement, ...more }, program);
  try {
    const stdio = ["ignore", "pipe", "pipe", ...child.descriptors] as const;
    return spawnSync(child.file, [], { env: {}, cwd: "/", encoding: "utf8", stdio: [...stdio] });
  } finally {
    child.close();
  }
}

describe.runIf(holdHere() !== null)("a child that is held", () => {
  it("has the arguments and the environment that it was given, and nothing else of ours", () => {
    const { stdout, status } = shell('echo "$A $HOME [$0]"; exit 7');
    expect([stdout, status]).toEqual(["b  [/bin/sh]\n", 7]);
    const { stdout: open } = shell("for fd in 3 4 5 6; do (: >&$fd) 2>/dev/null && echo $fd; done");
    expect(open).toBe("");
  });

  it("may signal itself and no other process", () => {
    const { stdout } = shell(`kill -0 $$ && echo itself; kill -0 ${process.pid} 2>/dev/null || echo "not us"`);
    expect(stdout).toBe("itself\nnot us\n");
  });

  it("gains no privileges, dumps no core, and writes no more than it may", () => {
    const status = `while read -r name value rest; do case $name in NoNewPrivs:|Seccomp:) echo "$name $value";; esac; done </proc/self/status; ulimit -c`;
    const files = [...confinement.rules.files, { path: "/proc", access: "read" as const }];
    const { stdout } = shell(status, { rules: { ...confinement.rules, files } });
    expect(stdout).toBe("NoNewPrivs: 1\nSeccomp: 2\n0\n");
    expect(shell(`echo x > ${folder}/in/none`, { largestFileBytes: 0 }).status).not.toBe(0);
  });

  it("says when there is no such program", () => {
    const child = prepareChild(confinement, { path: "/nowhere", descriptor: null, args: [], environment: [] });
    const { status, stderr } = spawnSync(child.file, [], {
      encoding: "utf8",
      stdio: ["ignore", "pipe", "pipe", ...child.descriptors],
    });
    child.close();
    // ENOENT; ours may not even be looked for.
    expect([status === 2 || status === 13, stderr]).toEqual([true, `${NOT_STARTED}\n`]);
  });

  it("leaves no descriptor of ours behind", () => {
    const before = readdirSync("/proc/self/fd").length;
    for (let round = 0; round < 20; round++)
      prepareChild(confinement, { path: "/bin/true", descriptor: null, args: [], environment: [] }).close();
    expect(readdirSync("/proc/self/fd").length).toBe(before);
  });

  it.runIf(process.getuid?.() === 0)("becomes a user of its own, without groups and rights", () => {
    const files = [...confinement.rules.files, { path: "/proc", access: "read" as const }];
    const { stdout } = shell('while read -r line; do echo "$line"; done </proc/self/status', {
      ownId: 64_913,
      rules: { ...confinement.rules, files },
    });
    expect(stdout).toMatch(/^Uid:\s+64913\s+64913\s+64913\s+64913$/m);
    expect(stdout).toMatch(/^Gid:\s+64913\s+64913\s+64913\s+64913$/m);
    expect(stdout).toMatch(/^Groups:\s*$/m);
    for (const set of ["Inh", "Prm", "Eff", "Bnd", "Amb"])
      expect(stdout).toMatch(new RegExp(`^Cap${set}:\\s+0+$`, "m"));
  });
});

describe.runIf((holdHere()?.landlock ?? 0) > 0)("with Landlock", () => {
  it("reads and writes its own files, and no others", () => {
    const tries = ["in", "out"].map(
      (name) => `cat ${folder}/${name}/file; echo new > ${folder}/${name}/made && echo made`,
    );
    const { stdout, stderr } = shell(`${tries.join("; echo; ")}; ls ${folder}; ls /etc`);
    expect(stdout).toBe("inmade\n\n");
    expect(stderr.match(/Permission denied/g)).toHaveLength(4);
  });

  it("leaves out what is not there, and is refused nothing that this kernel knows", () => {
    expect(landlockPowers()?.abi).toBeGreaterThan(0);
    const files = [
      { path: "/nowhere", access: "read" as const },
      ...(["read", "run", "write", "device"] as const).flatMap((access) => [
        { path: "/usr", access },
        { path: "/dev/null", access },
      ]),
    ];
    const ruleset = openRuleset({ files, listens: [0, 80, 80], connects: [443] });
    expect(ruleset).toBeGreaterThan(2);
    closeSync(ruleset);
  });
});
