/** Buttons that show an icon alone: the label is for those who do not see it. */
import { t } from "../words/words.ts";
import { Icon } from "./icon.tsx";

interface Props {
  readonly icon: string;
  readonly label: string;
  readonly act: () => void;
  readonly disabled?: boolean;
}

export function IconButton({ icon, label, act, disabled = false }: Props) {
  return (
    <button type="button" class="button small" aria-label={label} disabled={disabled} onClick={act}>
      <Icon name={icon} size={14} />
    </button>
  );
}

interface OfLine {
  readonly name: string;
  readonly edit: () => void;
  readonly remove: () => void;
}

/** What most lines of a list end with. */
export function EditAndDelete({ name, edit, remove }: OfLine) {
  return (
    <>
      <IconButton icon="pencil" label={t("act.editOf", { name })} act={edit} />
      <IconButton icon="trash-2" label={t("act.deleteOf", { name })} act={remove} />
    </>
  );
}

interface AddProps {
  readonly label: string;
  readonly act: () => void;
  /** Within a card or a form. */
  readonly small?: boolean;
}

export function AddButton({ label, act, small = false }: AddProps) {
  return (
    <button type="button" class={small ? "button small" : "button primary"} onClick={act}>
      <Icon name="plus" size={small ? 14 : 16} /> {label}
    </button>
  );
}
