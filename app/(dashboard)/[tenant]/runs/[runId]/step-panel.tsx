'use client'
import { ActionIcon, Skeleton, Tabs } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { X } from 'lucide-react'
import dynamic from 'next/dynamic'
import type { ReactNode } from 'react'
import { useTRPC } from '@/app/_trpc/client'
import { CopyButton } from '@/app/_ui/copy-button'
import { FailureCode } from '@/app/_ui/error-code'
import { ErrorState } from '@/app/_ui/error-state'
import { Link } from '@/app/_ui/link'
import { inPlace, loadPart } from '@/app/_ui/part'
import { StatusPill } from '@/app/_ui/status-pill'
import { Duration, Time } from '@/app/_ui/time'
import { durationText } from '@/app/_ui/time-text'
import type { RunOverview } from '@/server/views/runs/overview'
import type { StepDetail } from '@/server/views/runs/step-detail'
import { Reminders } from '../../inbox/answer/task-people'
import { useTenant } from '../../tenant-context'
import { LogLines } from './log-lines'
import styles from './run.module.css'
import { RunFromHere } from './run-from-here'
import { stateOf, type Visit } from './timeline-model'
import { ValueView } from './value-view'

const StepMessages = dynamic(() => loadPart(() => import('./step-messages').then((module) => module.StepMessages)), {
  ssr: false,
  loading: inPlace(<Skeleton height={160} radius="md" />),
})

interface Panel {
  tab: string | null
  onTab: (tab: string | null) => void
  onClose: () => void
}

/** One visit: input, output, error, and each attempt. */
export function StepPanel({
  run,
  visit,
  where,
  ...panel
}: Panel & {
  run: RunOverview
  visit: Visit
  /** The visit's branch; empty outside of branches. */
  where: string
}) {
  const { runId } = run
  const trpc = useTRPC()
  const query = useQuery(trpc.runs.step.queryOptions({ runId, seq: visit.seq }))
  const step = query.data
  return (
    <Frame title={visit.name} onClose={panel.onClose} aside={<StatusPill status={stateOf(visit)} />}>
      {query.error && !step && <ErrorState error={query.error} onRetry={() => query.refetch()} />}
      {!step && !query.error && <Skeleton height={160} radius="md" />}
      {step && <StepTabs key={visit.seq} runId={runId} step={step} where={where} exit={visit.exitLabel} {...panel} />}
      {step?.startsAgain && <RunFromHere run={run} stepId={step.stepId} stepName={step.stepName} />}
    </Frame>
  )
}

function StepTabs({
  runId,
  step,
  where,
  exit,
  tab,
  onTab,
}: Omit<Panel, 'onClose'> & { runId: string; step: StepDetail; where: string; exit: string | null }) {
  const first = step.error ? 'error' : step.output ? 'output' : 'input'
  const talked = step.usage?.threadId !== undefined
  const logged = step.attempts.some(({ logs }) => logs !== undefined)
  const known = [
    ...['input', 'output'],
    ...(step.error ? ['error'] : []),
    ...(logged ? ['log'] : []),
    ...(talked ? ['messages'] : []),
    'attempts',
  ]
  const value = tab && known.includes(tab) ? tab : first
  return (
    <>
      <dl className={styles.facts}>
        <Fact name="Step">
          <code>{step.stepId}</code> {step.visit > 1 && `visit ${step.visit}`}
        </Fact>
        <Fact name="Type">{step.typeTitle}</Fact>
        {where !== '' && <Fact name="Branch">{where}</Fact>}
        {exit !== null && <Fact name="Exit">{exit}</Fact>}
        <Fact name="Began">
          <Time at={step.startTime} absolute precise />
        </Fact>
        <Fact name="Took">
          <Duration from={step.startTime} to={step.endTime} />
        </Fact>
        {step.child && (
          <Fact name="Run">
            <ChildLink run={step.child} />
          </Fact>
        )}
        {step.pause?.answeredAt && !step.child && (
          <Fact name={ENDED[step.pause.ended ?? 'answered']}>
            {step.pause.ended === 'answered' && `by ${step.pause.answeredBy?.name ?? 'someone'} `}
            <Time at={step.pause.answeredAt} absolute precise />
          </Fact>
        )}
        {step.reminders.length > 0 && (
          <Fact name="Reminders" wide>
            <Reminders reminders={step.reminders} />
          </Fact>
        )}
        {step.usage && <UsageFacts usage={step.usage} />}
      </dl>
      <Tabs value={value} onChange={onTab} keepMounted={false}>
        <Tabs.List>
          <Tabs.Tab value="input">Input</Tabs.Tab>
          <Tabs.Tab value="output">Output</Tabs.Tab>
          {step.error && <Tabs.Tab value="error">Error</Tabs.Tab>}
          {logged && <Tabs.Tab value="log">Log</Tabs.Tab>}
          {talked && <Tabs.Tab value="messages">Messages</Tabs.Tab>}
          <Tabs.Tab value="attempts">Attempts</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="input">
          <ValueView
            value={step.input}
            whole={{ of: 'step', runId, seq: step.seq, field: 'input' }}
            label={`Input of ${step.stepName}`}
          />
        </Tabs.Panel>
        <Tabs.Panel value="output">
          {step.output ? (
            <ValueView
              value={step.output}
              whole={{ of: 'step', runId, seq: step.seq, field: 'output' }}
              label={`Output of ${step.stepName}`}
            />
          ) : (
            <p className={styles.cardNote}>Nothing yet. The step is still running.</p>
          )}
        </Tabs.Panel>
        {step.error && (
          <Tabs.Panel value="error">
            <p className={styles.message}>{step.error.message}</p>
            <p className={styles.cardNote}>
              <FailureCode code={step.error.code} />{' '}
              <CopyButton text={`${step.error.code}: ${step.error.message}`} label="Copy the error" />
            </p>
          </Tabs.Panel>
        )}
        {logged && (
          <Tabs.Panel value="log">
            <Logs step={step} />
          </Tabs.Panel>
        )}
        {talked && (
          <Tabs.Panel value="messages">
            <StepMessages runId={runId} seq={step.seq} />
          </Tabs.Panel>
        )}
        <Tabs.Panel value="attempts">
          <Attempts step={step} />
        </Tabs.Panel>
      </Tabs>
    </>
  )
}

