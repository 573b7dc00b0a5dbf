/** The first letters of the first and last part of a name. */
export function initialsOf(name: string): string {
  const parts = name.split(/[\s.@_-]+/).filter(Boolean)
  const letters = [parts[0], parts.length > 1 ? parts.at(-1) : undefined].map((part) => [...(part ?? '')][0] ?? '')
  return letters.join('').toUpperCase() || '?'
}

const COLORS = 6

/** The numbers of people's colours: mostly stable for a person, and distinct for people who are here together. */
export function colorsOf(ids: readonly string[]): number[] {
  const taken = new Set<number>()
  return ids.map((id) => {
    let color = [...id].reduce((sum, letter) => (sum * 31 + (letter.codePointAt(0) ?? 0)) % 9973, 0) % COLORS
    while (taken.has(color) && taken.size < COLORS) color = (color + 1) % COLORS
    taken.add(color)
    return color
  })
}
