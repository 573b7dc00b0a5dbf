'use client'
import { Select } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useTRPC } from '@/app/_trpc/client'
import { clockTime, useTimeZone } from '@/app/_ui/time-text'
import type { VersionHistoryItem } from '@/server/views/workflows/version-history'
import { inputProps, type WidgetProps } from './widget'

const PAGE = { limit: '100', offset: '0' }

/**
 * Chooses the version of the tool, agent or workflow in another field. A step stores the API's version; screens show a
 * workflow's publication number.
 */
export function VersionWidget(props: WidgetProps) {
  const { field, value, onChange, siblings } = props
  const trpc = useTRPC()
  const [zone] = useTimeZone()
  const of = field.widget === 'version' ? siblings[field.of] : undefined
  const id = typeof of === 'string' && !of.includes('${') ? of : ''
  const resource = field.widget === 'version' ? field.resource : 'tool'
  const tools = useQuery({
    ...trpc.tools.versions.queryOptions({ id, page: PAGE }),
    enabled: resource === 'tool' && id !== '',
    retry: false,
  })
  const agents = useQuery({
    ...trpc.agents.versions.queryOptions({ id, page: PAGE }),
    enabled: resource === 'agent' && id !== '',
    retry: false,
  })
  const workflows = useQuery({
    ...trpc.workflows.versions.queryOptions({ id, page: PAGE }),
    enabled: resource === 'workflow' && id !== '',
    retry: false,
  })
  const nameOf = ({ number, createdAt }: VersionHistoryItem) =>
    number === null ? `Draft of ${clockTime(new Date(createdAt), zone, Date.now())}` : `Version ${number}`
  const items =
    resource === 'workflow'
      ? (workflows.data?.items ?? []).map((item) => ({ ...item, name: nameOf(item) }))
      : ({ tool: tools, agent: agents }[resource].data?.items ?? []).map((item) => ({
          ...item,
          name: `Version ${item.version}`,
        }))
  const numbers = items.map(({ version, published, name }) => ({
    value: String(version),
    label: `${name}${published ? ', published' : ''}`,
  }))
  const named = [
    { value: 'latest', label: 'Always the latest' },
    { value: 'published', label: 'Always the published one' },
  ]
  const current = value === undefined ? null : String(value)
  const known = [...named, ...numbers]
  const unlisted = resource === 'workflow' && current !== null && /^\d+$/.test(current)
  const data =
    current === null || known.some((item) => item.value === current)
      ? known
      : [...known, { value: current, label: unlisted ? `Version ${current} in the API` : current }]
  return (
    <Select
      {...inputProps(props)}
      data={data}
      value={current}
      placeholder={resource === 'workflow' ? 'The published one, fixed on publish' : 'The latest, fixed on publish'}
      clearable
      onChange={(next) => onChange(next === null ? undefined : /^\d+$/.test(next) ? Number(next) : next)}
    />
  )
}
