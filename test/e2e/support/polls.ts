import type { Page } from '@playwright/test'

/**
 * Among a page's repeated reads, clocks and the state of one held answer are quicker; all polls of tasks are slower.
 */
const POLL_MS = 4_000
/** How long an answer can be undone: the notification that offers it lasts as long. */
const UNDO_MS = Number(process.env.ANSWER_UNDO_MS ?? 10_000)

/**
 * Stops all polling of a page from its next load on: changes then come only from a person's actions on it, or from the
 * service's events. A test can then wait as long as a slow machine needs, and still fails if only a poll brings the
 * change.
 */
export async function withoutPolls(page: Page): Promise<void> {
  await page.addInitScript(
    ({ pollMs, undoMs }) => {
      const { setInterval, setTimeout } = window
      Object.assign(window, {
        setInterval: (run: () => void, ms = 0, ...given: []) => (ms < pollMs ? setInterval(run, ms, ...given) : 0),
        // The lists are also read a second after an answer counts.
        setTimeout: (run: () => void, ms = 0, ...given: []) => (ms <= undoMs ? setTimeout(run, ms, ...given) : 0),
      })
    },
    { pollMs: POLL_MS, undoMs: UNDO_MS },
  )
}
