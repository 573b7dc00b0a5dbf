import { useCallback, useRef } from 'react'

/** The longest pause between the two clicks of a double-click, in milliseconds. */
const DOUBLE_CLICK_MS = 500

/**
 * Lets a button begin its work once, however often it is pressed. A loading button is drawn only some time after the
 * click, and the second click of a double-click comes before that; this guard closes at once.
 *
 * The work resolves with whether it is over for good: the page goes elsewhere then, and nothing may begin until it has.
 * Otherwise the button works again, though not for the rest of a double-click.
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

/** Whether a call succeeded, for work whose form shows the error itself. */
export const succeeds = (call: Promise<unknown>): Promise<boolean> =>
  call.then(
    () => true,
    () => false,
  )
