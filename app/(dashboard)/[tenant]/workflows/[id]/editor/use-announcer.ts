'use client'
import { useCallback, useEffect, useState } from 'react'

const SHOWN_FOR_MS = 6_000

/**
 * Announces one sentence at a time to screen readers; some are also shown. One that is only spoken leaves the shown one
 * where it is.
 */
export function useAnnouncer(): {
  /** For screen readers. */
  spoken: string | null
  shown: string | null
  announce: (text: string, visible?: boolean) => void
} {
  const [spoken, speak] = useBriefly()
  const [shown, show] = useBriefly()
  const announce = useCallback(
    (text: string, visible = false) => {
      speak({ text })
      if (visible) show({ text })
    },
    [speak, show],
  )
  return { spoken, shown, announce }
}

/** A text that disappears by itself. Setting it again, even to the same text, restarts its time. */
function useBriefly(): [string | null, (now: { text: string }) => void] {
  const [now, set] = useState<{ text: string } | null>(null)
  useEffect(() => {
    if (!now) return
    const timer = setTimeout(() => set(null), SHOWN_FOR_MS)
    return () => clearTimeout(timer)
  }, [now])
  return [now?.text ?? null, set]
}
