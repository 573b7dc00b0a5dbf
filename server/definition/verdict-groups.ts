import type { Verdict } from './verdict'

/** The verdict on one run. */
export interface Judged {
  runId: string
  startTime: string
  verdict: Verdict
}

/** Runs that would differ in the same way. */
export interface Group {
  /** Of the newest of them. */
  verdict: Verdict
  count: number
  /** How many of the runs that the sample was taken from they stand for. */
  about: number
  /** How many of the verdicts take something for granted. */
  assuming: number
  /** The newest ones. */
  runs: string[]
}

export interface Counts extends Record<Verdict['is'], number> {
  /** How many of all verdicts take something for granted. */
  assumed: number
}

const MAX_RUNS = 5

/**
 * Groups runs that would differ in the same way, the largest group first, and those that would not differ last.
 * @param standsFor how many runs one of the sample stands for
 */
export function groupsOf(judged: readonly Judged[], standsFor: (runId: string) => number = () => 1): Group[] {
  const groups = new Map<string, Judged[]>()
  for (const one of judged) {
    const key = keyOf(one.verdict)
    const known = groups.get(key)
    if (known) known.push(one)
    else groups.set(key, [one])
  }
  return [...groups.values()]
    .flatMap((runs) => groupOf(runs, standsFor))
    .toSorted((a, b) => Number(isSame(a)) - Number(isSame(b)) || b.count - a.count)
}

function groupOf(runs: readonly Judged[], standsFor: (runId: string) => number): Group | [] {
  const sorted = runs.toSorted((a, b) => Date.parse(b.startTime) - Date.parse(a.startTime))
  const ids = sorted.map(({ runId }) => runId)
  const [newest] = sorted
  if (!newest) return []
  return {
    verdict: newest.verdict,
    count: runs.length,
    about: Math.round(ids.reduce((sum, id) => sum + standsFor(id), 0)),
    assuming: runs.filter(assumes).length,
    runs: ids.slice(0, MAX_RUNS),
  }
}

/** How many runs have each verdict. */
export function countsOf(judged: readonly Judged[]): Counts {
  const counts: Counts = { same: 0, result: 0, way: 0, fails: 0, passes: 0, untold: 0, assumed: 0 }
  for (const { verdict } of judged) counts[verdict.is]++
  counts.assumed = judged.filter(assumes).length
  return counts
}

const assumes = ({ verdict }: Judged) => verdict.assumed.length > 0

function isSame({ verdict: { is, calls } }: Group): boolean {
  return is === 'same' && calls.new.length + calls.gone.length + calls.changed.length === 0
}

/** What makes two verdicts alike: no visit, message or assumption. */
function keyOf({ assumed: _assumed, ...verdict }: Verdict): string {
  const { is, calls } = verdict
  switch (verdict.is) {
    case 'way':
      return JSON.stringify([is, verdict.at.stepId, verdict.was, verdict.now, calls])
    case 'fails':
      return JSON.stringify([is, verdict.at, verdict.code, calls])
    case 'passes':
      return JSON.stringify([is, verdict.at, verdict.onward, calls])
    case 'result':
      return JSON.stringify([is, verdict.fields, calls])
    case 'untold':
      return JSON.stringify([is, verdict.needs.why, 'place' in verdict.needs && verdict.needs.place.stepId, calls])
    case 'same':
      return JSON.stringify([is, calls])
  }
}
