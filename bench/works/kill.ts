import { until } from '../drive'
import { type Bench, noteFigure } from '../measure'

const RUNS = 200
const EXECUTED_AT_KILL = 500

/** W5: `kill -9` in the middle of 200 runs. Every run must complete; a step that was executing may execute again. */
export async function measureKill(bench: Bench): Promise<void> {
  const { subject } = bench
  const done = await subject.completed()
  const executed = subject.executed().length
  const starts = await Promise.allSettled(Array.from({ length: RUNS }, () => subject.start('slow')))
  const acknowledged = starts.filter(({ status }) => status === 'fulfilled').length
  const enough = () => subject.executed().length - executed >= EXECUTED_AT_KILL
  await until(`${EXECUTED_AT_KILL} steps executed`, enough, { every: 5 })
  const before = (await subject.completed()) - done

  const killed = performance.now()
  await subject.killAndRestart()
  const ready = performance.now() - killed
  const all = async () => (await subject.completed()) - done >= acknowledged
  const failure = await until('every acknowledged run completed', all, { limit: 120_000 }).catch(
    (error: unknown) => error,
  )
  const took = performance.now() - killed

  const steps = subject.executed().slice(executed)
  noteFigure(bench, 'W5', 'runs acknowledged', acknowledged, `of ${RUNS}`)
  noteFigure(bench, 'W5', 'runs completed before the kill', before, `of ${RUNS}`)
  noteFigure(bench, 'W5', 'kill to ready', ready / 1000, 's')
  if (!failure) noteFigure(bench, 'W5', 'kill to all completed', took / 1000, 's')
  noteFigure(bench, 'W5', 'runs completed', (await subject.completed()) - done, `of ${RUNS}`)
  noteFigure(bench, 'W5', 'steps executed again', steps.length - new Set(steps).size, 'steps')
  if (failure) throw failure
}
