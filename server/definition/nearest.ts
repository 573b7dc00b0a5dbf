import { Effort } from './effort'

/** A name with more mistakes is another name. */
const MAX_EDITS = 6
/** The budget for one name, in letters compared: this many for 2,500 names of 100 letters. */
const FOR_ONE_NAME = 5_000_000
const PER_CANDIDATE = 5

/**
 * The candidate that the name was most likely meant to be; null if none is close, or once the search exceeds its
 * budget.
 * @param effort the remaining budget, in letters compared, if many names are looked up
 */
export function nearestName(
  name: string,
  candidates: Iterable<string>,
  effort = new Effort(FOR_ONE_NAME),
): string | null {
  const lower = name.toLowerCase()
  const most = Math.min(MAX_EDITS, Math.max(1, Math.floor(lower.length / 3)))
  const rows = [0, 1, 2].map(() => new Int32Array(lower.length + most + 2))
  let best: string | null = null
  let least = most + 1
  for (const candidate of candidates) {
    if (!effort.allows(PER_CANDIDATE)) return null
    if (Math.abs(candidate.length - name.length) >= least || candidate === name) continue
    const far = distance(lower, candidate.toLowerCase(), least - 1, rows, effort)
    if (far < least) {
      best = candidate
      least = far
    }
  }
  return best
}

/**
 * The number of edits between two words; swapping two adjacent letters counts as one. Any number above `most` means
 * more than `most`.
 * @param rows room for three rows of the table
 */
function distance(a: string, b: string, most: number, rows: Int32Array[], effort: Effort): number {
  // Lower-casing may turn a letter into two.
  if (Math.abs(a.length - b.length) > most) return most + 1
  let [before, last, current] = rows as [Int32Array, Int32Array, Int32Array]
  for (let column = 0; column <= Math.min(b.length, most + 1); column++) last[column] = column
  for (let row = 1; row <= a.length; row++) {
    // Further from the diagonal there are more edits than `most`.
    const [from, to] = [Math.max(1, row - most), Math.min(b.length, row + most)]
    if (!effort.allows(to - from + 1)) return most + 1
    const letter = a.charCodeAt(row - 1)
    let least = from === 1 ? row : most + 1
    current[from - 1] = least
    for (let column = from; column <= to; column++) {
      const other = b.charCodeAt(column - 1)
      let edits = at(last, column - 1) + (letter === other ? 0 : 1)
      if (at(last, column) < edits) edits = at(last, column) + 1
      if (at(current, column - 1) < edits) edits = at(current, column - 1) + 1
      if (row > 1 && column > 1 && letter === b.charCodeAt(column - 2) && a.charCodeAt(row - 2) === other)
        edits = Math.min(edits, at(before, column - 2) + 1)
      current[column] = edits
      if (edits < least) least = edits
    }
    if (least > most) return least
    current[to + 1] = most + 1
    ;[before, last, current] = [last, current, before]
  }
  return at(last, b.length)
}

const at = (row: Int32Array, column: number): number => row[column] as number
