/** The candidate the name was most likely meant to be; null when none is close. */
export function nearestName(name: string, candidates: Iterable<string>): string | null {
  const most = Math.max(1, Math.floor(name.length / 3))
  let best: string | null = null
  let least = most + 1
  for (const candidate of candidates) {
    if (Math.abs(candidate.length - name.length) >= least || candidate === name) continue
    const far = distance(name.toLowerCase(), candidate.toLowerCase())
    if (far < least) {
      best = candidate
      least = far
    }
  }
  return best
}

/** The number of edits between two words; swapping two adjacent letters counts as one. */
function distance(a: string, b: string): number {
  let before: number[] = []
  let last = Array.from({ length: b.length + 1 }, (_, column) => column)
  for (let row = 1; row <= a.length; row++) {
    const current = [row]
    for (let column = 1; column <= b.length; column++) {
      const same = a[row - 1] === b[column - 1]
      const edits = [(last[column] ?? 0) + 1, (current[column - 1] ?? 0) + 1, (last[column - 1] ?? 0) + (same ? 0 : 1)]
      if (row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1])
        edits.push((before[column - 2] ?? 0) + 1)
      current.push(Math.min(...edits))
    }
    before = last
    last = current
  }
  return last[b.length] ?? 0
}
