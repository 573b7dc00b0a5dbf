'use client'
import { useCallback, useEffect, useState } from 'react'

const SHOWN_FOR_MS = 6_000

export interface Told {
  text: string
  visible: boolean
}

/** One sentence at a time for whoever listens; some are shown, too. */
export function useAnnouncer(): { told: Told | null; announce: (text: string, visible?: boolean) => void } {
  const [told, setTold] = useState<Told | null>(null)
  useEffect(() => {
    if (!told) return
    const timer = setTimeout(() => setTold(null), SHOWN_FOR_MS)
    return () => clearTimeout(timer)
  }, [told])
  const announce = useCallback((text: string, visible = false) => setTold({ text, visible }), [])
  return { told, announce }
}
