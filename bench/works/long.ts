import { warmUp } from '../drive'
import { type Bench, noteFigure } from '../measure'
import { median } from '../stats'

/** W4: one long run, and a tenth of it: does a step cost more, the more steps precede it? */
export async function measureLong(bench: Bench): Promise<void> {
  const { subject, steps } = bench
  await warmUp(() => subject.run('trivial'))
  const short: number[] = []
  if (steps > 100) for (let runs = 0; runs < 3; runs++) short.push((await subject.runLong(100)).ms / 100)
  if (short.length > 0) noteFigure(bench, 'W4', 'per step at 100 steps', median(short), 'ms')
  const { ms, first, last } = await subject.runLong(steps)
  noteFigure(bench, 'W4', `per step at ${steps} steps`, ms / steps, 'ms')
  if (first === undefined || last === undefined) return
  noteFigure(bench, 'W4', 'per step in the first tenth', first, 'ms')
  noteFigure(bench, 'W4', 'per step in the last tenth', last, 'ms')
  noteFigure(bench, 'W4', 'last tenth to first', last / first, 'ratio')
}
