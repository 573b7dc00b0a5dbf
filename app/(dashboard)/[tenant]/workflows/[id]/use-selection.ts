'use client'
import { useCallback, useMemo, useState } from 'react'
import { useUrlState } from '@/app/_ui/use-url-state'
import type { Definition } from '@/server/workflows/schema'
import { findStep, START } from './model/definition'

/** What is selected; a single step stands in the URL. Steps that are gone are selected no more. */
export function useSelection(definition: Definition): [readonly string[], (stepIds: readonly string[]) => void] {
  const { get, set } = useUrlState()
  const [chosen, setChosen] = useState<readonly string[]>(() => (get('step') === '' ? [] : [get('step')]))
  const selection = useMemo(
    () => chosen.filter((id) => id === START || findStep(definition, id) !== undefined),
    [chosen, definition],
  )
  const select = useCallback(
    (stepIds: readonly string[]) => {
      setChosen((before) => (before.join() === stepIds.join() ? before : stepIds))
      set({ step: stepIds.length === 1 ? (stepIds[0] ?? null) : null })
    },
    [set],
  )
  return [selection, select]
}
