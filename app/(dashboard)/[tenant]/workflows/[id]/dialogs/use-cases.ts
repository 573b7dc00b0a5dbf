'use client'
import { useMutation, useQuery } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import { useTRPC, useTRPCClient } from '@/app/_trpc/client'

/**
 * Runs the workflow's test cases on the draft as soon as it can be published; that executes nothing. Their results, and
 * the user's choice to skip them, apply to that version only.
 * @param version of the draft; null until it is saved and known to have no errors
 */
export function useCases(workflowId: string, version: number | null) {
  const trpc = useTRPC()
  const client = useTRPCClient()
  const [skippedFor, setSkippedFor] = useState<number | null>(null)
  const stop = useRef<AbortController>(null)
  const kept = useQuery({ ...trpc.workflows.cases.queryOptions({ id: workflowId }), staleTime: 0 })
  const run = useMutation({
    mutationFn: (_version: number) => {
      stop.current?.abort()
      stop.current = new AbortController()
      return client.workflows.runCases.mutate({ id: workflowId, body: {} }, { signal: stop.current.signal })
    },
  })
  const count = kept.data?.length ?? 0
  const { mutate } = run
  useEffect(() => {
    if (version !== null && count > 0) mutate(version)
  }, [version, count, mutate])
  useEffect(() => () => stop.current?.abort(), [])
  const current = run.variables === version
  const skipped = version !== null && skippedFor === version
  const results = current ? run.data?.results : undefined
  const error = kept.error ?? (current ? run.error : null)
  // Cached test cases from an earlier visit may be outdated.
  const known = kept.isFetchedAfterMount
  return {
    count,
    running: current && run.isPending && !skipped,
    /** The test cases' verdict on this version is still unknown. */
    pending: !known || (count > 0 && !skipped && !results && !error),
    skipped,
    results,
    error,
    onSkip() {
      setSkippedFor(version)
      stop.current?.abort()
    },
  }
}
