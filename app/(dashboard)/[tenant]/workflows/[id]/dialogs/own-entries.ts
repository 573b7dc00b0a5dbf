import { useQuery } from '@tanstack/react-query'
import { useTRPC } from '@/app/_trpc/client'
import type { JsonObject } from '@/server/definition/json'
import type { Catalog } from '@/server/steps/catalog'
import { choicesOf } from '../../../_versioned/choices'
import { entryOf } from '../model/definition'

/** One line of the step picker: a step type, or a tool, agent or workflow that a step uses at once. */
export interface PickerEntry {
  /** Unique in the picker. */
  key: string
  type: string
  title: string
  description: string
  icon: string
  /** The heading that it stands under. */
  group: string
  /** What the new step has beside its type's sample values. */
  config?: JsonObject
}

interface Item {
  id: string
  name: string
  description: string
  publishedVersion: number | null
}

/** The published tools and agents of the workspace and its published workflows, as steps that are ready to use. */
export function useOwnEntries(catalog: Catalog): PickerEntry[] {
  const trpc = useTRPC()
  const tools = useQuery(trpc.tools.list.queryOptions({ limit: '100' }))
  const agents = useQuery(trpc.agents.list.queryOptions({ limit: '100' }))
  const workflows = useQuery(trpc.workflows.list.queryOptions({ limit: 100 }))
  return [
    ...entriesOf(catalog, tools.data?.items ?? [], 'call-tool', 'toolId', 'Your tools'),
    ...entriesOf(catalog, agents.data?.items ?? [], 'call-agent', 'agentId', 'Your agents'),
    ...entriesOf(catalog, workflows.data?.items ?? [], 'run-workflow', 'workflowId', 'Your workflows'),
  ]
}

function entriesOf(catalog: Catalog, items: readonly Item[], type: string, field: string, group: string) {
  const published = items.filter(({ publishedVersion }) => publishedVersion !== null)
  const labels = new Map(choicesOf(published).map(({ value, label }) => [value, label]))
  return published.map(
    ({ id, name, description }): PickerEntry => ({
      key: id,
      type,
      title: labels.get(id) ?? name,
      description,
      icon: entryOf(catalog, type)?.icon ?? '',
      group,
      config: { name, [field]: id },
    }),
  )
}
