'use client'
import { Skeleton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useTRPC } from '@/app/_trpc/client'
import { SideBySide, type Sides } from '../../_versioned/side-by-side'
import { agentDifferences } from './agent-differences'
import type { AgentForm } from './agent-form'

/** Two versions of an agent, with its tools and agents by name. */
export function AgentSideBySide({ before, now, sides }: { before: AgentForm; now: AgentForm; sides: Sides }) {
  const trpc = useTRPC()
  const own = useQuery(trpc.tools.list.queryOptions({ limit: '1000' }))
  const builtin = useQuery(trpc.tools.list.queryOptions({ kind: 'builtin' }))
  const agents = useQuery(trpc.agents.list.queryOptions({ limit: '1000' }))
  if ([own, builtin, agents].some(({ isPending }) => isPending)) return <Skeleton height={200} radius="md" />
  const known = [own, builtin, agents].flatMap(({ data }): { id: string; name: string }[] => data?.items ?? [])
  const nameOf = (id: string) => known.find((one) => one.id === id)?.name ?? id
  return <SideBySide differences={agentDifferences(before, now, nameOf)} sides={sides} />
}
