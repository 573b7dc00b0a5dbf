'use client'
import { useQuery } from '@tanstack/react-query'
import { useTRPC } from '@/app/_trpc/client'
import type { ShownAgent } from './agent-form'
import { exampleMessages } from './examples'
import { useThreads } from './use-threads'

/** Messages to try the agent with: those of its test cases, which a user chose, before those of its newest threads. */
export function useExamples({ id, testCases }: ShownAgent, wanted: boolean): string[] {
  const trpc = useTRPC()
  const cases = useQuery({ ...trpc.agents.cases.queryOptions({ id }), enabled: wanted && testCases > 0 })
  const threads = useThreads(id, { enabled: wanted })
  if (!wanted || cases.isLoading || threads.isLoading) return []
  return exampleMessages([
    ...(cases.data ?? []).map(({ given }) => given.messages[0]?.message ?? null),
    ...(threads.data?.pages[0]?.items ?? []).map(({ title }) => title),
  ])
}
