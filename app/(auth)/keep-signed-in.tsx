'use client'
import { useEffect } from 'react'

const KEPT = 'millrace.session.kept'
const DAY = 24 * 3600_000

/** Prolongs the cookie of whoever uses the dashboard, once a day; the row behind it prolongs itself. */
export function KeepSignedIn() {
  useEffect(() => {
    const now = Date.now()
    if (now - Number(localStorage.getItem(KEPT) ?? 0) < DAY) return
    localStorage.setItem(KEPT, String(now))
    // When it fails there are 29 days more to try.
    fetch('/api/auth/session', { cache: 'no-store' }).catch(() => {})
  }, [])
  return null
}
