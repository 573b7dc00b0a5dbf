import { round } from '../stats'
import type { Commits } from './commits'
import type { Measured } from './measure'
import type { Crowd, Outcome, Waits } from './places'
import type { Scan } from './plans'

/** One table per room: a row per query, with the figures of each workspace and the plan of the largest. */
export function table(results: readonly Measured[]): string {
  const ranks = [...new Set(results.map(({ rank }) => rank))]
  const runsOf = (rank: number) => results.find((one) => one.rank === rank)?.runs ?? 0
  const cold = results.some((one) => one.cold !== null)
  const heads = ranks.flatMap((rank) => {
    const name = `${runsOf(rank).toLocaleString('en')} runs`
    return cold ? [`${name}, ms`, 'cold'] : [`${name}, ms`]
  })
  const rooms = [...new Set(results.map(({ room }) => room))]
  return rooms
    .map((room) => {
      const ofRoom = results.filter((one) => one.room === room)
      const whats = [...new Set(ofRoom.map(({ what }) => what))]
      const rows = whats.map((what) => {
        const of = (rank: number) => ofRoom.find((one) => one.what === what && one.rank === rank)
        const figures = ranks.flatMap((rank) => {
          const one = of(rank)
          const warm = one && (one.warm === null ? '> 60 s' : ms(one.warm))
          return cold ? [warm, one?.cold == null ? '' : ms(one.cold)] : [warm]
        })
        const plan = of(ranks[0] ?? 1)?.plans[0]
        const pages = plan ? String(plan.hit + plan.read) : ''
        return `| ${what} | ${figures.map((figure) => figure ?? '').join(' | ')} | ${plan ? ms(plan.planningMs) : ''} | ${pages} | ${plan ? plan.scans.map(scanText).join('; ') : ''} |`
      })
      const head = ['', ...heads, 'planning', 'pages', 'plan of the slowest statement']
      return `### ${room}\n\n| ${head.join(' | ')} |\n|${'---|'.repeat(head.length)}\n${rows.join('\n')}\n`
    })
    .join('\n')
}

const ms = (value: number) => round(value).toLocaleString('en')

/** `13 × Index Only Scan runs_by_time: 51 rows, 4,000 unwanted`. */
export function scanText({ what, partitions, rows, removed }: Scan): string {
  const unwanted = removed > 0 ? `, ${removed.toLocaleString('en')} unwanted` : ''
  const times = partitions > 1 ? `${partitions} × ` : ''
  return `${times}${what}: ${rows.toLocaleString('en')} ${rows === 1 ? 'row' : 'rows'}${unwanted}`
}

/** A row for each crowd. */
export function placesTable(results: readonly { crowd: Crowd; outcome: Outcome }[]): string {
  const waits = ({ p50, p99, most }: Waits) => [p50, p99, most].map(ms).join(' / ')
  const rows = results.map(({ crowd, outcome }) => {
    const { starts, busiest, claimMs, perSecond } = outcome
    const figures = [
      crowd.busy,
      starts,
      waits(outcome.waits),
      waits(outcome.inOneQueue),
      `${busiest.least} to ${busiest.most}`,
    ]
    return `| ${[...figures, Math.round(perSecond), `${ms(claimMs.p50)} / ${ms(claimMs.p99)}`].join(' | ')} |`
  })
  const head = [
    'busy',
    'starts of others',
    'they wait: p50 / p99 / most, ms',
    'in one queue they would',
    'runs of each busy one',
    'runs/s',
    'a claim: p50 / p99, ms',
  ]
  return `| ${head.join(' | ')} |\n|${'---|'.repeat(head.length)}\n${rows.join('\n')}\n`
}

export function commitsTable(results: readonly Commits[]): string {
  const rows = results.map(({ callers, plain, notifying }) => `| ${callers} | ${ms(plain)} | ${ms(notifying)} |`)
  return `| callers | commits/s | that notify |\n|---|---|---|\n${rows.join('\n')}\n`
}
