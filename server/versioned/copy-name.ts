const SUFFIX = ' (Copy)'

/** The name of a duplicate: with the suffix, the name's end cut where both are too long together. */
export function copyName(name: string, maxLength: number): string {
  const room = maxLength - SUFFIX.length
  if (name.length <= room) return `${name}${SUFFIX}`
  // Half of a surrogate pair could not be stored.
  const end = /[\uD800-\uDBFF]/.test(name.charAt(room - 1)) ? room - 1 : room
  return `${name.slice(0, end).trimEnd()}${SUFFIX}`
}
