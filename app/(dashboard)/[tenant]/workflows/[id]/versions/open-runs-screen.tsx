'use client'
import { Button, Group, Progress, Skeleton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { ArrowRightLeft, CircleCheck } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import { useTRPC } from '@/app/_trpc/client'
import { EmptyState } from '@/app/_ui/empty-state'
import { ErrorState } from '@/app/_ui/error-state'
import { Link } from '@/app/_ui/link'
import type { OpenRuns } from '@/server/views/workflows/open-runs'
import { runsText } from '../../../runs-text'
import { useTenant } from '../../../tenant-context'
import { BackButton, MoveDialog } from './move-dialog'
import { type CheckedRun, kindOf, type Plan, planOf } from './move-plan'
import { MovedBack } from './moved-back'
import styles from './open-runs.module.css'
import { Reasons } from './reasons'
import { useCheck } from './use-check'
import { useMove } from './use-move'

export interface OpenRunsScreenProps {
  workflowId: string
  published: { version: number; number: number } | null
  archived: boolean
}

/** The open runs on other versions than the published one, whether they can continue on that, and their move. */
export function OpenRunsScreen(props: OpenRunsScreenProps) {
  const { workflowId, published, archived } = props
  const trpc = useTRPC()
  const open = useQuery({ ...trpc.workflows.openRuns.queryOptions({ id: workflowId }), staleTime: 0 })
  if (open.error && !open.data) {
    return (
      <ErrorState error={open.error} title="The open runs could not be loaded" onRetry={() => void open.refetch()} />
    )
  }
  if (!open.data) return <Skeleton height={200} radius="md" />
  if (!published) {
    return (
      <EmptyState icon={ArrowRightLeft} title="No version is published">
        Open runs can be moved to a published version.
      </EmptyState>
    )
  }
  return (
    <Loaded
      workflowId={workflowId}
      to={published}
      archived={archived}
      // A draft's runs are tests of it.
      versions={open.data.versions.filter(({ version, number }) => version !== published.version && number !== null)}
      atLeast={open.data.atLeast}
      onChanged={() => void open.refetch()}
    />
  )
}

interface LoadedProps {
  workflowId: string
  to: { version: number; number: number }
  archived: boolean
  versions: OpenRuns[]
  atLeast: boolean
  onChanged: () => void
}

function Loaded({ workflowId, to, archived, versions, atLeast, onChanged }: LoadedProps) {
  const { may } = useTenant()
  const check = useCheck(workflowId, to.version)
  const mover = useMove(workflowId, () => {
    check.forget()
    onChanged()
  })
  const [moving, setMoving] = useState(false)
  const numbers = new Map(versions.map(({ version, number }) => [version, number]))
  const runs = check.runs.filter(({ workflowVersion }) => numbers.has(workflowVersion))
  const plan = planOf(runs)
  const total = versions.reduce((sum, { count }) => sum + count, 0)
  const able = runs.length - plan.never.length
  return (
    <div className={styles.screen}>
      {!moving && mover.moved && mover.moved.runIds.length > 0 && <LastMove mover={mover} to={to} />}
      {total === 0 ? (
        <EmptyState icon={CircleCheck} title={`No open run is on another version than v${to.number}`}>
          After you publish a version, runs that are still open on earlier ones are listed here.
        </EmptyState>
      ) : (
        <>
          <p className={styles.lead}>
            {atLeast && 'At least '}
            {runsText(total)} {total === 1 ? 'is' : 'are'} open on {total === 1 ? 'another version' : 'other versions'}{' '}
            than v{to.number}, which is published.{' '}
            {total === 1 ? 'It ends on its version, unless it is' : 'They end on their versions, unless they are'}{' '}
            moved.
          </p>
          <ByStep versions={versions} runs={runs} checked={check.state !== 'idle'} workflowId={workflowId} />
          {archived ? (
            <p className={styles.note}>The workflow is archived, so its runs cannot be moved.</p>
          ) : (
            <Actions check={check} total={total}>
              {check.state === 'done' && may('run:move') && (
                <Button
                  leftSection={<ArrowRightLeft size={16} aria-hidden />}
                  disabled={able === 0}
                  onClick={() => setMoving(true)}
                >
                  {`Move ${able.toLocaleString('en')} of ${runsText(runs.length)} to v${to.number}…`}
                </Button>
              )}
            </Actions>
          )}
          <Obstacles plan={plan} number={to.number} />
        </>
      )}
      {moving && (
        <MoveDialog
          workflowId={workflowId}
          runs={runs}
          to={to}
          numberOf={(version) => numbers.get(version) ?? null}
          mover={mover}
          onClose={() => setMoving(false)}
        />
      )}
    </div>
  )
}

/** The last move, for as long as the page is open. */
function LastMove(props: { mover: ReturnType<typeof useMove>; to: LoadedProps['to'] }) {
  const { mover, to } = props
  const { moved, back } = mover
  if (!moved) return null
  return (
    <section className={styles.done} aria-label="The last move">
      <div className={styles.section}>
        <p>
          {runsText(moved.runIds.length)} {moved.runIds.length === 1 ? 'was' : 'were'} moved
          {/* Another version may have been published meanwhile. */}
          {moved.to === to.version && ` to v${to.number}`}.
        </p>
        <MovedBack mover={mover} />
        {mover.error ? <ErrorState error={mover.error} title="Not all runs were moved back" /> : null}
        {back && back.refused.length > 0 && <Reasons runs={back.refused} keyOf={() => null} />}
      </div>
      {mover.mayMoveBack && <BackButton mover={mover} />}
    </section>
  )
}

function Actions(props: { check: ReturnType<typeof useCheck>; total: number; children: ReactNode }) {
  const { check, total, children } = props
  const { state, runs, error } = check
  return (
    <>
      {state === 'failed' && <ErrorState error={error} title="The runs could not be checked" onRetry={check.check} />}
      {state === 'checking' && (
        <div className={styles.section}>
          <Progress value={(100 * runs.length) / Math.max(1, total)} aria-label="Runs checked" />
          <p className={styles.note}>
            {runs.length.toLocaleString('en')} of {runsText(total)} checked
          </p>
        </div>
      )}
      <Group gap="sm">
        {state === 'checking' ? (
          <Button variant="default" onClick={check.stop}>
            Stop
          </Button>
        ) : (
          <Button variant={state === 'done' ? 'default' : 'filled'} onClick={() => void check.check()}>
            {state === 'done' ? 'Check again' : 'Check all'}
          </Button>
        )}
        {children}
      </Group>
      {state === 'idle' && (
        <p className={styles.note}>A check finds out which of them can continue. It changes nothing.</p>
      )}
    </>
  )
}

function ByStep(props: { versions: OpenRuns[]; runs: readonly CheckedRun[]; checked: boolean; workflowId: string }) {
  const { versions, runs, checked, workflowId } = props
  const { path } = useTenant()
  const hasBusy = runs.some((run) => kindOf(run) === 'busy')
  const link = (version: number) =>
    path(`/workflows/${workflowId}/runs?version=${version}&status=running&status=paused`)
  return (
    <table className={styles.table} aria-label="Open runs by version and step">
      <thead>
        <tr>
          <th scope="col">Version</th>
          <th scope="col">Waits at</th>
          {['Open', 'Continue', 'Asked again', ...(hasBusy ? ['Busy'] : []), 'Cannot'].map((name) => (
            <th key={name} scope="col" className={styles.number}>
              {name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {versions.flatMap((open) =>
          rowsOf(open).map(({ stepId, name, count }) => {
            const here = runs.filter((run) => run.workflowVersion === open.version && run.stepId === stepId)
            const { safe, asks, votes, busy, never } = planOf(here)
            const of = (...kinds: CheckedRun[][]) =>
              checked ? kinds.reduce((sum, kind) => sum + kind.length, 0).toLocaleString('en') : '–'
            return (
              <tr key={`${open.version} ${stepId}`}>
                <td>
                  <Link href={link(open.version)}>v{open.number}</Link>
                </td>
                <td className={styles.step}>{name}</td>
                <td className={styles.number}>{count.toLocaleString('en')}</td>
                <td className={styles.number}>{of(safe)}</td>
                <td className={styles.number}>{of(asks, votes)}</td>
                {hasBusy && <td className={styles.number}>{of(busy)}</td>}
                <td className={styles.number}>{of(never)}</td>
              </tr>
            )
          }),
        )}
      </tbody>
    </table>
  )
}

/** Also the runs that have begun no step. */
function rowsOf({ count, steps }: OpenRuns): { stepId: string | null; name: string; count: number }[] {
  const begun = steps.reduce((sum, step) => sum + step.count, 0)
  return begun === count ? steps : [...steps, { stepId: null, name: 'Not begun yet', count: count - begun }]
}

function Obstacles({ plan, number }: { plan: Plan; number: number }) {
  const { never } = plan
  if (never.length === 0) return null
  const keys = new Map(never.map(({ runId, businessKey }) => [runId, businessKey]))
  return (
    <section className={styles.section} aria-label={`Cannot continue on v${number}`}>
      <h2 className={styles.head}>
        {runsText(never.length)} cannot continue on v{number}
      </h2>
      <Reasons runs={never} keyOf={(runId) => keys.get(runId) ?? null} />
    </section>
  )
}
