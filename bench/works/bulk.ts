import { costBetween } from '../cost'
import { repeat, until, warmUp } from '../drive'
import { type Bench, noteFigure, readSpent } from '../measure'

const CALLERS = 16

/** W2: many starts without waiting, until every run has completed. */
export async function measureBulk(bench: Bench): Promise<void> {
  const { subject, bulk } = bench
  const earlier = await subject.completed()
  const warm = earlier + (await warmUp(() => subject.start('trivial')))
  await until('the first runs completed', async () => (await subject.completed()) >= warm)
  const done = warm + bulk
  const before = await readSpent(bench)
  const started = performance.now()
  await repeat(bulk, CALLERS, () => subject.start('trivial'))
  const acknowledged = performance.now() - started
  await until(`${bulk} runs completed`, async () => (await subject.completed()) >= done, { every: 50 })
  const took = performance.now() - started
  const cost = costBetween(before, await readSpent(bench), bulk)
  const note = (what: string, value: number | undefined, unit: string) => {
    if (value !== undefined) noteFigure(bench, 'W2', `async starts, ${what}`, value, unit)
  }
  note('in all', bulk, 'runs')
  note('acknowledged', bulk / (acknowledged / 1000), 'runs/s')
  note('completed', bulk / (took / 1000), 'runs/s')
  note('statements', cost.statements, 'per run')
  note('commits', cost.commits, 'per run')
  note('syncs', cost.syncs, 'per run')
  note('product CPU', cost.productCpu, 'ms per run')
  note('Postgres CPU', cost.postgresCpu, 'ms per run')
}
