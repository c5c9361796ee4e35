/** Filters and orders of monitors that people have named. */
import { bigint, id, nullable, prose, table } from "./column.ts";

export const SAVED_VIEWS = table("saved_views", {
  id: id(),
  project_id: bigint(),
  /** null: of everyone in the project. */
  user_id: nullable(bigint()),
  /** One of each name for a person, and for everyone. */
  name: prose(),
  query: prose(),
});
