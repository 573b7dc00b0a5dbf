'use client'
import { Anchor } from '@mantine/core'
import { Link } from '@/app/_ui/link'
import type { NamesGroup } from '@/server/workflows/named-groups'
import { useTenant } from '../../tenant-context'

/** Links to the workflows that name a group. */
export function NamedIn({ workflows }: { workflows: readonly NamesGroup[] }) {
  const { path } = useTenant()
  return (
    <ul style={{ margin: 0, paddingInlineStart: '1.25rem' }}>
      {workflows.map(({ workflowId, name }) => (
        <li key={workflowId}>
          <Anchor component={Link} href={path(`/workflows/${workflowId}`)} size="sm">
            {name}
          </Anchor>
        </li>
      ))}
    </ul>
  )
}
