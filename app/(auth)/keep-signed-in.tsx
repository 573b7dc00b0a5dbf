'use client'
import { useEffect } from 'react'

const KEPT = 'millrace.session.kept'
const DAY = 24 * 3600_000

/** Renews the session cookie once a day while the dashboard is in use. The server renews the session's row. */
export function KeepSignedIn() {
  useEffect(() => {
    const now = Date.now()
    if (now - Number(localStorage.getItem(KEPT) ?? 0) < DAY) return
    localStorage.setItem(KEPT, String(now))
    // If this fails, 29 days remain to retry.
    fetch('/api/auth/session', { cache: 'no-store' }).catch(() => {})
  }, [])
  return null
}
