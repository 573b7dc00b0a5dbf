import { useCallback, useRef } from 'react'

/** The longest pause between the two clicks of a double-click, in milliseconds. */
const DOUBLE_CLICK_MS = 500

/**
 * Starts a button's work only once, however often it is pressed. A button shows its loading state only some time after
 * the click, and the second click of a double-click comes earlier; this guard closes immediately.
 *
 * The work resolves to true if it is final: the page navigates away, and nothing may start until it has. Otherwise the
 * button works again, though not during the rest of a double-click.
 */
export function useOnce(): (work: () => Promise<boolean>) => Promise<void> {
  const closed = useRef(false)
  return useCallback(async (work) => {
    if (closed.current) return
    closed.current = true
    const from = performance.now()
    const reopen = () => {
      closed.current = false
    }
    let over = false
    try {
      over = await work()
    } finally {
      if (!over) setTimeout(reopen, Math.max(0, from + DOUBLE_CLICK_MS - performance.now()))
    }
  }, [])
}

/** Whether a call succeeded, for work whose form shows the error itself. One that was cancelled resolves to null. */
export const succeeds = (call: Promise<unknown>): Promise<boolean> =>
  call.then(
    (result) => result !== null,
    () => false,
  )
