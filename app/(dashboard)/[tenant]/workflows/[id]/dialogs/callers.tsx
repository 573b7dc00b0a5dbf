'use client'
import { Skeleton, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { useTRPC } from '@/app/_trpc/client'
import { ErrorState } from '@/app/_ui/error-state'
import { Link } from '@/app/_ui/link'
import { Clock, Time } from '@/app/_ui/time'
import type { Starter, WorkflowCallers } from '@/server/views/workflows/callers'
import { useTenant } from '../../../tenant-context'
import dialog from './dialog.module.css'

/** The people and systems that start the workflow: they will get the version to be published. */
export function Callers({ workflowId }: { workflowId: string }) {
  const trpc = useTRPC()
  const query = useQuery({ ...trpc.workflows.callers.queryOptions({ id: workflowId }), staleTime: 0 })
  return (
    <section aria-label="Used by">
      <Text size="sm" fw={500} mb={4}>
        Used by
      </Text>
      {query.data ? (
        <List callers={query.data} />
      ) : query.error ? (
        <ErrorState error={query.error} title="Who uses it could not be loaded" onRetry={() => void query.refetch()} />
      ) : (
        <Skeleton height={40} />
      )}
    </section>
  )
}

function List({ callers: { parents, schedules, inbound, links, recent } }: { callers: WorkflowCallers }) {
  const { path } = useTenant()
  if (parents.length + schedules.length + inbound.length + links.length + recent.length === 0) {
    return (
      <p className={dialog.note}>
        No workflow, schedule, inbound webhook or start link starts it, and nobody has called it in the last 30 days.
      </p>
    )
  }
  return (
    <ul className={dialog.callers}>
      {parents.map(({ id, name, keepsTo, keepsNumber, pinned }) => (
        <Caller key={id} name={<Link href={path(`/workflows/${id}`)}>{name}</Link>}>
          Workflow
          {keepsTo === null
            ? ', gets the new version immediately'
            : `, keeps ${keepsNumber === null ? 'a draft' : `version ${keepsNumber}`}${pinned ? ' until it is published again' : ''}`}
        </Caller>
      ))}
      <Starters kind="Schedule" starters={schedules} href={path('/schedules')} />
      <Starters kind="Inbound webhook" starters={inbound} href={path('/inbound-webhooks')} />
      {links.map(({ id, label, madeBy, expiresAt }) => (
        <Caller key={id} name={label ?? 'Public form'}>
          Start link by {madeBy}, until <Clock at={expiresAt} />
        </Caller>
      ))}
      {recent.map(({ id, kind, name, runs, lastAt }) => (
        <Caller key={id} name={name}>
          {KINDS[kind]}, {runs === 1 ? '1 recent run' : `${runs.toLocaleString('en')} recent runs, the last one`}{' '}
          <Time at={lastAt} />
        </Caller>
      ))}
    </ul>
  )
}

const KINDS = { user: 'Member', apiKey: 'API key', token: 'Token' } as const

function Starters({ kind, starters, href }: { kind: string; starters: readonly Starter[]; href: string }) {
  return starters.map(({ id, name, enabled }) => (
    <Caller key={id} name={<Link href={href}>{name}</Link>}>
      {kind}
      {!enabled && ', paused'}
    </Caller>
  ))
}

function Caller({ name, children }: { name: ReactNode; children: ReactNode }) {
  return (
    <li>
      {name}
      <span className={dialog.note}>{children}</span>
    </li>
  )
}
