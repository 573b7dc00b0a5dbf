'use client'
import { ActionIcon, Button, Progress, Tooltip } from '@mantine/core'
import { useLocalStorage } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { CircleCheck, CircleDashed, X } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import { useTRPC } from '@/app/_trpc/client'
import { ErrorState } from '@/app/_ui/error-state'
import { Link } from '@/app/_ui/link'
import type { Operation } from '@/server/auth/policy'
import type { Checklist as Facts } from '@/server/views/home/checklist'
import { useTenant } from '../tenant-context'
import { RunDialog } from '../workflows/run-dialog'
import { CurlButton } from './curl-button'
import styles from './home.module.css'

interface Step {
  done: boolean
  title: string
  why: string
  /** The required permission; without it, the step is hidden. */
  operation: Operation
  action: ReactNode
}

/**
 * First steps for a new workspace. Steps tick themselves; the list disappears when all are done or a user dismisses it.
 */
export function Checklist() {
  const trpc = useTRPC()
  const tenant = useTenant()
  const [dismissed, setDismissed] = useLocalStorage({
    key: `millrace-checklist-${tenant.id}`,
    defaultValue: false,
    getInitialValueInEffect: false,
  })
  const facts = useQuery({ ...trpc.home.checklist.queryOptions(), refetchInterval: 10_000, enabled: !dismissed })
  const [running, setRunning] = useState(false)
  if (dismissed) return null
  if (facts.error && !facts.data) {
    return (
      <div className={styles.checklist}>
        <ErrorState error={facts.error} onRetry={() => void facts.refetch()} />
      </div>
    )
  }
  if (!facts.data) return null
  const { sample } = facts.data
  const steps = stepsOf(facts.data, tenant.path, () => setRunning(true)).filter(({ operation }) =>
    tenant.may(operation),
  )
  const done = steps.filter((step) => step.done).length
  if (done === steps.length) return null
  return (
    <section className={`${styles.card} ${styles.checklist}`} aria-labelledby="checklist">
      <div className={styles.head}>
        <h2 id="checklist">
          First steps: {done} of {steps.length} done
        </h2>
        <Tooltip label="Hide this list">
          <ActionIcon variant="subtle" color="gray" aria-label="Hide this list" onClick={() => setDismissed(true)}>
            <X size={16} aria-hidden />
          </ActionIcon>
        </Tooltip>
      </div>
      <Progress value={(100 * done) / steps.length} size={3} radius={0} aria-label="First steps" color="race.7" />
      <ol className={styles.steps}>
        {steps
          .filter((step) => !step.done)
          .map((step) => (
            <StepRow key={step.title} step={step} />
          ))}
      </ol>
      {done > 0 && (
        <details className={styles.finished}>
          <summary>{done === 1 ? 'One step is done' : `${done} steps are done`}</summary>
          <ol className={styles.steps}>
            {steps
              .filter((step) => step.done)
              .map((step) => (
                <StepRow key={step.title} step={step} />
              ))}
          </ol>
        </details>
      )}
      {running && sample && (
        <RunDialog workflow={sample} prefill={{ name: tenant.user.name }} onClose={() => setRunning(false)} />
      )}
    </section>
  )
}

function StepRow({ step: { done, title, why, action } }: { step: Step }) {
  return (
    <li className={styles.step} data-done={done || undefined}>
      {done ? (
        <CircleCheck size={20} className={styles.done} aria-label="Done" />
      ) : (
        <CircleDashed size={20} className={styles.open} aria-label="To do" />
      )}
      <span className={styles.what}>
        <span className={styles.title}>{title}</span>
        {!done && <span className={styles.quiet}>{why}</span>}
      </span>
      {!done && action}
    </li>
  )
}

function stepsOf(facts: Facts, path: (path: string) => string, run: () => void): Step[] {
  const { sample } = facts
  const go = (label: string, href: string) => (
    <Button component={Link} href={path(href)} size="compact-sm" variant="default">
      {label}
    </Button>
  )
  return [
    {
      done: facts.ran,
      title: 'Run a sample',
      why: sample
        ? `${sample.name} says hello and completes immediately.`
        : 'Add the sample workflows, then start one.',
      operation: 'run:start',
      action: sample ? (
        <Button size="compact-sm" onClick={run}>
          Run {sample.name}
        </Button>
      ) : (
        go('Go to workflows', '/workflows')
      ),
    },
    {
      done: facts.called,
      title: 'Start a run from a terminal',
      why: 'The same call your own code will make. This is ticked off when the call arrives.',
      operation: 'run:start',
      action: sample ? <CurlButton workflowId={sample.id} /> : go('Go to workflows', '/workflows'),
    },
    {
      done: facts.keyed,
      title: 'Create an API key',
      why: 'One key per service, with the lowest role that works.',
      operation: 'key:manage',
      action: go('New key', '/settings/api-keys?new=1'),
    },
    {
      done: facts.published,
      title: 'Publish a workflow of your own',
      why: 'Draw it, test it, then publish it for callers.',
      operation: 'workflow:publish',
      action: go('New workflow', '/workflows?new=1'),
    },
    ...(facts.decided === null
      ? []
      : [
          {
            done: facts.decided,
            title: 'Let an agent ask you',
            why: 'It wants to refund an order, and waits for your decision in the inbox.',
            operation: 'run:start' as const,
            action: go('Start a refund', '/start/wf_refund'),
          },
        ]),
    {
      done: facts.invited,
      title: 'Invite someone',
      why: 'Tasks need people to answer them.',
      operation: 'member:manage',
      action: go('Go to members', '/settings/members'),
    },
  ]
}
