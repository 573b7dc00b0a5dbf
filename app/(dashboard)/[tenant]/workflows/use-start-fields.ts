'use client'
import { useQuery } from '@tanstack/react-query'
import { useTRPC } from '@/app/_trpc/client'
import type { Fields } from '@/server/definition/schema'

export function useStartFields(id: string, options: { enabled?: boolean; retry?: boolean } = {}) {
  const trpc = useTRPC()
  return useQuery({
    ...trpc.workflows.startFields.queryOptions({ id }),
    ...options,
    staleTime: 30_000,
    // The transport's types cannot express "any JSON".
    select: (data) => data as unknown as Fields,
  })
}
