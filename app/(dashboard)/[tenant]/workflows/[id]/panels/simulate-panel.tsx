'use client'
import { Button, Skeleton, Text, UnstyledButton } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { CircleAlert, CircleCheck, CircleDashed, RotateCw } from 'lucide-react'
import { type ReactNode, useEffect, useRef, useState } from 'react'
import { useTRPC } from '@/app/_trpc/client'
import type { Definition } from '@/server/definition/schema'
import type { Catalog } from '@/server/steps/catalog'
import type { SimulatedWorkflow } from '@/server/workflows/simulate'
import type { GoTo, SaveNow } from '../actions/screen'
import { exitLabel, exitsOf, stepLabel } from '../model/definition'
import { DraftError } from '../parts/draft-error'
import styles from './simulate-panel.module.css'

export interface SimulatePanelProps {
  workflowId: string
  definition: Definition
  catalog: Catalog
  save: SaveNow
  onGoTo: GoTo
}

/** Walks the draft with generated values, and shows the steps reached and the failures. */
export function SimulatePanel({ workflowId, definition, catalog, save, onGoTo }: SimulatePanelProps) {
  const trpc = useTRPC()
  const [unsaved, setUnsaved] = useState(false)
  const simulate = useMutation(trpc.workflows.simulate.mutationOptions())
  async function start() {
    const version = await save()
    setUnsaved(version === null)
    if (version !== null) simulate.mutate({ id: workflowId, body: { version } })
  }
  const begun = useRef(false)
  // biome-ignore lint/correctness/useExhaustiveDependencies: once, when the panel opens
  useEffect(() => {
    if (!begun.current) void start()
    begun.current = true
  }, [])
  const { data, error, isPending } = simulate
  return (
    <div className={styles.panel} aria-busy={isPending}>
      {unsaved && (
        <Text size="sm" c="var(--mantine-color-error)" role="alert">
          The draft could not be saved, so it was not simulated.
        </Text>
      )}
      {error && (
        <DraftError error={error} title="The draft could not be simulated" definition={definition} catalog={catalog} />
      )}
      {data ? (
        <Found found={data} definition={definition} catalog={catalog} onGoTo={onGoTo} />
      ) : (
        !error && !unsaved && <Skeleton height={60} />
      )}
      <div>
        <Button
          size="xs"
          variant="default"
          loading={isPending}
          leftSection={<RotateCw size={16} aria-hidden />}
          onClick={() => void start()}
        >
          Simulate again
        </Button>
      </div>
    </div>
  )
}

function Found(props: { found: SimulatedWorkflow; definition: Definition; catalog: Catalog; onGoTo: GoTo }) {
  const { found, definition, catalog, onGoTo } = props
  const { coverage, failures, unreached, unreachable, exits, unknown, mayAsk, longestPath, pathsTried, truncated } =
    found
  const missed = exits.filter(({ stepId, reached }) => !reached && !unreached.includes(stepId))
  const assumed = exits.filter((exit) => exit.assumed)
  const isFine = failures.length + unreached.length + unreachable.length + missed.length === 0
  const exitText = (stepId: string, exit: string) => `exit ${exitLabel(exitsOf(definition, catalog, stepId), exit)}`
  const link = (stepId: string, detail: string, key = stepId + detail) => (
    <li key={key}>
      <UnstyledButton className={styles.link} onClick={() => onGoTo({ stepId })}>
        <span className={styles.where}>{stepLabel(definition, stepId)}</span> {detail}
      </UnstyledButton>
    </li>
  )
  return (
    <>
      <p className={styles.summary} role="status" data-fine={isFine}>
        {isFine ? (
          <CircleCheck size={18} aria-hidden />
        ) : failures.length > 0 ? (
          <CircleAlert size={18} aria-hidden />
        ) : (
          <CircleDashed size={18} aria-hidden />
        )}
        <span>
          {share(coverage.steps, 'step')} and {share(coverage.exits, 'exit')} reached on {count(pathsTried, 'path')}.
          The longest has {count(longestPath.steps, 'step')}. Nothing was executed.
          {truncated && ' The simulation reached its limit before everything was tried.'}
        </span>
      </p>
      <List title="Failures">
        {failures.map(({ stepId, message, input, handled }) =>
          link(stepId, `${message}${handled ? ' (handled)' : ''}${inputText(input)}`),
        )}
      </List>
      <List title="Not reached">
        {[
          ...unreachable.map((id) => link(id, 'has no connection that leads to it')),
          ...unreached.map((id) => link(id, '')),
          ...missed.map(({ stepId, exit }) => link(stepId, exitText(stepId, exit), `${stepId} ${exit}`)),
        ]}
      </List>
      <List title="Assumed: no tried values lead there">
        {assumed.map(({ stepId, exit }) => link(stepId, exitText(stepId, exit), `${stepId} ${exit}`))}
      </List>
      <List title="Depends on unknown values">{unknown.map((id) => link(id, ''))}</List>
      <List title="Agents that may ask people">{mayAsk.map((id) => link(id, ''))}</List>
    </>
  )
}

function List({ title, children }: { title: string; children: ReactNode[] }) {
  if (children.length === 0) return null
  return (
    <section aria-label={title}>
      <h3 className={styles.title}>{title}</h3>
      <ul className={styles.list}>{children}</ul>
    </section>
  )
}

function count(number: number, word: string): string {
  return `${number} ${word}${number === 1 ? '' : 's'}`
}

function share({ reached, total }: { reached: number; total: number }, word: string): string {
  return `${reached} of ${count(total, word)}`
}

function inputText(input: SimulatedWorkflow['failures'][number]['input']): string {
  const text = JSON.stringify(input)
  return text === '{}' ? '' : ` with ${text.length > 200 ? `${text.slice(0, 200)}…` : text}`
}
