import { warmUp } from '../drive'
import { type Bench, measureRate } from '../measure'
import type { Kind } from '../subject'

const WHAT: [Kind, string][] = [
  ['trivial', 'five trivial steps'],
  ['builtin', 'five built-in tools'],
  ['script', 'five script tools'],
  ['http', 'five calls of an http tool'],
]

/** W1: starts of five steps that wait for the result. */
export async function measureSync(bench: Bench): Promise<void> {
  for (const [kind, what] of WHAT) {
    if (!bench.subject.kinds.includes(kind)) continue
    const once = () => bench.subject.run(kind)
    await warmUp(once)
    for (const callers of bench.callers) await measureRate(bench, { work: 'W1', what, callers, once })
  }
}
