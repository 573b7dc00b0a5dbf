// Our own: of equally short differences, the package `diff` shows others, and it gives up on texts that differ too
// much.

const CONTEXT = 3
/** More changes than this are shown as one: finding the fewest takes their square in time and memory. */
const MAX_CHANGES = 2_000

type Line = { sign: ' ' | '-' | '+'; text: string }

/** The changed lines with three lines of context, as in `diff -u`; empty if nothing changed. */
export function unifiedDiff(before: string, after: string): string[] {
  const lines = changedLines(linesOf(before), linesOf(after))
  const shown: string[] = []
  let [old, now] = [1, 1]
  for (let at = 0; at < lines.length; ) {
    const first = lines.findIndex(({ sign }, index) => index >= at && sign !== ' ')
    if (first === -1) break
    let end = first
    for (let index = first; index < lines.length && index <= end + 2 * CONTEXT; index++)
      if (lines[index]?.sign !== ' ') end = index
    const from = Math.max(at, first - CONTEXT)
    const to = Math.min(lines.length, end + 1 + CONTEXT)
    old += from - at
    now += from - at
    const hunk = lines.slice(from, to)
    const [removed, added] = [
      hunk.filter(({ sign }) => sign !== '+').length,
      hunk.filter(({ sign }) => sign !== '-').length,
    ]
    shown.push(`@@ -${place(old, removed)} +${place(now, added)} @@`, ...hunk.map(({ sign, text }) => sign + text))
    old += removed
    now += added
    at = to
  }
  return shown
}

function place(line: number, count: number): string {
  return `${count === 0 ? line - 1 : line},${count}`
}

function linesOf(text: string): string[] {
  return text === '' ? [] : text.replace(/\n$/, '').split('\n')
}

function changedLines(before: string[], after: string[]): Line[] {
  let start = 0
  while (start < before.length && start < after.length && before[start] === after[start]) start += 1
  let tail = 0
  const room = Math.min(before.length, after.length) - start
  while (tail < room && before.at(-1 - tail) === after.at(-1 - tail)) tail += 1
  const same = (text: string): Line => ({ sign: ' ', text })
  return [
    ...before.slice(0, start).map(same),
    ...fewestChanges(before.slice(start, before.length - tail), after.slice(start, after.length - tail)),
    ...before.slice(before.length - tail).map(same),
  ]
}

/** Myers' algorithm: the furthest point on each diagonal for a growing number of changes. */
function fewestChanges(before: string[], after: string[]): Line[] {
  const [n, m] = [before.length, after.length]
  const furthest = new Map<number, number>([[1, 0]])
  const trace: Map<number, number>[] = []
  for (let changes = 0; changes <= Math.min(n + m, MAX_CHANGES); changes++) {
    trace.push(new Map(furthest))
    for (let diagonal = -changes; diagonal <= changes; diagonal += 2) {
      let x = comesDown(furthest, diagonal, changes) ? at(furthest, diagonal + 1) : at(furthest, diagonal - 1) + 1
      while (x < n && x - diagonal < m && before[x] === after[x - diagonal]) x += 1
      furthest.set(diagonal, x)
      if (x >= n && x - diagonal >= m) return walkBack(before, after, trace)
    }
  }
  return [...before.map((text): Line => ({ sign: '-', text })), ...after.map((text): Line => ({ sign: '+', text }))]
}

function walkBack(before: string[], after: string[], trace: Map<number, number>[]): Line[] {
  const lines: Line[] = []
  let [x, y] = [before.length, after.length]
  for (let changes = trace.length - 1; changes >= 0; changes--) {
    const furthest = trace[changes] ?? new Map<number, number>()
    const diagonal = x - y
    const from = comesDown(furthest, diagonal, changes) ? diagonal + 1 : diagonal - 1
    const fromX = at(furthest, from)
    const fromY = fromX - from
    while (x > fromX && y > fromY && x > 0 && y > 0) {
      lines.push({ sign: ' ', text: before[x - 1] ?? '' })
      x -= 1
      y -= 1
    }
    if (changes === 0) break
    lines.push(x === fromX ? { sign: '+', text: after[y - 1] ?? '' } : { sign: '-', text: before[x - 1] ?? '' })
    ;[x, y] = [fromX, fromY]
  }
  return lines.reverse()
}

function comesDown(furthest: Map<number, number>, diagonal: number, changes: number): boolean {
  if (diagonal === -changes) return true
  return diagonal !== changes && at(furthest, diagonal - 1) < at(furthest, diagonal + 1)
}

function at(furthest: Map<number, number>, diagonal: number): number {
  return furthest.get(diagonal) ?? 0
}
