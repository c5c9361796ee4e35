/** Selectors over the monitors of a page: the same answers as the store's, from memory. Pure. */
import type { Selected, Selector } from "../../model/selector.ts";
import type { PageMember } from "../../store/sql/status-pages/port.ts";

export function isSelected(member: PageMember, { not, ...selected }: Selector): boolean {
  return fits(member, selected) && (not === undefined || !fits(member, not));
}

function fits(member: PageMember, selected: Selected): boolean {
  const { ids, tags, anyTag, kinds, family, subscriptionIds, name, status } = selected;
  if (ids !== undefined && !ids.includes(member.id)) return false;
  if (tags?.every((tag) => member.tags.includes(tag)) === false) return false;
  if (anyTag?.some((tag) => member.tags.includes(tag)) === false) return false;
  if (kinds !== undefined && !kinds.includes(member.kind)) return false;
  if (family !== undefined && member.family !== family) return false;
  if (subscriptionIds !== undefined && !subscriptionIds.includes(member.subscriptionId ?? -1)) return false;
  if (name !== undefined && !folded(member.name).includes(folded(name))) return false;
  return status === undefined || status.includes(member.isPaused ? "paused" : member.status);
}

function folded(text: string): string {
  return text.normalize("NFC").toLowerCase();
}
