/** The maximum of the column. */
const MAX = 2 ** 31 - 1

/**
 * The version number that `latest`, `published` or a number (also as text) means; null for an impossible version. Does
 * not look the number up.
 */
export function resolveVersion(
  wanted: string | number,
  row: { version: number; publishedVersion: number | null },
): number | null {
  if (wanted === 'latest') return row.version
  if (wanted === 'published') return row.publishedVersion
  const number = versionNumber(wanted)
  return number !== null && number <= row.version ? number : null
}

/**
 * The version in a request; the latest by default. A value that is neither text nor number means a version that no row
 * has.
 */
export function wantedVersion(given: unknown): string | number {
  if (given === undefined) return 'latest'
  return typeof given === 'string' || typeof given === 'number' ? given : ''
}

/** The version that a number means, also as text; null if no version can have it. */
export function versionNumber(wanted: string | number): number | null {
  const number = typeof wanted === 'number' ? wanted : /^[1-9]\d{0,8}$/.test(wanted) ? Number(wanted) : Number.NaN
  return Number.isInteger(number) && number >= 1 && number <= MAX ? number : null
}
