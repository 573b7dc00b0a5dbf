'use client'
import { useCallback, useEffect, useState } from 'react'

const SHOWN_FOR_MS = 6_000

export interface Announcement {
  text: string
  visible: boolean
}

/** Announces one sentence at a time to screen readers; some are also shown. */
export function useAnnouncer(): {
  announcement: Announcement | null
  announce: (text: string, visible?: boolean) => void
} {
  const [announcement, setAnnouncement] = useState<Announcement | null>(null)
  useEffect(() => {
    if (!announcement) return
    const timer = setTimeout(() => setAnnouncement(null), SHOWN_FOR_MS)
    return () => clearTimeout(timer)
  }, [announcement])
  const announce = useCallback((text: string, visible = false) => setAnnouncement({ text, visible }), [])
  return { announcement, announce }
}
