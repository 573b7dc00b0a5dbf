import type { Result } from './results'
import { median } from './stats'

const US = 'millrace'

export interface Comparison {
  what: string
  unit: string
  /** The product's opponent: a peer, or the best of them. */
  against: string
  /** The smallest or largest accepted ratio. */
  must: string
  /** Medians over the rounds, by subject. */
  values: Map<string, number>
  /** Median of the rounds' own ratios: rounds differ, so only figures of the same minutes are compared. */
  ratio: number
}

interface Wanted {
  what: string
  unit: string
  better: 'less' | 'more'
  against: 'best' | 'mastra' | 'restate' | 'dbos'
  limit: number
  /** The peers' counterpart, if it differs. */
  theirs?: string
}

const TRIVIAL = 'five trivial steps'
const WANTED: Wanted[] = [
  ...(
    [
      ['five calls of an http tool', 1.05, undefined],
      [TRIVIAL, 1.05, undefined],
      ['five built-in tools', 0.5, TRIVIAL],
      ['five script tools', 1.5, TRIVIAL],
    ] as const
  ).map(([what, limit, theirs]): Wanted => {
    const key = (of: string) => `W1 ${of}, c1 p50`
    return {
      what: key(what),
      unit: 'ms',
      better: 'less',
      against: 'best',
      limit,
      ...(theirs && { theirs: key(theirs) }),
    }
  }),
  { what: `W1 ${TRIVIAL}, c64`, unit: 'runs/s', better: 'more', against: 'restate', limit: 1.5 },
  { what: 'W2 async starts, completed', unit: 'runs/s', better: 'more', against: 'restate', limit: 1.25 },
  { what: 'W3 resume to completed, p50', unit: 'ms', better: 'less', against: 'best', limit: 1 },
  { what: 'W4 per step at 1000 steps', unit: 'ms', better: 'less', against: 'restate', limit: 1.1 },
  ...['a turn', 'a turn in a run'].flatMap((what): Wanted[] => [
    {
      ...{ what: `W7 ${what}, c1 p50`, theirs: 'W7 a turn, c1 p50', unit: 'ms' },
      ...{ better: 'less', against: 'mastra', limit: 1 },
    },
    {
      ...{ what: `W7 ${what}, c64`, theirs: 'W7 a turn, c64', unit: 'turns/s' },
      ...{ better: 'more', against: 'mastra', limit: 1 },
    },
  ]),
  { what: 'W5 kill to all completed', unit: 's', better: 'less', against: 'dbos', limit: 1.5 },
]

/** Every wanted ratio for which the product and its opponent have figures. */
export function compare(results: readonly Result[]): Comparison[] {
  const rounds = [...new Set(results.map(({ round }) => round))]
  const figures = results.flatMap(figuresOf)
  const subjects = [...new Set(figures.map(({ subject }) => subject))]
  const of = (subject: string, what: string, round?: number) =>
    median(
      figures
        .filter((one) => one.subject === subject && one.what === what && (round === undefined || one.round === round))
        .map(({ value }) => value),
    )
  return WANTED.flatMap(({ what, unit, better, against, limit, theirs = what }) => {
    const peers = against === 'best' ? subjects.filter((subject) => subject !== US) : [against]
    const ratios = rounds.flatMap((round) => {
      const values = peers.map((subject) => of(subject, theirs, round)).filter(Number.isFinite)
      const best = better === 'less' ? Math.min(...values) : Math.max(...values)
      const ratio = of(US, what, round) / best
      return values.length > 0 && Number.isFinite(ratio) ? [ratio] : []
    })
    if (ratios.length === 0) return []
    const values = new Map(subjects.map((subject) => [subject, of(subject, subject === US ? what : theirs)]))
    const must = `${better === 'less' ? '≤' : '≥'} ${limit}`
    return [{ what, unit, against, must, values, ratio: median(ratios) }]
  })
}

function figuresOf(result: Result): { subject: string; round: number; what: string; value: number }[] {
  const { subject, round } = result
  const what = `${result.work} ${result.what}`
  if (result.kind === 'figure') return [{ subject, round, what, value: result.value }]
  return [
    { subject, round, what: `${what}, c${result.callers}`, value: result.perSecond },
    { subject, round, what: `${what}, c${result.callers} p50`, value: result.p50 },
  ]
}
