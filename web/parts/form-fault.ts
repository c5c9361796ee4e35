/** What was refused of a form, shown at the field and brought into view. */
import { useSignal } from "@preact/signals";
import { messageOf } from "../api/client.ts";
import { t } from "../words/words.ts";
import { type Fault, FieldError, faultOf } from "./field-fault.ts";

export interface FormFault {
  /** What stands at a field; null: nothing. */
  readonly of: (name: string) => string | null;
  /** @returns whether a field of the form shows it */
  readonly refuse: (reason: unknown, form: HTMLFormElement | null) => boolean;
  readonly clear: () => void;
}

/** @param names the API's names of the fields that the form shows now */
export function useFormFault(names: readonly string[]): FormFault {
  const fault = useSignal<Fault | null>(null);
  return {
    of: (name) => {
      const { field, message, isClosedAddress } = fault.value ?? {};
      if (field !== name || message === undefined) return null;
      return isClosedAddress === true ? `${message} ${t("field.closedAddress")}` : message;
    },
    refuse: (reason, form) => {
      const found = reason instanceof FieldError ? ofPage(reason) : faultOf(messageOf(reason), names);
      if (found.field === null) return false;
      fault.value = found;
      requestAnimationFrame(() => focusRefused(form));
      return true;
    },
    clear: () => {
      fault.value = null;
    },
  };
}

function ofPage({ field, message }: FieldError): Fault {
  return { field, message, isClosedAddress: false };
}

/** The field may be among those that a person has to open. */
function focusRefused(form: HTMLFormElement | null): void {
  const field = form?.querySelector<HTMLElement>("[aria-invalid=true]");
  const closed = field?.closest("details");
  if (closed !== null && closed !== undefined) closed.open = true;
  field?.focus();
}
