/** What a process that serves the API says when it is up. */
export function bannerOf(service: {
  url: string;
  firstKey: string | null;
  projectId: number | null;
  keyFile: string | null;
}): string {
  const lines = [`Sonde listens on ${service.url}/api/v1`];
  lines.push(`Project: prj_${service.projectId}`);
  if (service.firstKey !== null) lines.push(`Key (shown once, kept in ${service.keyFile}): ${service.firstKey}`);
  return `${lines.join("\n")}\n`;
}
