import type { StepUsage } from '../../definition/agent'
import type { Attempt } from '../../definition/run'
import { addUsage } from '../../models/call'

/** What all attempts of a step used together; the rest is as the last of them says that used something. */
export function usageOf(earlier: readonly Attempt[], last: StepUsage | null): StepUsage | null {
  return [...earlier.map(({ usage }) => usage ?? null), last].reduce((total, used) => {
    if (!total || !used) return used ?? total
    const costs = [total.cost, used.cost].filter((cost) => cost !== undefined)
    const cost = costs.reduce((sum, one) => sum + one, 0)
    return { ...used, usage: addUsage(total.usage, used.usage), ...(costs.length > 0 ? { cost } : {}) }
  }, null)
}
