const SUFFIX = ' (Copy)'

/** The name of a duplicate: the old name with a suffix, shortened if too long. */
export function copyName(name: string, maxLength: number): string {
  const room = maxLength - SUFFIX.length
  if (name.length <= room) return `${name}${SUFFIX}`
  // Half of a surrogate pair cannot be stored.
  const end = /[\uD800-\uDBFF]/.test(name.charAt(room - 1)) ? room - 1 : room
  return `${name.slice(0, end).trimEnd()}${SUFFIX}`
}
