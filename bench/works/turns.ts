import { warmUp } from '../drive'
import { type Bench, measureRate } from '../measure'

/** W7: an agent answers a message with three calls of its model and two of tools. */
export async function measureTurns(bench: Bench): Promise<void> {
  for (const [what, once] of Object.entries(bench.subject.turns)) {
    await warmUp(once)
    for (const callers of bench.callers) await measureRate(bench, { work: 'W7', what, callers, once })
  }
}
