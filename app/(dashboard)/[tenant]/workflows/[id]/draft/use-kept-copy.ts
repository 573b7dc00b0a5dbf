'use client'
import { useEffect, useRef } from 'react'
import { writeCrashCopy } from './device-copy'
import { type DraftState, isDirty } from './draft-state'

const KEEP_AFTER_MS = 250

/** Keeps what the server does not have yet on this device, for a tab that crashes or a network that is away. */
export function useKeptCopy(options: {
  tenantId: string
  workflowId: string
  state: DraftState
  enabled: boolean
}): void {
  const { tenantId, workflowId, state, enabled } = options
  const latest = useRef(state)
  latest.current = state
  const dirty = isDirty(state)

  // biome-ignore lint/correctness/useExhaustiveDependencies: every change is kept
  useEffect(() => {
    if (!enabled || !dirty) return
    const keep = () => {
      const { history, base } = latest.current
      if (!isDirty(latest.current)) return
      const { definition, layout } = history.present
      void writeCrashCopy({
        tenantId,
        workflowId,
        baseVersion: base.version,
        base: base.definition,
        definition,
        layout,
        savedAt: Date.now(),
      })
    }
    const timer = setTimeout(keep, KEEP_AFTER_MS)
    window.addEventListener('pagehide', keep)
    return () => {
      clearTimeout(timer)
      window.removeEventListener('pagehide', keep)
    }
  }, [state.history.present, state.base, enabled, dirty, tenantId, workflowId])

  const { kind } = state.save
  useEffect(() => {
    // Only where the copy on this device is all there is; else nothing would be lost.
    if (kind !== 'failed' && kind !== 'conflict' && kind !== 'offline') return
    const ask = (event: BeforeUnloadEvent) => event.preventDefault()
    window.addEventListener('beforeunload', ask)
    return () => window.removeEventListener('beforeunload', ask)
  }, [kind])
}
