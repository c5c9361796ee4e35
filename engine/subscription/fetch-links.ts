/** A provider's list as share links, for checks that keep nothing of it. */
import type { Transport } from "../transport/transport.ts";
import type { ListedLinks, NoLinks } from "./links.ts";
import { askByName, ProviderError, whyNothing } from "./provider.ts";

/** @param read makes links of a body @param order the signal ends it early */
export async function fetchLinks(
  transport: Transport,
  order: { readonly url: string; readonly signal: AbortSignal },
  read: (text: string) => Promise<ListedLinks | NoLinks>,
): Promise<ListedLinks | NoLinks> {
  try {
    const answer = await askByName(transport, { ...order, known: null }, async (text) => {
      const listed = await read(text);
      if ("fault" in listed) return listed.fault;
      return listed.links.length > 0 ? listed : whyNothing(listed.bad, listed.message);
    });
    // Nothing is known of the list, so that no answer says that it is unchanged.
    return answer.kind === "list" ? answer.list : { fault: "The list is empty." };
  } catch (error) {
    if (error instanceof ProviderError) return { fault: error.message };
    throw error;
  }
}