/** What ended a wait. */
const ENDED: Record<NonNullable<NonNullable<StepDetail['pause']>['ended']>, string> = {
  answered: 'Answered',
  continued: 'Continued',
  event: 'Event arrived',
  expired: 'Expired',
  withdrawn: 'Withdrawn',
}

/** The run started by the step. */
function ChildLink({ run }: { run: NonNullable<StepDetail['child']> }) {
  const { path } = useTenant()
  return (
    <>
      <Link href={path(`/runs/${run.runId}`)}>{run.workflowName}</Link> <StatusPill status={run.state} />
    </>
  )
}

function UsageFacts({ usage }: { usage: NonNullable<StepDetail['usage']> }) {
  const { inputTokens, outputTokens } = usage.usage
  return (
    <>
      <Fact name="Model">{usage.provider === 'scripted' ? 'Scripted, offline' : usage.modelId}</Fact>
      <Fact name="Tokens">
        {inputTokens.toLocaleString('en')} in, {outputTokens.toLocaleString('en')} out
      </Fact>
      <Fact name="Tool calls">{usage.toolCalls}</Fact>
      {(usage.cost !== undefined || usage.provider !== 'scripted') && (
        <Fact name="Cost">
          {usage.cost?.toLocaleString('en', { maximumFractionDigits: 6 }) ?? 'no price is set for the model'}
        </Fact>
      )}
    </>
  )
}

function Logs({ step }: { step: StepDetail }) {
  return step.attempts.map(
    ({ attempt, logs }) =>
      logs && (
        <div key={attempt} className={styles.logged}>
          {step.attempts.length > 1 && <p className={styles.cardNote}>Attempt {attempt}</p>}
          <LogLines lines={logs} label={`Log of attempt ${attempt}`} />
        </div>
      ),
  )
}

function Attempts({ step }: { step: StepDetail }) {
  if (step.attempts.length === 0) {
    return (
      <p className={styles.cardNote}>{step.endTime ? 'Completed in one attempt.' : 'The first attempt is running.'}</p>
    )
  }
  return (
    <ol className={styles.attempts}>
      {step.attempts.map((attempt) => (
        <li key={attempt.attempt}>
          <strong>Attempt {attempt.attempt}</strong> <Time at={attempt.startTime} absolute precise />, took{' '}
          {durationText(Date.parse(attempt.endTime) - Date.parse(attempt.startTime))}
          {attempt.error === undefined ? '' : ', failed'}
          {attempt.error !== undefined && <p className={styles.message}>{attempt.error}</p>}
          {attempt.retryInMs !== undefined && (
            <p className={styles.cardNote}>Next attempt after {durationText(attempt.retryInMs)}.</p>
          )}
        </li>
      ))}
    </ol>
  )
}

/** The run's input, or its result. */
export function BoundaryPanel({
  run,
  which,
  onClose,
}: {
  run: RunOverview
  which: 'start' | 'result'
  onClose: () => void
}) {
  const value = which === 'start' ? run.input : (run.result ?? run.data)
  const field = which === 'start' ? 'input' : run.result ? 'result' : 'data'
  return (
    <Frame title={which === 'start' ? 'Start' : run.result ? 'Result' : 'Data when it ended'} onClose={onClose}>
      <ValueView
        value={value}
        whole={{ of: 'run', runId: run.runId, field }}
        label={which === 'start' ? 'Input of the run' : 'Result of the run'}
      />
    </Frame>
  )
}

/** What stands beside the timeline, under its title. */
export function Frame({
  title,
  aside,
  onClose,
  children,
}: {
  title: string
  aside?: ReactNode
  onClose: () => void
  children: ReactNode
}) {
  return (
    <aside className={styles.panel} aria-label={`Details of ${title}`}>
      <header className={styles.panelHead}>
        <h2>{title}</h2>
        {aside}
        <ActionIcon variant="subtle" color="gray" aria-label="Close the details" onClick={onClose}>
          <X size={18} aria-hidden />
        </ActionIcon>
      </header>
      {children}
    </aside>
  )
}

/** @param wide whether it takes a row of its own */
function Fact({ name, wide, children }: { name: string; wide?: boolean; children: ReactNode }) {
  return (
    <div data-wide={wide}>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  )
}
