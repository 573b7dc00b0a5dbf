'use client'
import { Button, Group, Stack, Text, Textarea, TextInput } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import { CodeEditor } from '@/app/_ui/code-editor'
import type { JsonObject } from '@/server/definition/json'
import type { AskedAction, PauseSignal } from '@/server/definition/run'
import type { Fields } from '@/server/definition/schema'
import { Question } from '../../../inbox/answer/question'
import { StartForm } from '../../start-form'
import { firstTyped, readTyped } from '../../start-values'
import { isObject, readJson } from '../model/json-text'
import styles from './step-through.module.css'
import type { OutcomeProps } from './step-through-props'
import { RunOrReuse } from './step-through-run'
import type { Came } from './step-through-store'

/** The outcome of a call, a question, an event or a child run, as the user says. Nothing for a step that computes. */
export function Outcome(props: OutcomeProps) {
  const { next, onSay, busy } = props
  if (next.does === 'asks' && next.signal) {
    return (
      <section aria-label="Answer" className={styles.ask}>
        <Asked signal={next.signal} busy={busy} onAnswer={(answer) => onSay({ answer }, 'answered')} />
        <Otherwise {...props} />
      </section>
    )
  }
  if (next.does === 'waits for an event' && next.event) {
    const { name, key } = next.event
    return (
      <Stack gap="sm">
        <Text size="sm">
          Event {name}
          {key === null ? '' : `, key ${key}`}
        </Text>
        <Typed
          label="Data of the event"
          submit="Let it arrive"
          busy={busy}
          refuse={(value) => (isObject(value) ? null : 'The data of an event are an object: { … }')}
          onTyped={(value) => isObject(value) && onSay({ answer: { event: value } }, 'typed')}
        />
        <Otherwise {...props} />
      </Stack>
    )
  }
  if (next.does !== 'calls' && next.does !== 'runs') return null
  return (
    <Stack gap="sm">
      <RunOrReuse {...props} />
      <details className={styles.open}>
        <summary>Type its result</summary>
        <Typed
          label="Its result"
          submit="Use this result"
          busy={busy}
          onTyped={(output) => onSay({ output }, 'typed')}
        />
      </details>
      <Otherwise {...props} />
    </Stack>
  )
}

/** JSON that the user types. */
function Typed<T>(props: {
  label: string
  submit: string
  busy: boolean
  refuse?: (value: JsonObject[string]) => string | null
  onTyped: (value: JsonObject[string]) => T
}) {
  const { label, submit, busy, refuse, onTyped } = props
  const [text, setText] = useState('{}')
  const [problem, setProblem] = useState<string | null>(null)
  const send = () => {
    const read = readJson(text)
    const wrong = 'problem' in read ? read.problem : (refuse?.(read.value) ?? null)
    setProblem(wrong)
    if ('value' in read && wrong === null) onTyped(read.value)
  }
  return (
    <div>
      <CodeEditor label={label} language="json" value={text} onChange={setText} minHeight="4rem" maxHeight="12rem" />
      {problem !== null && (
        <Text size="sm" c="var(--mantine-color-error)" role="alert">
          {problem}
        </Text>
      )}
      <Button mt="xs" size="xs" variant="default" disabled={busy} onClick={send}>
        {submit}
      </Button>
    </div>
  )
}

/** Its time is up, or it fails. */
function Otherwise({ next, busy, onSay }: OutcomeProps) {
  const [code, setCode] = useState('FAILED')
  const [message, setMessage] = useState('It failed.')
  const late = { code: 'TIMED_OUT', message: 'It did not come in time.' }
  return (
    <>
      {next.expires && (
        <div>
          <Button size="xs" variant="default" disabled={busy} onClick={() => onSay({ failed: late }, 'typed')}>
            Let its time run out
          </Button>
        </div>
      )}
      <details className={styles.open}>
        <summary>Let it fail</summary>
        <Stack gap="xs" maw="24rem">
          <TextInput
            label="Error code"
            value={code}
            maxLength={100}
            onChange={(event) => setCode(event.currentTarget.value)}
          />
          <TextInput
            label="Message"
            value={message}
            maxLength={1_000}
            onChange={(event) => setMessage(event.currentTarget.value)}
          />
          <div>
            <Button
              size="xs"
              variant="default"
              disabled={busy || code.trim() === ''}
              onClick={() => onSay({ failed: { code: code.trim(), message } }, 'typed')}
            >
              Let it fail
            </Button>
          </div>
        </Stack>
      </details>
    </>
  )
}

