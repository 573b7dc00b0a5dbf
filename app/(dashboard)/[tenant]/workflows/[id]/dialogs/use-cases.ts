'use client'
import { useMutation, useQuery } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import { useTRPC, useTRPCClient } from '@/app/_trpc/client'

/**
 * The workflow's test cases, run on the draft as soon as it is ready to be published: that executes nothing.
 * @param ready whether it is saved and has no errors
 */
export function useCases(workflowId: string, ready: boolean) {
  const trpc = useTRPC()
  const client = useTRPCClient()
  const [skipped, setSkipped] = useState(false)
  const stop = useRef<AbortController>(null)
  const kept = useQuery({ ...trpc.workflows.cases.queryOptions({ id: workflowId }), staleTime: 0 })
  const run = useMutation({
    mutationFn: () => {
      stop.current = new AbortController()
      return client.workflows.runCases.mutate({ id: workflowId, body: {} }, { signal: stop.current.signal })
    },
  })
  const count = kept.data?.length ?? 0
  const { mutate } = run
  useEffect(() => {
    if (ready && count > 0) mutate()
  }, [ready, count, mutate])
  useEffect(() => () => stop.current?.abort(), [])
  return {
    count,
    running: run.isPending && !skipped,
    skipped,
    results: run.data?.results,
    error: run.error,
    onSkip() {
      setSkipped(true)
      stop.current?.abort()
    },
  }
}
