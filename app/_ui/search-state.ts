'use client'
import { usePathname, useSearchParams } from 'next/navigation'
import { useCallback } from 'react'

export type SearchChange = Record<string, string | string[] | null | undefined>

/**
 * The screen's state in the URL. A change is shown at once, without asking the server for the page again; `push`
 * makes it a place to come back to.
 */
export function useSearchState(): [URLSearchParams, (change: SearchChange, how?: 'push' | 'replace') => void] {
  const params = useSearchParams()
  const path = usePathname()
  const change = useCallback(
    (values: SearchChange, how: 'push' | 'replace' = 'replace') => {
      const next = applyChange(new URLSearchParams(window.location.search), values)
      const url = next.size === 0 ? path : `${path}?${next}`
      if (how === 'push') window.history.pushState(null, '', url)
      else window.history.replaceState(null, '', url)
    },
    [path],
  )
  return [params, change]
}

/** Empty values and null take a parameter away. */
export function applyChange(params: URLSearchParams, change: SearchChange): URLSearchParams {
  for (const [name, value] of Object.entries(change)) {
    params.delete(name)
    for (const item of Array.isArray(value) ? value : [value]) if (item) params.append(name, item)
  }
  return params
}
