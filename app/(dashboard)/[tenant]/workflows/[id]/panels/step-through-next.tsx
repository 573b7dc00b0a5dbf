'use client'
import { Alert, Button, Group, NativeSelect, Text } from '@mantine/core'
import { CircleAlert, Flag } from 'lucide-react'
import { useState } from 'react'
import { CodeEditor } from '@/app/_ui/code-editor'
import { FailureCode } from '@/app/_ui/error-code'
import { JsonView } from '@/app/_ui/json-view'
import type { Definition } from '@/server/definition/schema'
import type { Next, Read } from '@/server/runs/step-through/next'
import type { Stood } from '@/server/runs/step-through/step-through'
import { exitLabel, exitsOf, stepLabel } from '../model/definition'
import { isObject, readJson } from '../model/json-text'
import styles from './step-through.module.css'
import { Outcome } from './step-through-outcome'
import type { NextProps } from './step-through-props'
import { type Came, came, changed, changedFields, type How, skipped } from './step-through-store'

const DOES: Record<Next['does'], string> = {
  computes: 'This step only computes.',
  calls: 'This step calls something outside the workflow. You say what it gives.',
  asks: 'This step asks people. Answer in their place; nobody is asked.',
  'waits for an event': 'This step waits for an event. You say what arrives.',
  waits: 'This step waits. Here it continues immediately.',
  runs: 'This step runs another workflow. You say what it gives.',
  forks: 'This step runs branches. Here they are walked one after the other.',
  ends: 'This step ends the run.',
  fails: 'This step ends the run as failed.',
}

/** The visit that has not begun: what it would do, with which values, and the outcome that the user gives it. */
export function NextVisit(props: NextProps) {
  const { definition, session, stood, onGo } = props
  const { next, end } = stood
  if (!next) return <End end={end} definition={definition} />
  const label = stepLabel(definition, next.step)
  const say = (what: Came, how: How) => onGo(came(session, next.at, what, how))
  return (
    <section className={styles.next} aria-label={`Next: ${label}`}>
      <div>
        <h3 className={styles.title}>{label}</h3>
        <Text size="sm" c="dimmed">
          {DOES[next.does]} {exitsText(next, props)}
        </Text>
      </div>
      {next.problem !== null && (
        <Text size="sm" c="var(--mantine-color-error)" role="alert">
          {next.problem}
        </Text>
      )}
      {next.fails ? (
        <Alert color="red" variant="light" icon={<CircleAlert size={18} aria-hidden />} title="It will fail here">
          <Text size="sm">
            {next.fails.message} (<FailureCode code={next.fails.code} />)
          </Text>
        </Alert>
      ) : (
        <Outcome {...props} next={next} onSay={say} />
      )}
      <Values reads={next.reads} definition={definition} />
      <details className={styles.open}>
        <summary>Its settings, filled in</summary>
        <JsonView value={next.config} label="Its settings, filled in" />
      </details>
      <ChangeData key={JSON.stringify(next.data)} {...props} next={next} />
      {next.branches.length > 0 && <Skips {...props} next={next} />}
    </section>
  )
}

function exitsText({ exits, step }: Next, { definition, catalog }: NextProps): string {
  const [only] = exits
  const labelOf = (exit: string) => exitLabel(exitsOf(definition, catalog, step), exit)
  if (!only) return 'Nothing follows it.'
  if (exits.length === 1) return `${stepLabel(definition, only.to)} follows it.`
  return `Its exits: ${exits.map(({ exit, to }) => `${labelOf(exit)} to ${stepLabel(definition, to)}`).join(', ')}.`
}

function End({ end, definition }: { end: Stood['end']; definition: Definition }) {
  if (!end) return null
  if ('failed' in end) {
    const { code, message, step } = end.failed
    return (
      <section className={styles.next} aria-label="The end">
        <Alert
          color="red"
          variant="light"
          icon={<CircleAlert size={18} aria-hidden />}
          title={step === null ? 'The run would fail here' : `The run would fail at ${stepLabel(definition, step)}`}
        >
          <Text size="sm">
            {message} (<FailureCode code={code} />)
          </Text>
        </Alert>
      </section>
    )
  }
  return (
    <section className={styles.next} aria-label="The end">
      <Group gap="xs">
        <Flag size={16} aria-hidden />
        <h3 className={styles.title}>The run would end here</h3>
      </Group>
      <JsonView value={end.result} label="Its result" />
    </section>
  )
}

