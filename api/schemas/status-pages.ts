/** Status pages and their updates (docs/api-contract.md#status-pages). */
import { z } from "zod";
import {
  GROUP_OPENS,
  MERGES,
  PAGE_ACCESSES,
  PAGE_FRAMES,
  PAGE_THEMES,
  UPDATE_LEVELS,
} from "../../model/status-page.ts";
import { PAGE_LIMITS } from "../../model/status-page-reader.ts";
import { actor, id, iso, total, warnings } from "./words.ts";

const selector = z
  .record(z.string(), z.unknown())
  .describe("Which monitors: a selector, as `POST /servers/bulk` has it");

const component = z
  .strictObject({
    servers: selector,
    title: z.string().nullable(),
    text: z.string(),
    merge: z.enum(MERGES),
  })
  .meta({ id: "StatusPageComponent" });
const group = z
  .strictObject({ title: z.string(), open: z.enum(GROUP_OPENS), components: z.array(component) })
  .meta({ id: "StatusPageGroup" });

const summary = {
  id: id("spg_"),
  slug: z.string(),
  title: z.string(),
  published: z.boolean(),
  listed: z.boolean(),
  domains: z.array(z.string()),
  created_at: iso,
  updated_at: iso,
};

export const statusPage = z
  .strictObject({
    ...summary,
    text: z.string(),
    index: z.boolean(),
    access: z.strictObject({
      type: z.enum(PAGE_ACCESSES),
      url: z
        .string()
        .optional()
        .describe("Of the access `link`, for those who may edit: the address that lets readers in"),
    }),
    timezone: z.string(),
    language: z.string(),
    theme: z.enum(PAGE_THEMES),
    accent: z.string(),
    logo: z.string().nullable(),
    css: z.string().nullable(),
    links: z.strictObject({ home: z.string().nullable(), contact: z.string().nullable() }),
    frame: z.enum(PAGE_FRAMES),
    days: z.int(),
    show: z.strictObject({
      uptime: z.boolean(),
      latency: z.boolean(),
      certificate: z.boolean(),
      incidents_days: z.int(),
    }),
    groups: z.array(group),
    badge: z.string().describe("Address of the badge of the whole page, without what it shows: `/status.svg`"),
    warnings,
  })
  .meta({ id: "StatusPage" });

export const statusPageRow = z
  .strictObject({ ...summary, access: z.strictObject({ type: z.enum(PAGE_ACCESSES) }) })
  .meta({ id: "StatusPageRow" });
export const statusPageList = z
  .strictObject({ status_pages: z.array(statusPageRow), total })
  .meta({ id: "StatusPageList" });
export const statusPageRemoved = z
  .strictObject({ success: z.literal(true), id: id("spg_") })
  .meta({ id: "RemovedStatusPage" });

export const pageUpdate = z
  .strictObject({
    id: id("spu_"),
    level: z.enum(UPDATE_LEVELS),
    title: z.string(),
    text: z.string(),
    at: iso,
    ends_at: iso.nullable(),
    actor,
    warnings,
  })
  .meta({ id: "StatusPageUpdate" });
export const pageUpdateList = z
  .strictObject({ updates: z.array(pageUpdate), total })
  .meta({ id: "StatusPageUpdateList" });
export const pageUpdateRemoved = z
  .strictObject({ success: z.literal(true), id: id("spu_") })
  .meta({ id: "RemovedStatusPageUpdate" });

const { title, text, lineText, days, domains, groups, components, cssBytes, logoBytes } = PAGE_LIMITS;

const componentBody = z.object({
  servers: selector,
  title: z
    .string()
    .max(title)
    .nullable()
    .optional()
    .describe("Required but for `each`, where a line has the monitor's name"),
  text: z.string().max(lineText).optional(),
  merge: z
    .enum(MERGES)
    .optional()
    .describe("`each`: a line for each monitor · `worst`, `share`: one line for all. Default: each"),
});

const pageFields = {
  slug: z
    .string()
    .describe("1 to 63 of a to z, 0 to 9 and hyphens; unique in the service: the page is at `/status/{slug}`"),
  title: z.string().describe(`1 to ${title} characters after trimming`),
  text: z.string().max(text).optional().describe("Markdown below the title"),
  published: z.boolean().optional().describe("Without it the page is a draft, and 404 for readers. Default: false"),
  listed: z.boolean().optional().describe("In `/status`, where the service has that list. Default: false"),
  index: z.boolean().optional().describe("Whether search engines may keep it. Default: true"),
  domains: z.array(z.string()).max(domains).optional().describe("Own domains, which lead here by the header Host"),
  access: z
    .object({
      type: z.enum(PAGE_ACCESSES),
      password: z.string().optional().describe("For `password`; never returned"),
      rotate: z.boolean().optional().describe("For `link`: makes a new one, and the one before stops to work"),
    })
    .optional()
    .describe("Default: public"),
  timezone: z.string().optional().describe("IANA name. Default: UTC"),
  language: z.string().optional().describe("BCP 47. Default: en"),
  theme: z.enum(PAGE_THEMES).optional(),
  accent: z.string().optional().describe("`#rrggbb`"),
  logo: z.string().nullable().optional().describe(`A data URL of an image of at most ${logoBytes} bytes`),
  css: z.string().nullable().optional().describe(`At most ${cssBytes} bytes, behind the page's own style`),
  links: z.object({ home: z.string().nullable().optional(), contact: z.string().nullable().optional() }).optional(),
  frame: z.enum(PAGE_FRAMES).optional().describe("Whose pages may show it in a frame. Default: none"),
  days: z.int().min(1).max(days).optional(),
  show: z
    .object({
      uptime: z.boolean().optional(),
      latency: z.boolean().optional(),
      certificate: z.boolean().optional(),
      incidents_days: z.int().min(0).max(days).optional(),
    })
    .optional(),
  groups: z
    .array(
      z.object({
        title: z.string(),
        open: z.enum(GROUP_OPENS).optional().describe("Default: problems"),
        components: z.array(componentBody),
      }),
    )
    .max(groups)
    .optional()
    .describe(`At most ${components} components together; replaced as a whole`),
};

const EXAMPLE = {
  slug: "acme-vpn",
  title: "Acme VPN",
  published: true,
  groups: [{ title: "Europe", components: [{ servers: { tags: ["eu"] }, title: "Frankfurt", merge: "worst" }] }],
};

export const createStatusPage = z.object(pageFields).meta({ id: "CreateStatusPage", examples: [EXAMPLE] });
export const updateStatusPage = z
  .object({
    ...pageFields,
    slug: pageFields.slug.optional(),
    title: pageFields.title.optional(),
    if_updated_at: z
      .string()
      .optional()
      .describe("`updated_at` as you read it: where another has changed the page since, the answer is 409"),
  })
  .meta({ id: "UpdateStatusPage", examples: [{ published: true }] });

const updateFields = {
  title: z.string().describe(`1 to ${title} characters after trimming`),
  text: z.string().max(text).optional().describe("Markdown"),
  level: z.enum(UPDATE_LEVELS).optional().describe("Default: info"),
  ends_at: z.string().nullable().optional().describe("ISO time until which it stands at the top; without one a week"),
};
export const createPageUpdate = z
  .object(updateFields)
  .meta({ id: "CreateStatusPageUpdate", examples: [{ title: "New kernels tonight", level: "maintenance" }] });
export const updatePageUpdate = z
  .object({ ...updateFields, title: updateFields.title.optional() })
  .meta({ id: "UpdateStatusPageUpdate", examples: [{ title: "New kernels tomorrow" }] });
