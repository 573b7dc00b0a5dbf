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
}

/** The published tools and agents of the workspace and its published workflows, as steps that are ready to use. */
export function useOwnEntries(catalog: Catalog): PickerEntry[] {
  const trpc = useTRPC()
  const published = { status: 'published', limit: '1000' } as const
  const tools = useQuery(trpc.tools.list.queryOptions(published))
  const agents = useQuery(trpc.agents.list.queryOptions(published))
  const workflows = useQuery(trpc.runs.workflows.queryOptions())
  // A page of the list has no more, so older workflows have no description.
  const described = useQuery(trpc.workflows.list.queryOptions({ status: 'published', limit: 100 }))
  const texts = new Map(described.data?.items.map(({ id, description }) => [id, description]))
  // A step needs data, and a supervisor answers people.
  const answering = agents.data?.items.filter(({ structured, supervisor }) => structured && !supervisor)
  const startable = workflows.data?.filter(({ publishedNumber }) => publishedNumber !== null)
  return [
    ...entriesOf(catalog, tools.data?.items ?? [], 'call-tool', 'toolId', 'Your tools'),
    ...entriesOf(catalog, answering ?? [], 'call-agent', 'agentId', 'Your agents'),
    ...entriesOf(
      catalog,
      (startable ?? []).map(({ id, name }) => ({ id, name, description: texts.get(id) ?? '' })),
      'run-workflow',
      'workflowId',
      'Your workflows',
    ),
  ]
}

function entriesOf(catalog: Catalog, items: readonly Item[], type: string, field: string, group: string) {
  const labels = new Map(choicesOf(items).map(({ value, label }) => [value, label]))
  return items.map(
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
