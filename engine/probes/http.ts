import { defineUptime } from "../contract/kind.ts";
import { servePage, website } from "../web/describe-website.ts";
import { webFields, webSettings } from "../web/settings.ts";

/** A website: one request on a fresh connection, ok when the status code is an accepted one. */
export const http = defineUptime(
  {
    kind: "http",
    summary: "Website: requests a URL and judges the status code",
    settings: webSettings(webFields),
    example: { url: "https://www.test-site.org/" },
    ...website,
    address: {
      schemes: ["http", "https"],
      read: (address) => ({ settings: { url: address }, place: address }),
    },
    demo: {
      name: "Website",
      serve: servePage("<h1>Welcome</h1>"),
      settings: ({ host, port }) => ({
        url: `http://${host}:${port}/`,
        headers: { Accept: "text/html", "X-Api-Key": "demo" },
        max_redirects: 3,
        max_response_time: 10_000,
      }),
    },
  },
  { load: () => import("../web/run-website.ts") },
);