type Answer = Extract<Came, { answer: object }>['answer']

/** A question as its people would see it, without a task. */
function Asked(props: { signal: PauseSignal; busy: boolean; onAnswer: (answer: Answer) => void }) {
  const { signal, busy, onAnswer } = props
  const [open, setOpen] = useState<string | null>(null)
  const [remark, setRemark] = useState('')
  const asks = signal.type === 'request_user_action' ? signal.remark : undefined
  const isWanting = asks === 'required' && remark.trim() === ''
  const choose = (action: AskedAction, data?: JsonObject) =>
    onAnswer({
      actionId: action.id,
      ...(data ? { data } : {}),
      ...(asks !== undefined && remark.trim() !== '' ? { remark } : {}),
    })
  return (
    <Stack gap="sm">
      {signal.title !== undefined && <Text fw={500}>{signal.title}</Text>}
      <Question signal={signal} />
      {signal.type === 'collect_inputs' ? (
        <Filled fields={signal.fields} busy={busy} submit="Answer" onFilled={(data) => onAnswer({ data })} />
      ) : (
        <>
          {asks !== undefined && (
            <Textarea
              label="Remark"
              withAsterisk={asks === 'required'}
              value={remark}
              maxLength={5_000}
              autosize
              onChange={(event) => setRemark(event.currentTarget.value)}
            />
          )}
          <Group gap="sm">
            {signal.actions.map((action) => (
              <Button
                key={action.id}
                variant={open === action.id ? 'light' : 'default'}
                disabled={busy || isWanting}
                {...(action.fields ? { 'aria-expanded': open === action.id } : {})}
                onClick={() => (action.fields ? setOpen(open === action.id ? null : action.id) : choose(action))}
              >
                {action.label}
              </Button>
            ))}
          </Group>
          {signal.actions.map((action) =>
            action.id === open && action.fields ? (
              <Filled
                key={action.id}
                fields={action.fields}
                busy={busy || isWanting}
                submit={action.label}
                onFilled={(data) => choose(action, data)}
              />
            ) : null,
          )}
        </>
      )}
    </Stack>
  )
}

function Filled(props: {
  fields: Fields
  busy: boolean
  submit: string
  onFilled: (data: JsonObject) => void
}): ReactNode {
  const { busy, submit, onFilled } = props
  const fields = withoutFiles(props.fields)
  const [typed, setTyped] = useState(() => firstTyped(fields))
  const [errors, setErrors] = useState<Record<string, string>>({})
  return (
    <form
      noValidate
      aria-label={submit}
      onSubmit={(event) => {
        event.preventDefault()
        const { data, errors } = readTyped(fields, typed)
        setErrors(errors)
        if (Object.keys(errors).length === 0) onFilled(data)
      }}
    >
      <Stack gap="sm" maw="30rem">
        <StartForm
          fields={fields}
          typed={typed}
          errors={errors}
          focus={false}
          types={false}
          onChange={(name, entry) => setTyped((before) => ({ ...before, [name]: entry }))}
        />
        <div>
          <Button type="submit" size="xs" disabled={busy}>
            {submit}
          </Button>
        </div>
      </Stack>
    </form>
  )
}

/** A stored file is named by its id: nothing is uploaded. */
export function withoutFiles(fields: Fields): Fields {
  return Object.fromEntries(
    Object.entries(fields).map(([name, field]) => [
      name,
      field.type === 'file' ? { ...field, type: 'string' as const, description: 'The id of a stored file' } : field,
    ]),
  )
}
