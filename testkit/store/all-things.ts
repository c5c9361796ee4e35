import type { Documents, DocumentThing } from "../../store/sql/documents/port.ts";

/** What documents of the project have, in one list. */
export async function allThings(documents: Documents, projectId: number): Promise<readonly DocumentThing[]> {
  const all: DocumentThing[] = [];
  for await (const some of documents.things(projectId)) all.push(...some);
  return all;
}
