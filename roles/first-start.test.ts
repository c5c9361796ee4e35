/** A first start that ends in the middle is made again as a whole: an owner without a key could be reached by no one. */
import { existsSync, mkdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { hashKey } from "../store/key-text.ts";
import { openControlPlane } from "../store/sql/control-plane/open.ts";
import type { ControlPlane } from "../store/sql/control-plane/port.ts";
import { temporaryFolder } from "../testkit/temporary-folder.ts";
import { ensureFirst } from "./first-start.ts";

const folder = temporaryFolder();
const keyFile = join(folder, "owner.key");
let controlPlane: ControlPlane;

beforeAll(async () => {
  controlPlane = await openControlPlane({ file: join(folder, "control.sqlite") }, { role: "api" });
});
afterAll(async () => {
  await controlPlane.close();
});

it("makes no owner whose key cannot be kept, and the owner with the key at the next start, once", async () => {
  mkdirSync(keyFile);
  await expect(ensureFirst(controlPlane, keyFile)).rejects.toThrow(
    `cannot write the owner's key to ${keyFile} (EISDIR)`,
  );
  expect(await controlPlane.accounts.isEmpty()).toBe(true);
  rmSync(keyFile, { recursive: true });
  const { firstKey, projectId } = await ensureFirst(controlPlane, keyFile);
  expect(readFileSync(keyFile, "utf8")).toBe(`${firstKey}\n`);
  expect(statSync(keyFile).mode & 0o777).toBe(0o600);
  const access = await controlPlane.keys.access(Number(/^uk(\d+)_/.exec(firstKey ?? "")?.[1]));
  expect(access).toMatchObject({ role: "owner", key: { secretHash: hashKey(firstKey ?? "") } });
  const again = await ensureFirst(controlPlane, keyFile);
  expect(again).toMatchObject({ firstKey: null, ownerKey: firstKey, projectId });
});

it("has the key in its file before it is in the database", async () => {
  const other = await openControlPlane({ file: join(folder, "other.sqlite") }, { role: "api" });
  const file = join(folder, "other.key");
  const dying = { ...other, accounts: { ...other.accounts, createFirst: diesBeforeCommit(other) } };
  await expect(ensureFirst(dying, file)).rejects.toThrow("killed");
  expect([existsSync(file), await other.accounts.isEmpty()]).toEqual([true, true]);
  const { firstKey } = await ensureFirst(other, file);
  expect(readFileSync(file, "utf8")).toBe(`${firstKey}\n`);
  await other.close();
});

function diesBeforeCommit({ accounts }: ControlPlane): ControlPlane["accounts"]["createFirst"] {
  return ({ key, ...input }) =>
    accounts.createFirst({
      ...input,
      ...(key !== undefined && {
        key: {
          ...key,
          keep(id) {
            key.keep(id);
            throw new Error("killed");
          },
        },
      }),
    });
}
