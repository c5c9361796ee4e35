/** Headers of public pages: what browsers may do with them, and how long caches may keep them. Pure. */
import type { PageSettings } from "../../model/status-page.ts";
import { securityHeaders } from "../security-headers.ts";

const FRAMES = { none: "'none'", self: "'self'", "*": "*" } as const;

/** No script at all, nothing from elsewhere, and frames as the page has them. */
export function pageSecurity(frame: PageSettings["frame"]): readonly string[] {
  return changed(
    securityHeaders(
      `default-src 'none'; script-src 'none'; style-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'self'; frame-ancestors ${FRAMES[frame]}`,
    ),
    // Without it a browser calls the origin of its own form `null`.
    { "Referrer-Policy": "same-origin" },
  );
}

/** Of images, feeds and JSON: pages of other sites may show them. An image of a person's is shut in, because it may be a document of its own. */
export const SHARED_SECURITY: readonly string[] = changed(
  securityHeaders("default-src 'none'; style-src 'unsafe-inline'; sandbox; frame-ancestors 'none'"),
  { "Cross-Origin-Resource-Policy": "cross-origin" },
);

/** Ten seconds, as we keep it ourselves; a cache between shows the last one while we are away. */
export const PUBLIC_CACHE = "public, max-age=10, stale-while-revalidate=60, stale-if-error=86400";
/** Of pages that not everybody may read. */
export const PRIVATE_CACHE = "private, no-cache";

function changed(headers: readonly string[], values: Readonly<Record<string, string>>): readonly string[] {
  return headers.map((text, index) => (index % 2 === 0 ? text : (values[headers[index - 1] ?? ""] ?? text)));
}
