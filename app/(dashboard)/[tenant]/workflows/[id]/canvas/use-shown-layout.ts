'use client'
import { useEffect, useMemo, useState } from 'react'
import type { Catalog } from '@/server/steps/catalog'
import type { Draft } from '../draft/draft-state'
import type { Layout } from '../model/definition'
import { completeLayout, needsTidy } from '../model/positions'
import { tidyLayout } from '../model/tidy-layout'

/**
 * The position of every node on screen. A worker arranges workflows without positions (made over the API); the result
 * is saved only once a user moves a step. Null until it is done.
 */
export function useShownLayout(
  { definition, layout }: Pick<Draft, 'definition' | 'layout'>,
  catalog: Catalog,
): Layout | null {
  const [tidied, setTidied] = useState<Layout | null>(null)
  const [failed, setFailed] = useState(false)
  const needed = needsTidy(definition, layout)
  const waiting = needed && tidied === null && !failed
  // biome-ignore lint/correctness/useExhaustiveDependencies: once; later steps find their place beside the others
  useEffect(() => {
    if (!waiting) return
    const stop = new AbortController()
    tidyLayout(definition, catalog, stop.signal)
      .then(setTidied)
      .catch(() => {
        if (!stop.signal.aborted) setFailed(true)
      })
    return () => stop.abort(new Error('No longer needed.'))
  }, [waiting])
  return useMemo(
    () => (waiting ? null : completeLayout(definition, needed && tidied ? { ...tidied, ...layout } : layout, catalog)),
    [waiting, definition, catalog, layout, needed, tidied],
  )
}
