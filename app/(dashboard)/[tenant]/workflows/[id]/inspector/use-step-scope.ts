'use client'
import { useDebouncedValue } from '@mantine/hooks'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { useTRPC } from '@/app/_trpc/client'
import type { Definition } from '@/server/definition/schema'
import { definitionOf } from '../model/definition'

/** The values that `${…}` can refer to in a step of the current draft. */
export function useStepScope(workflowId: string, definition: Definition, stepId: string) {
  const trpc = useTRPC()
  const [draft] = useDebouncedValue(definition, 500)
  const body = useMemo(() => definitionOf(draft), [draft])
  return useQuery({
    ...trpc.workflows.scope.queryOptions({ workflowId, definition: body, stepId }),
    placeholderData: keepPreviousData,
    staleTime: 30_000,
    gcTime: 10_000,
  })
}
