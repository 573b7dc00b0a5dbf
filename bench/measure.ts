import { setTimeout as sleep } from 'node:timers/promises'
import { costBetween, type Spent } from './cost'
import { loop, repeat } from './drive'
import type { Work } from './options'
import { insertRate, readCounters } from './postgres'
import { cpuMs, rssBytes } from './processes'
import type { Figure, Rate, Result } from './results'
import { percentile } from './stats'
import type { Subject } from './subject'

/** A work's tools and settings. */
export interface Bench {
  subject: Subject
  seconds: number
  callers: number[]
  bulk: number
  held: number
  steps: number
  seeded: number
  /** The superuser's URL of a Postgres server for the floor: the subject's own if it has one. */
  postgres: string
  /** Inserts per second by number of callers, taken just before the work. */
  inserts: Map<number, number>
  note(result: Result): void
  round: number
}

/** The floor of this minute. Works that are not rates get it as separate figures. */
export async function takeFloor(bench: Bench, work: Work): Promise<void> {
  const rates = new Map<Work, number[]>([
    ['W1', bench.callers],
    ['W7', bench.callers],
    ['reads', [1]],
  ]).get(work)
  for (const callers of rates ?? [1, 16]) {
    const { perSecond } = await insertRate(bench.postgres, callers)
    bench.inserts.set(callers, perSecond)
    if (!rates) noteFigure(bench, work, `inserts beside it, c${callers}`, perSecond, '1/s')
  }
}

interface RateOptions {
  work: Work
  what: string
  callers: number
  seconds?: number
  /** Makes one call and returns how long it took. */
  once(): Promise<number>
}

/** Measures a closed loop and the cost of each of its calls. */
export async function measureRate(bench: Bench, { work, what, callers, seconds, once }: RateOptions): Promise<void> {
  await loop(callers, 0.5, once)
  const before = await settle(bench, callers, once)
  const time = seconds ?? bench.seconds
  const rssMiB = () => rssBytes(bench.subject.processes()) / 2 ** 20
  const early = sleep(time * 100).then(rssMiB)
  const done = await loop(callers, time, once)
  const rss = { early: await early, end: rssMiB() }
  const after = await settle(bench, callers, once)
  const rate: Rate = {
    ...{ kind: 'rate', subject: bench.subject.name, round: bench.round, work, what, callers },
    perSecond: done.ms.length / done.seconds,
    p50: percentile(done.ms, 0.5),
    p99: percentile(done.ms, 0.99),
    errors: done.errors,
    inserts: bench.inserts.get(callers) ?? Number.NaN,
    cost: costBetween(before, after, done.ms.length + done.errors + nudges(callers)),
    rss,
  }
  bench.note(rate)
}

export function noteFigure(bench: Bench, work: Work, what: string, value: number, unit: string): void {
  const figure: Figure = {
    ...{ kind: 'figure', subject: bench.subject.name, round: bench.round, work, what },
    value,
    unit,
  }
  bench.note(figure)
}

export async function readSpent({ subject }: Bench): Promise<Spent> {
  const { database } = subject
  return {
    counters: database && (await readCounters(database.sql, database.name)),
    productCpu: cpuMs(subject.processes()),
    postgresCpu: database && cpuMs([database.pid]),
  }
}

/** Enough calls for every backend that served the loop to take part. */
const nudges = (callers: number) => Math.max(callers, 4)

/**
 * A backend reports its transactions and syncs at the end of a transaction, if a second has passed since its last
 * report, or after ten idle seconds. So wait for a second, and let each backend end a transaction. The calls that do it
 * count as part of the measurement.
 */
async function settle(bench: Bench, callers: number, once: () => Promise<number>): Promise<Spent> {
  await sleep(1_100)
  await repeat(nudges(callers), callers, () => once().catch(() => {}))
  return readSpent(bench)
}
