/** Names the time zone that a browser shows, so that the server writes its times in it. */
export const ZONE_COOKIE = 'millrace-zone'

/** The zone that a browser named; UTC if it named none or one that nobody knows. */
export function zoneNamed(name: string | undefined): string {
  if (!name) return 'UTC'
  try {
    new Intl.DateTimeFormat('en-GB', { timeZone: name })
    return name
  } catch {
    return 'UTC'
  }
}
