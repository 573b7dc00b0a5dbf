'use client'
import { usePathname, useRouter, useSearchParams } from 'next/navigation'
import { useCallback } from 'react'

/**
 * A screen's filters and choices, stored in the URL so that links and the Back button restore them. An empty text or
 * null removes a name.
 */
export function useUrlState(): {
  get(name: string): string
  all(name: string): string[]
  set(changes: Record<string, string | string[] | null>, options?: { push?: boolean }): void
} {
  const params = useSearchParams()
  const pathname = usePathname()
  const router = useRouter()
  const set = useCallback(
    (changes: Record<string, string | string[] | null>, { push = false } = {}) => {
      // Read the address bar now: concurrent changes must not undo each other.
      const next = new URLSearchParams(window.location.search)
      for (const [name, value] of Object.entries(changes)) {
        next.delete(name)
        for (const one of Array.isArray(value) ? value : [value]) if (one) next.append(name, one)
      }
      const query = next.toString()
      const url = query ? `${pathname}?${query}` : pathname
      if (push) router.push(url, { scroll: false })
      // No server request: the client fetches what the new state needs.
      else window.history.replaceState(null, '', url)
    },
    [pathname, router],
  )
  return { get: (name) => params.get(name) ?? '', all: (name) => params.getAll(name), set }
}
