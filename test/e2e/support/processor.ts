import type { Page } from '@playwright/test'

/** The work of the page's main thread so far, in ms. */
export interface Work {
  /** Processor time, which is the same on a busy machine. */
  own: number
  /** Wall-clock time, from the start of each task to its end. */
  tasks: number
}

/** Measures a page's work: read it before and after. */
export async function meterOf(page: Page): Promise<() => Promise<Work>> {
  const session = await page.context().newCDPSession(page)
  await session.send('Performance.enable')
  return async () => {
    const { metrics } = await session.send('Performance.getMetrics')
    const ms = (name: string) => (metrics.find((metric) => metric.name === name)?.value ?? Number.NaN) * 1_000
    return { own: ms('ThreadTime'), tasks: ms('TaskDuration') }
  }
}
