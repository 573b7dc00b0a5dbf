import { setTimeout as sleep } from 'node:timers/promises'
import { type Bench, noteFigure, readSpent } from '../measure'
import { insertRate } from '../postgres'
import { percentile } from '../stats'

const IDLE_SECONDS = 10

/** W0: the rate at which the machine's Postgres commits, and the cost of an idle product. */
export async function measureFloor(bench: Bench): Promise<void> {
  for (const callers of bench.callers) {
    const { perSecond, ms } = await insertRate(bench.postgres, callers)
    noteFigure(bench, 'W0', `insert and commit, c${callers}`, perSecond, '1/s')
    noteFigure(bench, 'W0', `insert and commit, c${callers} p50`, percentile(ms, 0.5), 'ms')
  }
  const before = await readSpent(bench)
  await sleep(IDLE_SECONDS * 1_000)
  const after = await readSpent(bench)
  const statements = (after.counters?.statements ?? 0) - (before.counters?.statements ?? 0)
  noteFigure(bench, 'W0', 'statements when idle', statements / IDLE_SECONDS, '1/s')
  noteFigure(bench, 'W0', 'CPU when idle', (after.productCpu - before.productCpu) / IDLE_SECONDS, 'ms/s')
}
