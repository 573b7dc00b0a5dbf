import { parseArgs } from 'node:util'

export const SCALE_WORKS = ['reads', 'places', 'commits'] as const
export type ScaleWork = (typeof SCALE_WORKS)[number]

export interface ScaleOptions {
  works: ScaleWork[]
  /** How many runs are seeded. */
  runs: number
  tenants: number
  /** The months of runs, up to now; each is one partition in time. */
  months: number
  /** The number of partitions by tenant per month. 0 leaves the product's own tables unchanged. */
  buckets: number
  /** Seeding stops after this many minutes, at the end of the current month. */
  minutes: number
  /** Where the database is stored for further calls; otherwise a temporary folder. */
  folder: string | undefined
  /** The folder for complete plans, one file per query. */
  plans: string | undefined
  /** Also restarts Postgres before each query and drops its files from the system's cache. */
  cold: boolean
  markdown: boolean
}

export const USAGE = `npm run bench:scale -- [options]
  --works reads,places  which works, of reads (what the product reads when there are very many runs), places (how long
                        workspaces wait for a place) and commits (what notifying costs); default: all
  --runs 100000         runs to seed, at most 100,000,000
  --tenants 1000        workspaces; the first has about a seventh of the runs
  --months 13           partitions in time
  --buckets 8           partitions by workspace in each month; 0 for tables without partitions
  --minutes 60          stop seeding after so long; the oldest months are missing then
  --folder <dir>        keep the database in this folder; what is in it is measured without seeding again
  --plans <dir>         write the whole plan of each query into this folder
  --cold                also measure each query after a restart, with its files out of memory (Linux)
  --markdown            print tables to paste into docs/scale.md
`

/** @throws Error with one sentence about the invalid option */
export function readScaleOptions(args: string[]): ScaleOptions {
  const text = (fallback: string) => ({ type: 'string' as const, default: fallback })
  const { values } = parseArgs({
    args,
    options: {
      works: text(SCALE_WORKS.join()),
      runs: text('100000'),
      tenants: text('1000'),
      months: text('13'),
      buckets: text('8'),
      minutes: text('60'),
      folder: { type: 'string' },
      plans: { type: 'string' },
      cold: { type: 'boolean', default: false },
      markdown: { type: 'boolean', default: false },
    },
  })
  return {
    works: worksOf(values.works),
    runs: whole('runs', values.runs, 1_000, 100_000_000),
    tenants: whole('tenants', values.tenants, 1, 10_000),
    months: whole('months', values.months, 1, 36),
    buckets: whole('buckets', values.buckets, 0, 64),
    minutes: whole('minutes', values.minutes, 1, 600),
    folder: values.folder,
    plans: values.plans,
    cold: values.cold,
    markdown: values.markdown,
  }
}

function worksOf(text: string): ScaleWork[] {
  return text.split(',').map((name) => {
    const found = SCALE_WORKS.find((work) => work === name.trim())
    if (!found) throw new Error(`--works has no ${name}; it may list ${SCALE_WORKS.join(', ')}.`)
    return found
  })
}

function whole(name: string, text: string, least: number, most: number): number {
  const value = Number(text)
  if (!Number.isInteger(value) || value < least || value > most)
    throw new Error(`--${name} must be a whole number from ${least} to ${most}.`)
  return value
}
