'use client'
import { usePathname, useSearchParams } from 'next/navigation'
import { useCallback, useEffect, useMemo, useState } from 'react'
import type { Definition } from '@/server/definition/schema'
import { findStep, START } from '../model/definition'
import { type Panel, panelOf } from './panels'
import type { View } from './toolbar'

/** The URL is updated this long after the last change, so that moving through a graph updates it once. */
const WRITE_AFTER_MS = 250
/** User events that may begin a navigation. */
const ACTIONS = ['keydown', 'pointerdown', 'click']

/** The part of the editor's state that is in the URL. */
export interface UrlState {
  view: string
  step: string
  panel: string
}

export function useUrlState(): UrlState {
  const params = useSearchParams()
  const [view, step, panel] = ['view', 'step', 'panel'].map((name) => params.get(name) ?? '') as [
    string,
    string,
    string,
  ]
  return useMemo(() => ({ view, step, panel }), [view, step, panel])
}

export interface EditorNavigation {
  /** Null until the user chooses one. */
  view: View | null
  panel: Panel | null
  selection: readonly string[]
  setView(view: View): void
  setPanel(panel: Panel | null): void
  setSelection(stepIds: readonly string[]): void
}

/** View, panel and selection. The URL follows changes; deleted steps leave the selection. */
export function useNavigation(initial: UrlState, views: readonly View[], definition: Definition): EditorNavigation {
  const pathname = usePathname()
  const [view, setView] = useState(() => views.find((known) => known === initial.view) ?? null)
  const [panel, setPanel] = useState(() => panelOf(initial.panel))
  const [chosen, setChosen] = useState<readonly string[]>(() => (initial.step === '' ? [] : [initial.step]))
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
    const write = () => {
      done()
      const params = new URLSearchParams(window.location.search)
      for (const [name, value] of Object.entries({ view: view ?? '', step, panel: panel ?? '' })) {
        if (value === '') params.delete(name)
        else params.set(name, value)
      }
      const query = params.toString()
      const search = query === '' ? '' : `?${query}`
      if (search !== window.location.search && window.location.pathname === pathname)
        window.history.replaceState(null, '', `${pathname}${search}`)
    }
    // Next drops a navigation during which the URL changes. Only the arrow keys never begin one.
    const writeFirst = (event: Event) => {
      if (!(event instanceof KeyboardEvent && event.key.startsWith('Arrow'))) write()
    }
    const timer = setTimeout(write, WRITE_AFTER_MS)
    for (const name of ACTIONS) window.addEventListener(name, writeFirst, { capture: true })
    const done = () => {
      clearTimeout(timer)
      for (const name of ACTIONS) window.removeEventListener(name, writeFirst, { capture: true })
    }
    return done
  }, [view, step, panel, pathname])
  return { view, panel, selection, setView, setPanel, setSelection }
}
