/** The cookie with the browser's time zone, so that the server renders times in it. */
export const ZONE_COOKIE = 'millrace-zone'

/** The browser's zone; UTC if it is missing or unknown. */
export function zoneNamed(name: string | undefined): string {
  if (!name) return 'UTC'
  try {
    new Intl.DateTimeFormat('en-GB', { timeZone: name })
    return name
  } catch {
    return 'UTC'
  }
}
