'use client'
import { useQuery } from '@tanstack/react-query'
import { useTRPC } from '@/app/_trpc/client'
import type { JsonObject, JsonValue } from '@/server/definition/json'

/** The input schema of the tool a step calls, in the version it calls; null when there is none to go by. */
export function useInputSchema(
  toolId: JsonValue | undefined,
  version: JsonValue | undefined,
): { schema: JsonObject | null; pending: boolean } {
  const trpc = useTRPC()
  const id = typeof toolId === 'string' && !toolId.includes('${') ? toolId : ''
  const tool = useQuery({ ...trpc.tools.get.queryOptions({ id }), enabled: id !== '', retry: false })
  const latest = tool.data?.version
  const wanted = version === 'published' ? tool.data?.publishedVersion : version === 'latest' ? latest : version
  const number = wanted === undefined || wanted === null ? latest : Number(wanted)
  const other = tool.data !== undefined && Number.isInteger(number) && number !== latest
  const old = useQuery({
    ...trpc.tools.version.queryOptions({ id, version: String(number) }),
    enabled: other,
    retry: false,
    staleTime: Number.POSITIVE_INFINITY,
  })
  const found = other ? old.data : Number.isInteger(number) ? tool.data : undefined
  // The transport's types cannot express "any JSON".
  return {
    schema: (found?.inputSchema ?? null) as JsonObject | null,
    pending: id !== '' && (tool.isPending || (other && old.isPending)),
  }
}
