'use client'
import { Skeleton } from '@mantine/core'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { CircleAlert, CircleCheck } from 'lucide-react'
import { useTRPC } from '@/app/_trpc/client'
import { EmptyState } from '@/app/_ui/empty-state'
import { ErrorState } from '@/app/_ui/error-state'
import { PageBody } from '@/app/_ui/page-body'
import { PageHeader } from '@/app/_ui/page-header'
import { Time } from '@/app/_ui/time'
import { useTenant } from '../../tenant-context'
import { FailureTables } from './failure-tables'
import styles from './service.module.css'
import { type Figure, type Service, wordsOf } from './service-words'

/** The whole service's health, for its operators. */
export function ServiceScreen() {
  const trpc = useTRPC()
  const allowed = useTenant().may('service:read')
  const service = useQuery({
    ...trpc.service.read.queryOptions(),
    enabled: allowed,
    placeholderData: keepPreviousData,
    refetchInterval: 10_000,
  })
  return (
    <>
      <PageHeader title="Service" meta="How the whole service does, for those who run it: all workspaces together." />
      <PageBody narrow={allowed}>
        {!allowed && (
          <EmptyState icon={CircleAlert} title="Not in this workspace">
            Only owners of the workspace that runs the service see this.
          </EmptyState>
        )}
        {service.error && <ErrorState error={service.error} onRetry={() => service.refetch()} />}
        {allowed && service.isPending && <Skeleton height={320} radius="md" />}
        {service.data && <Figures service={service.data} />}
      </PageBody>
    </>
  )
}

function Figures({ service }: { service: Service }) {
  const { figures, engine, problem, open, failures, at } = service
  const bad = figures.filter(({ state }) => state === 'bad')
  const Icon = bad.length === 0 ? CircleCheck : CircleAlert
  return (
    <div className={styles.parts}>
      <div>
        <p className={styles.summary} data-state={bad.length === 0 ? 'good' : 'bad'} role="status">
          <Icon size={20} aria-hidden />
          {bad.length === 0
            ? 'Everything works'
            : `Look at ${bad.map((one) => wordsOf(one, engine).name.toLowerCase()).join(', ')}`}
        </p>
        <p className={styles.quiet}>
          Open runs: {open.running.toLocaleString('en')} running, {open.waiting.toLocaleString('en')} waiting for
          somebody or something. Read <Time at={at} />, and again every ten seconds.
        </p>
        {problem !== null && <p className={styles.problem}>{problem}</p>}
      </div>
      <ul className={styles.figures}>
        {figures.map((figure) => (
          <Row key={figure.id} figure={figure} engine={engine} />
        ))}
      </ul>
      <FailureTables failures={failures} />
      <p className={styles.quiet}>
        More figures are in the metrics (<code>GET /api/metrics</code>). On the machine, find faults with{' '}
        <code>npm run -s admin -- doctor</code>.
      </p>
    </div>
  )
}

function Row({ figure, engine }: { figure: Figure; engine: Service['engine'] }) {
  const { name, value, meaning, remedy } = wordsOf(figure, engine)
  const Icon = figure.state === 'good' ? CircleCheck : CircleAlert
  return (
    <li className={styles.figure} data-state={figure.state}>
      <Icon size={18} role="img" aria-label={figure.state === 'good' ? 'Good' : 'Needs attention'} />
      <div>
        <h2 className={styles.name}>{name}</h2>
        <p className={styles.value}>{value(figure)}</p>
        <p className={styles.quiet}>{meaning}</p>
        {figure.state === 'bad' && (
          <p className={styles.remedy}>
            <strong>What to do:</strong> {remedy}
          </p>
        )}
      </div>
    </li>
  )
}
