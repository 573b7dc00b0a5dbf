'use client'
import { Anchor, Button, Group, Select, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Plus } from 'lucide-react'
import { useTRPC } from '@/app/_trpc/client'
import { Link } from '@/app/_ui/link'
import { choicesOf, otherChoice } from '../../../_versioned/choices'
import { useTenant } from '../../../tenant-context'
import { useEditorActions } from '../actions/editor-actions'
import type { Callee } from '../actions/screen'
import { inputProps, type WidgetProps } from './widget'
import styles from './widgets.module.css'

/** Chooses a tool of the workspace or a built-in one. */
export function ToolWidget(props: WidgetProps) {
  const trpc = useTRPC()
  const { data: own } = useQuery(trpc.tools.list.queryOptions({}))
  const { data: builtin } = useQuery(trpc.tools.list.queryOptions({ kind: 'builtin' }))
  // Mantine throws when a value is listed twice.
  const ids = new Set(own?.items.map(({ id }) => id))
  const groups = [
    { group: 'Tools of this workspace', items: own?.items ?? [] },
    { group: 'Built in', items: (builtin?.items ?? []).filter(({ id }) => !ids.has(id)) },
  ]
  return <ResourceSelect {...props} groups={groups} kind="tool" loaded={own !== undefined && builtin !== undefined} />
}

export function AgentWidget(props: WidgetProps) {
  const trpc = useTRPC()
  const { data } = useQuery(trpc.agents.list.queryOptions({}))
  const groups = [{ group: 'Agents of this workspace', items: data?.items ?? [] }]
  return <ResourceSelect {...props} groups={groups} kind="agent" loaded={data !== undefined} />
}

export function WorkflowWidget(props: WidgetProps) {
  const trpc = useTRPC()
  const { data } = useQuery(trpc.runs.workflows.queryOptions())
  const items = (data ?? [])
    .filter(({ archived }) => !archived)
    .map(({ id, name, publishedNumber }) => ({ id, name, publishedVersion: publishedNumber }))
  const groups = [{ group: 'Workflows of this workspace', items }]
  return <ResourceSelect {...props} groups={groups} kind="workflow" loaded={data !== undefined} />
}

interface Item {
  id: string
  name: string
  publishedVersion: number | null
}

function ResourceSelect(
  props: WidgetProps & { groups: { group: string; items: readonly Item[] }[]; kind: Callee; loaded: boolean },
) {
  const { groups, kind, loaded, value, onChange, readOnly } = props
  const { path, may } = useTenant()
  const { openCreate } = useEditorActions()
  const all = new Map(groups.flatMap(({ items }) => items.map((item) => [item.id, item])))
  const filled = groups
    .filter(({ items }) => items.length > 0)
    .map(({ group, items }) => ({ group, items: choicesOf(items) }))
  const nameOf = (chosen: string | null) => all.get(chosen ?? '')?.name ?? ''
  const id = typeof value === 'string' ? value : ''
  const known = all.has(id)
  // Stays visible: an expression, a deleted object, or anything while the list loads.
  const current = id.includes('${') ? { value: id, label: id } : otherChoice(id, loaded)
  const unknown = id !== '' && !known ? [{ group: 'Current value', items: [current] }] : []
  const custom = kind === 'tool' || !id.includes('${')
  return (
    <div>
      <Select
        {...inputProps(props)}
        data={[...filled, ...unknown]}
        value={id || null}
        onChange={(next) => onChange(next ?? '', { before: nameOf(id), after: nameOf(next) })}
        renderOption={({ option: { value, label } }) => (
          <span className={styles.choice}>
            {label}
            {all.get(value)?.publishedVersion === null && <span className={styles.unpublished}>not published</span>}
          </span>
        )}
        placeholder={`Choose ${kind === 'agent' ? 'an' : 'a'} ${kind}`}
        searchable
        nothingFoundMessage={loaded ? `No ${kind} matches` : 'Loading'}
        maxDropdownHeight={320}
      />
      {loaded && filled.length === 0 && (
        <Text size="xs" c="dimmed" mt={4}>
          No {kind}s yet.
        </Text>
      )}
      <Group justify="space-between" gap="xs" mt={2}>
        {!readOnly && may(`${kind}:write`) && (
          <Button
            variant="subtle"
            size="compact-xs"
            ml={-8}
            leftSection={<Plus size={12} aria-hidden />}
            onClick={() =>
              openCreate(kind, ({ id: created, name }) => onChange(created, { before: nameOf(id), after: name }))
            }
          >
            New {kind}
          </Button>
        )}
        {known && custom && !id.startsWith('builtin') && (
          <Anchor
            component={Link}
            href={path(`/${kind}s/${encodeURIComponent(id)}`)}
            size="xs"
            underline="always"
            display="inline-block"
            py={4}
          >
            Open this {kind}
          </Anchor>
        )}
      </Group>
    </div>
  )
}
