'use client'
import { useCallback, useEffect, useState } from 'react'
import { keep, readKept } from '../../../kept'

export interface PinnedData {
  /** The user's pinned JSON text; null without any. */
  text: string | null
  pin: (text: string) => void
  unpin: () => void
}

/**
 * The data for trying out a step, once the user has changed it. Stored only in this browser: it may contain run data,
 * which the workspace deletes after its retention period.
 */
export function usePinnedData(tenantId: string, workflowId: string, stepId: string): PinnedData {
  const key = `millrace-pinned:${tenantId}:${workflowId}:${stepId}`
  const [text, setText] = useState<string | null>(null)
  useEffect(() => setText(readKept(key)), [key])
  const pin = useCallback(
    (next: string) => {
      setText(next)
      keep(key, next)
    },
    [key],
  )
  const unpin = useCallback(() => {
    setText(null)
    keep(key, null)
  }, [key])
  return { text, pin, unpin }
}
