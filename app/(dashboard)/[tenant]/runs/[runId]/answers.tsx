'use client'
import { Button } from '@mantine/core'
import { CalendarX2, CircleCheck, CircleSlash } from 'lucide-react'
import dynamic from 'next/dynamic'
import { type ReactNode, useState } from 'react'
import { FieldsView } from '@/app/_ui/fields-view'
import { inPlace, loadPart } from '@/app/_ui/part'
import { Clock } from '@/app/_ui/time'
import type { ReadWholeValue } from '@/server/runs/whole-value'
import type { RunOverview } from '@/server/views/runs/overview'
import type { CutValue } from '@/server/views/value'
import styles from './answers.module.css'
import { saidWith } from './said-with'
import { plainText, votesCast } from './story'
import { ValueView } from './value-view'

/** Only for runs with sensitive fields. Also rendered on the server, so that nothing below moves. */
const RevealFields = dynamic(() => loadPart(() => import('./reveal-fields').then((module) => module.RevealFields)), {
  loading: inPlace(null),
})

/** The number of decisions shown initially, the latest ones. */
const DECISIONS = 4

/** A run's input, result and decisions: the facts users come for. */
export function RunAnswers({ run, onOpen }: { run: RunOverview; onOpen: (key: string) => void }) {
  const { runId } = run
  return (
    <div className={styles.cards}>
      <ValueCard
        title="Input"
        value={run.input}
        labels={run.labels}
        whole={{ of: 'run', runId, field: 'input' }}
        hidden={run.hidden.input}
      />
      {run.result && (
        <ValueCard
          title="Result"
          value={run.result}
          labels={run.labels}
          whole={{ of: 'run', runId, field: 'result' }}
          hidden={run.hidden.result}
        />
      )}
      {run.answers.length > 0 && <Decisions run={run} onOpen={onOpen} />}
    </div>
  )
}

function Card({ title, aside, children }: { title: string; aside?: ReactNode; children: ReactNode }) {
  return (
    <section className={styles.card} aria-label={title}>
      <header className={styles.head}>
        <h2>{title}</h2>
        {aside}
      </header>
      {children}
    </section>
  )
}

/** A value as labelled rows, or as JSON with its size, a copy and a download. */
function ValueCard(props: {
  title: string
  value: CutValue
  labels: RunOverview['labels']
  whole: ReadWholeValue & { of: 'run' }
  /** The names of its sensitive fields. */
  hidden: readonly string[]
}) {
  const { title, value, labels, whole, hidden } = props
  const plain = 'value' in value
  const [json, setJson] = useState(false)
  const empty = plain && (value.value === null || JSON.stringify(value.value) === '{}')
  return (
    <Card
      title={title}
      aside={
        plain &&
        !empty && (
          <Button
            variant="subtle"
            color="gray"
            size="compact-xs"
            aria-pressed={json}
            aria-label={`${title} as JSON`}
            onClick={() => setJson(!json)}
          >
            {json ? 'Fields' : 'JSON'}
          </Button>
        )
      }
    >
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard */}
      <section className={styles.body} aria-label={`${title} of the run`} tabIndex={0}>
        {empty ? (
          <p className={styles.note}>{title === 'Input' ? 'Started without input.' : 'Completed without a result.'}</p>
        ) : plain && !json ? (
          <FieldsView value={value.value} label={title} labels={labels} />
        ) : (
          <ValueView value={value} whole={whole} label={`${title} of the run`} />
        )}
        {hidden.length > 0 && <RevealFields runId={whole.runId} of={whole.field} names={hidden} labels={labels} />}
      </section>
    </Card>
  )
}

