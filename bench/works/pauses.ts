import { setTimeout as sleep } from 'node:timers/promises'
import { costBetween } from '../cost'
import { repeat, until, warmUp } from '../drive'
import { type Bench, noteFigure, readSpent } from '../measure'
import { rssBytes } from '../processes'
import { median } from '../stats'

const CALLERS = 16
const RESUMES = 40

/** W3: runs that wait for a person: the cost of holding them, and how fast an answer completes one. */
export async function measurePauses(bench: Bench): Promise<void> {
  const { subject, held } = bench
  await warmUp(() => resumed(bench))
  const alone = await resumes(bench)
  noteFigure(bench, 'W3', 'resume answered, p50', median(alone.answered), 'ms')
  noteFigure(bench, 'W3', 'resume to completed, p50', median(alone.completed), 'ms')

  const wanted = (await subject.paused()) + held
  const memory = rssBytes(subject.processes())
  const stored = await subject.storedBytes()
  const spent = await readSpent(bench)
  const started = performance.now()
  await repeat(held, CALLERS, () => subject.pause())
  await until(`${held} runs paused`, async () => (await subject.paused()) >= wanted, { every: 50 })
  const took = (performance.now() - started) / 1000
  const cost = costBetween(spent, await readSpent(bench), held)
  await sleep(3_000)
  noteFigure(bench, 'W3', 'runs held', held, 'runs')
  noteFigure(bench, 'W3', 'runs into a pause', held / took, 'runs/s')
  noteFigure(bench, 'W3', 'product CPU per run into a pause', cost.productCpu, 'ms')
  if (cost.statements !== undefined)
    noteFigure(bench, 'W3', 'statements per run into a pause', cost.statements, 'per run')
  if (cost.commits !== undefined) noteFigure(bench, 'W3', 'commits per run into a pause', cost.commits, 'per run')
  const kib = (bytes: number) => bytes / held / 1024
  noteFigure(bench, 'W3', 'RSS per paused run', kib(rssBytes(subject.processes()) - memory), 'KiB')
  noteFigure(bench, 'W3', 'stored per paused run', kib((await subject.storedBytes()) - stored), 'KiB')
  const among = await resumes(bench)
  noteFigure(bench, 'W3', 'resume to completed among held runs, p50', median(among.completed), 'ms')
}

/** How long it takes, one after another, until the response to a resume and until the run has completed. */
async function resumes(bench: Bench): Promise<{ answered: number[]; completed: number[] }> {
  const times: { answered: number[]; completed: number[] } = { answered: [], completed: [] }
  for (let count = 0; count < RESUMES; count++) {
    const { answered, completed } = await resumed(bench)
    times.answered.push(answered)
    times.completed.push(completed)
  }
  return times
}

/**
 * One run of a step, a pause and a step.
 * @returns how long it took until the answer was accepted, and until the run completed
 */
export async function resumed({ subject }: Pick<Bench, 'subject'>): Promise<{ answered: number; completed: number }> {
  const becomes = (id: string, status: string) =>
    until(`a run ${status}`, async () => (await subject.status(id)) === status, { every: 2, limit: 30_000 })
  const id = await subject.pause()
  await becomes(id, 'paused')
  const started = performance.now()
  await subject.resume(id)
  const answered = performance.now() - started
  await becomes(id, 'completed')
  return { answered, completed: performance.now() - started }
}
