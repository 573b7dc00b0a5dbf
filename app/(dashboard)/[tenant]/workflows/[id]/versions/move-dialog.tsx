'use client'
import { Button, Progress, Stack, Switch, Text, Textarea } from '@mantine/core'
import { useState } from 'react'
import { Dialog, DialogButtons } from '@/app/_ui/dialog'
import { ErrorState } from '@/app/_ui/error-state'
import { useNow } from '@/app/_ui/time'
import { useOnce } from '@/app/_ui/use-once'
import { runsText } from '../../../runs-text'
import { type CheckedRun, chosenOf, leftText, type Plan, planOf, questionGroups } from './move-plan'
import { MovedBack } from './moved-back'
import styles from './open-runs.module.css'
import { QuestionChanges } from './question-changes'
import { Reasons } from './reasons'
import type { useMove } from './use-move'

export interface MoveDialogProps {
  workflowId: string
  runs: readonly CheckedRun[]
  /** The version, and its number as shown to people. */
  to: { version: number; number: number }
  numberOf: (version: number) => number | null
  mover: ReturnType<typeof useMove>
  onClose: () => void
}

/** Asks what to do with tasks that would be asked again, moves the runs, and says what became of each. */
export function MoveDialog(props: MoveDialogProps) {
  const { runs, to, mover, onClose } = props
  const [began, setBegan] = useState(false)
  // After the move, the check is outdated.
  const [plan] = useState(() => planOf(runs))
  const [choice, setChoice] = useState<Choice>({ asksAgain: false, dropVotes: false, reason: '' })
  const { working, moved } = mover
  const [keys] = useState(() => new Map(runs.map(({ runId, businessKey }) => [runId, businessKey])))
  const keyOf = (runId: string) => keys.get(runId) ?? null
  const close = () => {
    mover.stop()
    onClose()
  }
  const asks = !began || (!working && !moved)
  return (
    <Dialog
      onClose={close}
      title={`Move runs to version ${to.number}?`}
      size="lg"
      top
      closes={working ? 'nothing' : asks ? 'no click' : 'anything'}
    >
      {asks ? (
        <Choices
          {...props}
          {...{ plan, choice, keyOf }}
          onChoose={(change) => setChoice((now) => ({ ...now, ...change }))}
          onBegin={() => setBegan(true)}
          onClose={close}
        />
      ) : (
        <Outcome {...props} keyOf={keyOf} onClose={close} />
      )}
    </Dialog>
  )
}

interface Choice {
  asksAgain: boolean
  dropVotes: boolean
  reason: string
}

type KeyOf = (runId: string) => string | null

function Choices(
  props: MoveDialogProps & {
    plan: Plan
    choice: Choice
    keyOf: KeyOf
    onChoose: (change: Partial<Choice>) => void
    onBegin: () => void
  },
) {
  const { workflowId, to, numberOf, mover, plan, choice, keyOf, onChoose, onBegin, onClose } = props
  const { asksAgain, dropVotes, reason } = choice
  const once = useOnce()
  const chosen = chosenOf(plan, { asksAgain, dropVotes })
  const asked = [...plan.asks, ...plan.votes]
  return (
    <Stack>
      <Counts plan={plan} number={to.number} />
      {asked.length > 0 && (
        <section className={styles.section} aria-label="Asked again">
          <Switch
            label={`Ask ${tasksText(plan.asks)} again`}
            description="Each in its place, with the new question. Assignees are notified once more, and links to these tasks stop working."
            checked={asksAgain}
            onChange={(event) => onChoose({ asksAgain: event.currentTarget.checked })}
          />
          {plan.votes.length > 0 && (
            <Switch
              label={`Also ask ${tasksText(plan.votes)} again, and drop the votes there`}
              description="Everybody votes again. The votes do not come back, even if the runs are moved back."
              checked={asksAgain && dropVotes}
              disabled={!asksAgain}
              onChange={(event) => onChoose({ dropVotes: event.currentTarget.checked })}
            />
          )}
          <QuestionChanges workflowId={workflowId} to={to.version} groups={questionGroups(asked)} numberOf={numberOf} />
        </section>
      )}
      {plan.busy.length > 0 && (
        <section className={styles.section} aria-label="Busy now">
          <h3 className={styles.head}>Busy now</h3>
          <p className={styles.note}>They are tried again for up to ten minutes, and then named.</p>
          <Reasons runs={plan.busy} keyOf={keyOf} />
        </section>
      )}
      {plan.never.length > 0 && (
        <section className={styles.section} aria-label="Stay on their version">
          <h3 className={styles.head}>Stay on their version</h3>
          <Reasons runs={plan.never} keyOf={keyOf} />
        </section>
      )}
      <Textarea
        label="Note"
        description="Shown with each move"
        autosize
        minRows={2}
        maxLength={1_000}
        value={reason}
        onChange={(event) => onChoose({ reason: event.currentTarget.value })}
      />
      {mover.error ? <ErrorState error={mover.error} title="No run was moved" /> : null}
      <DialogButtons>
        <Button variant="default" onClick={onClose}>
          Cancel
        </Button>
        <Button
          disabled={chosen.length === 0}
          onClick={() => {
            onBegin()
            void once(() => mover.move(chosen, { toVersion: to.version, asksAgain, dropVotes, reason: reason.trim() }))
          }}
        >
          Move {runsText(chosen.length)} to v{to.number}
        </Button>
      </DialogButtons>
    </Stack>
  )
}

