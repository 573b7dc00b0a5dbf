'use client'
import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { useTRPC } from '@/app/_trpc/client'
import { schemaOfFields } from '@/server/definition/fields-schema'
import type { JsonObject, JsonValue } from '@/server/definition/json'
import type { CatalogField } from '@/server/steps/catalog'
import { useStartFields } from '../../use-start-fields'

interface Found {
  schema: JsonObject | null
  pending: boolean
}

/** The schema of a step's input to a tool or a workflow; null if unknown. */
export function useInputSchema(field: CatalogField, siblings: JsonObject): Found {
  const of = field.widget === 'arguments' ? field : null
  const id = of ? siblings[of.of] : undefined
  const known = typeof id === 'string' && !id.includes('${') ? id : ''
  const workflow = useStartSchema(of?.resource === 'workflow' ? known : '')
  const tool = useToolSchema(of?.resource === 'tool' ? known : '', of?.version ? siblings[of.version] : undefined)
  return of?.resource === 'workflow' ? workflow : tool
}

function useStartSchema(id: string): Found {
  const { data, isPending } = useStartFields(id, { enabled: id !== '', retry: false })
  const schema = useMemo(() => (data ? schemaOfFields(data) : null), [data])
  return { schema, pending: id !== '' && isPending }
}

/** The arguments of a tool, in the version that a step calls. */
function useToolSchema(id: string, version: JsonValue | undefined): Found {
  const trpc = useTRPC()
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
