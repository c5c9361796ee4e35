/** Status pages as the API shows and writes them. */
import { formatId } from "../../model/ids.ts";
import type { StatusPage } from "../../model/status-page.ts";
import { type AccessSecrets, writeGroups } from "../../model/status-page-reader.ts";
import { formatIso } from "../../model/time.ts";
import type { SealedPage, StatusPageRecord } from "../../store/sql/status-pages/port.ts";
import { linkToken, type PageSecrets, publicName } from "./secrets.ts";

export function pageRow(page: StatusPageRecord) {
  return {
    id: formatId("statusPage", page.id),
    slug: page.slug,
    title: page.title,
    published: page.published,
    listed: page.settings.listed,
    domains: page.domains,
    access: { type: page.access },
    created_at: formatIso(page.createdAtMs),
    updated_at: formatIso(page.updatedAtMs),
  };
}

/** @param baseUrl without a slash at the end @param mayEdit only those see the link that lets readers in */
export function pageRecord(page: SealedPage, secrets: PageSecrets, baseUrl: string, mayEdit: boolean) {
  const { settings } = page;
  const { links, show } = settings;
  const url = `${baseUrl}/status/${page.slug}?t=${linkToken(secrets)}`;
  return {
    ...pageRow(page),
    text: settings.text,
    index: settings.index,
    access: page.access === "link" && mayEdit ? { type: page.access, url } : { type: page.access },
    timezone: settings.timezone,
    language: settings.language,
    theme: settings.theme,
    accent: settings.accent,
    logo: page.logo,
    css: page.css,
    links: { home: links.home, contact: links.contact },
    frame: settings.frame,
    days: settings.days,
    show: {
      uptime: show.uptime,
      latency: show.latency,
      certificate: show.certificate,
      incidents_days: show.incidentsDays,
    },
    groups: writeGroups(page.groups),
    badge: `${baseUrl}/badge/${page.badgeName}${publicName(secrets, "page")}`,
  };
}

/** @param password what was made of the new one; null: it stays */
export function changedSecrets(
  before: PageSecrets,
  { rotate }: AccessSecrets,
  { access }: Pick<StatusPage, "access">,
  password: PageSecrets["password"],
): PageSecrets {
  return {
    key: before.key,
    link: rotate && access === "link" ? before.link + 1 : before.link,
    password: password ?? (access === "password" ? before.password : null),
  };
}
