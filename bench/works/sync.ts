import { loop } from '../drive'
import { type Bench, measureRate } from '../measure'
import type { Kind } from '../subject'

const WHAT: [Kind, string][] = [
  ['trivial', 'five trivial steps'],
  ['builtin', 'five built-in tools'],
  ['script', 'five script tools'],
  ['http', 'five calls of an http tool'],
]

const WARM_CALLERS = 4
const WARM_S = 2

/** W1: starts of five steps that wait for the result. */
export async function measureSync(bench: Bench): Promise<void> {
  for (const [kind, what] of WHAT) {
    if (!bench.subject.kinds.includes(kind)) continue
    const once = () => bench.subject.run(kind)
    // Compiled code is what a service runs most of its life. Alike for all subjects.
    await loop(WARM_CALLERS, WARM_S, once)
    for (const callers of bench.callers) await measureRate(bench, { work: 'W1', what, callers, once })
  }
}
