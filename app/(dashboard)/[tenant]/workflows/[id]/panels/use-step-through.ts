'use client'
import { useMutation } from '@tanstack/react-query'
import { useCallback, useEffect, useRef, useState } from 'react'
import { useTRPC } from '@/app/_trpc/client'
import type { JsonObject } from '@/server/definition/json'
import type { Definition } from '@/server/definition/schema'
import type { Stood } from '@/server/runs/step-through/step-through'
import { useTenant } from '../../../tenant-context'
import type { SaveNow } from '../actions/screen'
import { markWay, showMarks, useStepMarks } from '../parts/step-marks'
import { begin, keepSession, keyOf, readSession, type Session, sentOf, stoodAt } from './step-through-store'

/** After the last edit of the draft. */
const EDITED_MS = 800

export interface StepThroughState {
  /** Null before it has begun. */
  session: Session | null
  stood: Stood | null
  busy: boolean
  unsaved: boolean
  error: unknown
  breakpoints: readonly string[]
  start(input: JsonObject): void
  clear(): void
  /** Follows the draft to the next visit, or to the next breakpoint. */
  go(session: Session, to?: 'each' | 'breakpoint'): void
}

/** A session of stepping through a draft, which the server follows anew at each step. */
export function useStepThrough(workflowId: string, definition: Definition, save: SaveNow): StepThroughState {
  const trpc = useTRPC()
  const { id: tenantId } = useTenant()
  const key = keyOf(tenantId, workflowId)
  const [session, setSession] = useState<Session | null>(null)
  const [stood, setStood] = useState<Stood | null>(null)
  const [saving, setSaving] = useState(false)
  const [unsaved, setUnsaved] = useState(false)
  const follow = useMutation(trpc.workflows.stepThrough.mutationOptions())
  const breakpoints = useStepMarks()?.breakpoints ?? []
  const latest = useRef({ save, breakpoints, follow, turn: 0 })
  latest.current = { ...latest.current, save, breakpoints, follow }

  const go = useCallback(
    async (wanted: Session, to: 'each' | 'breakpoint' = 'each') => {
      const turn = ++latest.current.turn
      const isLate = () => latest.current.turn !== turn
      setSaving(true)
      const version = await latest.current.save().finally(() => setSaving(false))
      setUnsaved(version === null)
      if (version === null || isLate()) return
      const stop = to === 'each' ? to : [...latest.current.breakpoints]
      const body = { ...sentOf(wanted), version, stop }
      const found = await latest.current.follow.mutateAsync({ id: workflowId, body }).catch(() => null)
      if (!found || isLate()) return
      const now = stoodAt(wanted, found)
      setSession(now)
      setStood(found)
      keepSession(key, now)
      markWay(found.next?.step ?? null, [...new Set(found.visits.map(({ step }) => step))])
    },
    [key, workflowId],
  )

  useEffect(() => showMarks(tenantId, workflowId), [tenantId, workflowId])
  const edited = useRef(definition)
  useEffect(() => {
    const kept = readSession(key)
    if (!kept) return
    setSession(kept)
    void go(kept)
  }, [key, go])
  useEffect(() => {
    if (edited.current === definition || !session) return
    const timer = setTimeout(() => {
      edited.current = definition
      void go(session)
    }, EDITED_MS)
    return () => clearTimeout(timer)
  }, [definition, session, go])

  return {
    ...{ session, stood, unsaved, breakpoints },
    busy: saving || follow.isPending,
    error: follow.error,
    start(input) {
      const first = begin(input)
      edited.current = definition
      setSession(first)
      void go(first)
    },
    clear() {
      latest.current.turn++
      setSession(null)
      setStood(null)
      follow.reset()
      keepSession(key, null)
      markWay(null, [])
    },
    go: (wanted, to) => void go(wanted, to),
  }
}
