import type { StepUsage } from '../../definition/agent'
import type { Attempt } from '../../definition/run'
import { addUsage } from '../../models/call'

/** The total usage of a step's attempts; other details come from the last attempt that used something. */
export function usageOf(earlier: readonly Attempt[], last: StepUsage | null): StepUsage | null {
  return [...earlier.map(({ usage }) => usage ?? null), last].reduce((total, used) => {
    if (!total || !used) return used ?? total
    // Null, where an older process computed with `list` as a price.
    const costs = [total.cost, used.cost].filter((cost) => typeof cost === 'number')
    const cost = costs.reduce((sum, one) => sum + one, 0)
    return { ...used, usage: addUsage(total.usage, used.usage), ...(costs.length > 0 ? { cost } : {}) }
  }, null)
}