function tasksText(runs: readonly CheckedRun[]): string {
  const count = runs.reduce((sum, { changes }) => sum + changes.length, 0)
  return count === 1 ? '1 task' : count === 0 ? 'tasks' : `${count.toLocaleString('en')} tasks`
}

function Counts({ plan, number }: { plan: Plan; number: number }) {
  const { safe, asks, votes, busy, never } = plan
  const lines: [CheckedRun[], one: string, many: string][] = [
    [safe, 'continues as it is', 'continue as they are'],
    [asks, 'has a task that asks something else', 'have a task that asks something else'],
    [votes, 'has votes on a task that asks something else', 'have votes on a task that asks something else'],
    [busy, 'is busy now', 'are busy now'],
    [never, 'cannot be moved', 'cannot be moved'],
  ]
  return (
    <ul className={styles.counts} aria-label={`Open runs and v${number}`}>
      {lines.map(([runs, one, many]) =>
        runs.length === 0 ? null : (
          <li key={many}>
            <span className={styles.count}>{runs.length.toLocaleString('en')}</span>
            <span>{runs.length === 1 ? one : many}</span>
          </li>
        ),
      )}
    </ul>
  )
}

function Outcome({ to, mover, keyOf, onClose }: MoveDialogProps & { keyOf: KeyOf }) {
  const { working, moved, back, error } = mover
  const refused = back ? back.refused : (moved?.refused ?? [])
  return (
    <Stack>
      {working && <Working working={working} />}
      {!working && moved && !back && (
        <Text size="sm" role="status">
          {runsText(moved.count)} {moved.count === 1 ? 'was' : 'were'} moved to version {to.number}.
          {moved.askedAgain > 0 && ` In ${moved.askedAgain.toLocaleString('en')} of them, tasks were asked again.`}
        </Text>
      )}
      {!working && moved && !back && moved.untried > 0 && (
        <Text size="sm">
          {runsText(moved.untried)} {moved.untried === 1 ? 'was' : 'were'} not tried.
        </Text>
      )}
      {!working && <MovedBack mover={mover} />}
      {!working &&
        leftText(refused).map((line) => (
          <Text key={line} size="sm">
            {line}
          </Text>
        ))}
      {!working && refused.length > 0 && <Reasons runs={refused} keyOf={keyOf} />}
      {error ? <ErrorState error={error} title="Not all runs were moved" /> : null}
      <DialogButtons beside={!working && mover.mayMoveBack && <BackButton mover={mover} />}>
        <Button variant="default" onClick={working ? mover.stop : onClose}>
          {working ? 'Stop' : 'Close'}
        </Button>
      </DialogButtons>
    </Stack>
  )
}

function Working({ working }: { working: NonNullable<MoveDialogProps['mover']['working']> }) {
  const { what, done, of, waiting } = working
  const now = useNow(waiting ? 1_000 : null)
  const label = what === 'moving' ? 'Runs moved' : 'Runs moved back'
  const minutes = waiting ? Math.max(1, Math.ceil((waiting.until - now) / 60_000)) : 0
  return (
    <div className={styles.section}>
      <Progress value={(100 * done) / Math.max(1, of)} aria-label={label} />
      <p className={styles.note}>
        {done.toLocaleString('en')} of {runsText(of)}
        {waiting &&
          `. ${runsText(waiting.count)} ${waiting.count === 1 ? 'is' : 'are'} busy, and tried again for ${minutes} more ${minutes === 1 ? 'minute' : 'minutes'}.`}
      </p>
    </div>
  )
}

/** Moves back the runs that have begun no step since. */
export function BackButton({ mover }: Pick<MoveDialogProps, 'mover'>) {
  const once = useOnce()
  return (
    <Button
      variant="default"
      loading={mover.working?.what === 'back'}
      disabled={mover.working !== null}
      onClick={() => void once(mover.moveBack)}
    >
      Move back
    </Button>
  )
}
