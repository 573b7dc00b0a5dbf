'use client'
import { useQuery } from '@tanstack/react-query'
import { type ReactNode, useMemo } from 'react'
import { useTRPC } from '@/app/_trpc/client'
import type { JsonValue } from '@/server/definition/json'
import type { InboundItem } from '@/server/views/inbound/browse'
import { readJson } from '../workflows/[id]/model/json-text'
import { ScopeProvider } from '../workflows/[id]/widgets/scope-context'
import { entriesOfAny, entriesOfLast } from './sent-entries'

/** The values that `${…}` can refer to in an inbound webhook's expressions, with those of its last delivery. */
export function InboundScope(props: { workflowId: string; webhook: InboundItem | null; children: ReactNode }) {
  const { workflowId, webhook, children } = props
  const trpc = useTRPC()
  const fields = useQuery({ ...trpc.inbound.fields.queryOptions({ workflowId }), enabled: workflowId !== '' })
  const latest = useQuery({
    ...trpc.inbound.delivery.queryOptions({
      workflowId,
      inboundId: webhook?.id ?? '',
      deliveryId: webhook?.last?.id ?? '',
    }),
    enabled: webhook !== null && webhook.last !== null,
  })
  const entries = useMemo(() => {
    if (latest.data) return entriesOfLast({ ...latest.data, body: parsed(latest.data.body) })
    const payload = Object.entries(fields.data?.data.payload ?? {})
    return entriesOfAny(payload.map(([name, { type }]) => [name, type]))
  }, [latest.data, fields.data])
  return (
    <ScopeProvider entries={entries} open labelOf={originOf}>
      {children}
    </ScopeProvider>
  )
}

/** Entries name their delivery where others name a step. */
const originOf = (from: string) => from

/** Undefined if it is no longer retained or is no JSON. */
function parsed(body: string | null): JsonValue | undefined {
  const read = body === null ? null : readJson(body)
  return read && 'value' in read ? read.value : undefined
}
