import type { Page } from '@playwright/test'

/** What the page's main thread has done so far, in ms. */
export interface Work {
  /** For which it had the processor: the same on a machine that is busy with other things. */
  own: number
  /** By the clock, from the begin of each task to its end. */
  tasks: number
}

/** A meter of the work of a page, to be read before and after. */
export async function meterOf(page: Page): Promise<() => Promise<Work>> {
  const session = await page.context().newCDPSession(page)
  await session.send('Performance.enable')
  return async () => {
    const { metrics } = await session.send('Performance.getMetrics')
    const ms = (name: string) => (metrics.find((metric) => metric.name === name)?.value ?? Number.NaN) * 1_000
    return { own: ms('ThreadTime'), tasks: ms('TaskDuration') }
  }
}
