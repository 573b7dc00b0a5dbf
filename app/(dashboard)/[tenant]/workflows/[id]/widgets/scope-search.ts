import type { ScopeEntry } from '@/server/workflows/check/scope'

/** Entries whose name contains the letters of the search in order; prefix matches come first. */
export function findEntries<E extends Pick<ScopeEntry, 'name'>>(entries: readonly E[], search: string): E[] {
  const wanted = search.toLowerCase()
  if (wanted === '') return [...entries]
  return entries
    .map((entry) => ({ entry, rank: rankOf(entry.name.toLowerCase(), wanted) }))
    .filter(({ rank }) => rank !== null)
    .sort((a, b) => (a.rank ?? 0) - (b.rank ?? 0))
    .map(({ entry }) => entry)
}

function rankOf(name: string, wanted: string): number | null {
  if (name.startsWith(wanted)) return 0
  if (name.includes(wanted)) return 1
  let at = -1
  for (const letter of wanted) {
    at = name.indexOf(letter, at + 1)
    if (at === -1) return null
  }
  return 2
}

/** The characters of a path, up to its end. */
const TYPED = /^[\p{L}\p{M}\p{Nd}_.[\]"-]*$/u
const REST = /^[\p{L}\p{M}\p{Nd}_.[\]"-]*\}?/u

/** The text after the path at the caret. */
export function afterPath(rest: string): string {
  return rest.replace(REST, '')
}

/** The start of the `${` around the caret, or null. */
export function openedAt(text: string, at: number): number | null {
  const before = text.slice(0, at)
  const open = before.lastIndexOf('${')
  if (open === -1 || (open > 0 && before[open - 1] === '$')) return null
  return TYPED.test(before.slice(open + 2)) ? open : null
}
