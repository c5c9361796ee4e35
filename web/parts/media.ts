import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";

/** @returns whether the query holds, now and after it changes */
export function useMedia(query: string): boolean {
  const holds = useSignal(matchMedia(query).matches);
  useEffect(() => {
    const media = matchMedia(query);
    const update = () => {
      holds.value = media.matches;
    };
    update();
    media.addEventListener("change", update);
    return () => media.removeEventListener("change", update);
  }, [query, holds]);
  return holds.value;
}