function Values({ reads, definition }: { reads: readonly Read[]; definition: Definition }) {
  if (reads.length === 0)
    return (
      <Text size="sm" c="dimmed">
        It refers to no values.
      </Text>
    )
  return (
    <table className={styles.reads}>
      <caption className="visually-hidden">The values that it reads</caption>
      <thead>
        <tr>
          <th scope="col">It reads</th>
          <th scope="col">Value</th>
          <th scope="col">From</th>
        </tr>
      </thead>
      <tbody>
        {reads.map((read) => (
          <tr key={read.name}>
            <td>{read.name}</td>
            <td>
              {read.missing ? <span className={styles.note}>no value</span> : <code>{shortened(read.value)}</code>}
            </td>
            <td>{fromText(read, definition)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}

/** The whole value is in the data below. */
const MAX_CHARS = 300

function shortened(value: Read['value']): string {
  const text = JSON.stringify(value)
  return text.length > MAX_CHARS ? `${text.slice(0, MAX_CHARS)}…` : text
}

function fromText({ missing, from, of }: Read, definition: Definition): string {
  if (missing) return ''
  if (from === 'start') return 'START'
  const label = of === null ? '' : stepLabel(definition, of)
  return from === 'gave' ? label : `changed by you before ${label}`
}

/** The data at this place as JSON. Each difference from the shown data becomes a change. */
function ChangeData({ session, busy, next, onGo }: NextProps & { next: Next }) {
  const shown = JSON.stringify(next.data, null, 2)
  const [text, setText] = useState(shown)
  const [problem, setProblem] = useState<string | null>(null)
  const [opened, setOpened] = useState(false)
  const change = () => {
    const read = readJson(text)
    if ('problem' in read) return setProblem(read.problem)
    if (!isObject(read.value)) return setProblem('The data are an object: { … }')
    const fields = changedFields(next.data, read.value)
    if (isGone(fields)) return setProblem(`${fields.gone} cannot be removed. Set it to null instead.`)
    setProblem(null)
    onGo(changed(session, next.at, fields))
  }
  return (
    <details className={styles.open} onToggle={(event) => setOpened(event.currentTarget.open)}>
      <summary>Data here</summary>
      {opened && (
        <>
          <CodeEditor
            label="Data before this step"
            language="json"
            value={text}
            onChange={setText}
            minHeight="5rem"
            maxHeight="16rem"
          />
          {next.leftOut.length > 0 && (
            <Text size="sm" c="dimmed">
              Too large to be shown: {next.leftOut.join(', ')}.
            </Text>
          )}
          {problem !== null && (
            <Text size="sm" c="var(--mantine-color-error)" role="alert">
              {problem}
            </Text>
          )}
          <Button mt="xs" size="xs" variant="default" disabled={busy || text === shown} onClick={change}>
            Change these values
          </Button>
        </>
      )}
    </details>
  )
}

const isGone = (fields: object): fields is { gone: string } => 'gone' in fields && typeof fields.gone === 'string'

const END = ''

/** Leaves out the rest of a branch, and those up to another one. */
function Skips({ definition, session, stood, busy, next, onGo }: NextProps & { next: Next }) {
  return next.branches.map(({ scope, step, key, keys }) => {
    const at = keys.indexOf(key)
    const later = keys.slice(at + 1)
    const isItem = /^\d+$/.test(key)
    const words = (one: string) => (isItem ? `item ${Number(one) + 1}` : `branch ${one}`)
    return (
      <NativeSelect
        key={scope}
        label={`${stepLabel(definition, step)}: ${words(key)}, ${at + 1} of ${keys.length}`}
        description={`The rest of this ${isItem ? 'item' : 'branch'} and those between are left out.`}
        disabled={busy}
        value={key}
        data={[
          { value: key, label: `Stay in ${words(key)}` },
          ...later.map((one) => ({ value: one, label: `Skip to ${words(one)}` })),
          { value: END, label: 'Skip to what follows' },
        ]}
        onChange={({ currentTarget: { value } }) => {
          if (value !== key) onGo(skipped(session, stood, scope, key, value === END ? null : value))
        }}
      />
    )
  })
}
