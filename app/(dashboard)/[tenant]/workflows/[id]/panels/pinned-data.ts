'use client'
import { useCallback, useEffect, useState } from 'react'
import { keep, readKept } from '../../../kept'

export interface PinnedData {
  /** The JSON text that the person has pinned; null without any. */
  text: string | null
  pin: (text: string) => void
  unpin: () => void
}

/**
 * The data that a person tries out a step with, once they have changed it. Kept in this browser only: it may be what
 * somebody wrote in a run, which the workspace deletes when its time is over.
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
