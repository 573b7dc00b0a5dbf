import type { Page } from '@playwright/test'

/** Of what a page does again and again, clocks and the state of one held answer are quicker; all polls of tasks are slower. */
const POLL_MS = 4_000
/** For how long an answer can be undone: the notification that offers it lasts as long. */
const UNDO_MS = Number(process.env.ANSWER_UNDO_MS ?? 10_000)

/**
 * Keeps a page from reading anything again because time has passed, from its next load on: what changes there comes from
 * what a person does on it, or from what the service tells it. A test can then wait as long as a slow machine needs, and
 * still fails if only a poll brings the change.
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
