'use client'
import { usePathname, useSearchParams } from 'next/navigation'
import { useCallback, useEffect, useMemo, useState } from 'react'
import type { Definition } from '@/server/workflows/schema'
import { findStep, START } from '../model/definition'
import { type Panel, panelOf } from './bottom-panel'
import type { View } from './toolbar'

/** So long after the last choice the address follows it: walking through a graph writes it once. */
const WRITE_AFTER_MS = 250

/** What the address says of the place in the editor. */
export interface PlaceInUrl {
  view: string
  step: string
  panel: string
}

export function usePlaceInUrl(): PlaceInUrl {
  const params = useSearchParams()
  const [view, step, panel] = ['view', 'step', 'panel'].map((name) => params.get(name) ?? '') as [
    string,
    string,
    string,
  ]
  return useMemo(() => ({ view, step, panel }), [view, step, panel])
}

export interface EditorPlace {
  /** Null while nobody has chosen one. */
  view: View | null
  panel: Panel | null
  selection: readonly string[]
  setView(view: View): void
  setPanel(panel: Panel | null): void
  setSelection(stepIds: readonly string[]): void
}

/** Where one is in the editor: acts at once, and the address follows. Steps that are gone are selected no more. */
export function usePlace(begin: PlaceInUrl, views: readonly View[], definition: Definition): EditorPlace {
  const pathname = usePathname()
  const [view, setView] = useState(() => views.find((known) => known === begin.view) ?? null)
  const [panel, setPanel] = useState(() => panelOf(begin.panel))
  const [chosen, setChosen] = useState<readonly string[]>(() => (begin.step === '' ? [] : [begin.step]))
  const selection = useMemo(
    () => chosen.filter((id) => id === START || findStep(definition, id) !== undefined),
    [chosen, definition],
  )
  const setSelection = useCallback(
    (stepIds: readonly string[]) => setChosen((before) => (before.join() === stepIds.join() ? before : stepIds)),
    [],
  )
  const step = selection.length === 1 ? (selection[0] ?? '') : ''
  useEffect(() => {
    const timer = setTimeout(() => {
      const params = new URLSearchParams(window.location.search)
      for (const [name, value] of Object.entries({ view: view ?? '', step, panel: panel ?? '' })) {
        if (value === '') params.delete(name)
        else params.set(name, value)
      }
      const query = params.toString()
      const search = query === '' ? '' : `?${query}`
      if (search !== window.location.search && window.location.pathname === pathname)
        window.history.replaceState(null, '', `${pathname}${search}`)
    }, WRITE_AFTER_MS)
    return () => clearTimeout(timer)
  }, [view, step, panel, pathname])
  return { view, panel, selection, setView, setPanel, setSelection }
}
