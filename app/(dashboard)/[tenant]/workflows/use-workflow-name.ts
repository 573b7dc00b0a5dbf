'use client'
import { useQuery } from '@tanstack/react-query'
import { useTRPC } from '@/app/_trpc/client'

/** The name of a workflow; its id until the name is known. */
export function useWorkflowName(id: string): string {
  return useNamed(id)?.name ?? id
}

/** A workflow's name, and whether it is published; undefined until it is known. */
export function useNamed(id: string) {
  const trpc = useTRPC()
  const { data } = useQuery({ ...trpc.runs.workflows.queryOptions(), staleTime: 60_000 })
  return data?.find((workflow) => workflow.id === id)
}