function Decisions({ run, onOpen }: { run: RunOverview; onOpen: (key: string) => void }) {
  const { answers } = run
  const filledIn = run.hidden.data.filter((name) => !run.hidden.input.includes(name))
  const [all, setAll] = useState(false)
  // In the order of the summary above.
  const shown = all ? answers : answers.slice(-DECISIONS)
  return (
    <Card title={titleOf(answers)}>
      <ul className={styles.decisions}>
        {shown.map((answer) => (
          <Decision key={answer.id} answer={answer} onOpen={onOpen} />
        ))}
      </ul>
      {shown.length < answers.length && (
        <button type="button" className={styles.link} onClick={() => setAll(true)}>
          Show all {answers.length}
        </button>
      )}
      {filledIn.length > 0 && <RevealFields runId={run.runId} of="data" names={filledIn} labels={run.labels} />}
    </Card>
  )
}

function titleOf(answers: RunOverview['answers']): string {
  if (!answers.some(({ ended }) => ended === 'answered')) return 'Tasks'
  return answers.every(({ kind }) => kind === 'request_user_action') ? 'Decisions' : 'Answers'
}

/** A task that ended without an answer: why, when, and who had voted. */
function Unanswered({ answer, children }: { answer: RunOverview['answers'][number]; children: ReactNode }) {
  const Icon = answer.ended === 'expired' ? CalendarX2 : CircleSlash
  return (
    <li className={styles.decision}>
      <span className={styles.decided}>
        <Icon size={15} aria-hidden data-unanswered />
        {children}
        <strong>{answer.ended === 'expired' ? 'Expired' : 'Withdrawn'}</strong>
      </span>
      <span className={styles.by}>
        without {answer.undecided?.votes?.length ? 'a decision' : 'an answer'}, <Clock at={answer.answeredAt} />
        {answer.undecided && votesCast(answer.undecided).map((said) => `; ${plainText(said)}`)}
        {saidWith({ ...answer, votes: true })}
      </span>
    </li>
  )
}

/** "Order of AX-210: Approve", with who answered, when, and the answer's data. */
function Decision({ answer, onOpen }: { answer: RunOverview['answers'][number]; onOpen: (key: string) => void }) {
  const { id, label, title, stepName, stepId, answeredBy, answeredAt } = answer
  const given = 'value' in answer.answer ? answer.answer.value : null
  const { data, actionId, actionValue } = (given ?? {}) as {
    data?: unknown
    actionId?: string
    actionValue?: string
  }
  const words = actionValue !== undefined && actionValue !== actionId ? actionValue : null
  const question = (
    <button type="button" className={styles.link} onClick={() => onOpen(pauseKey({ id, stepId }))}>
      {title ?? stepName}
    </button>
  )
  if (answer.ended !== 'answered') return <Unanswered answer={answer}>{question}</Unanswered>
  return (
    <li className={styles.decision}>
      <span className={styles.decided}>
        <CircleCheck size={15} aria-hidden />
        {question}
        {label !== null && <strong>{label}</strong>}
      </span>
      <span className={styles.by}>
        by {answer.votes ? answer.votes.names.join(', ') : (answeredBy?.name ?? 'someone')}
        {answer.votes && ` (${answer.votes.names.length} of ${answer.votes.cast} votes)`}, <Clock at={answeredAt} />
        {words !== null && `: “${words}”`}
        {saidWith(answer)}
      </span>
      {answer.votes?.filledIn.length ? (
        answer.votes.filledIn.map(({ by, name, data }) => (
          <div key={by}>
            <span className={styles.by}>{name} filled in</span>
            <FieldsView value={data} label={`Data ${name} entered for ${title ?? stepName}`} labels={answer.labels} />
          </div>
        ))
      ) : data === undefined ? null : (
        <FieldsView value={data} label={`Data entered for ${title ?? stepName}`} labels={answer.labels} />
      )}
      {given === null && <p className={styles.note}>The answer is large. Open the step to see it.</p>}
    </li>
  )
}

/** The visit that asked, by its key in the timeline. */
function pauseKey({ id, stepId }: { id: string; stepId: string }): string {
  return id === `main:${stepId}#1` ? stepId : id
}
