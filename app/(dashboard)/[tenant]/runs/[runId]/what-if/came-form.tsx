'use client'
import { Button, Radio, SegmentedControl, Stack, Textarea, TextInput } from '@mantine/core'
import { useState } from 'react'
import { isJsonObject, type JsonObject, type JsonValue } from '@/server/definition/json'
import type { PauseSignal } from '@/server/definition/run'
import type { Words } from '@/server/definition/verdict-text'
import type { WalkedVisit } from '@/server/runs/what-if/ways'
import { readJson } from '../../../workflows/[id]/model/json-text'
import type { Came } from './changes'
import styles from './what-if.module.css'

interface Props {
  name: string
  type: string
  words: Words
  real: WalkedVisit['came'] | undefined
  signal: PauseSignal | undefined
  changed: Came | null
  onChange: (came: Came | null) => void
}

/** Changes a decision, an answer, an event, or what a call or another run gave. */
export function CameForm(props: Props) {
  const { signal, changed, onChange } = props
  const title = signal ? 'Change the answer' : 'Change what it gave'
  return (
    <section className={styles.form} aria-label={title}>
      <h3 className={styles.subheading}>{title}</h3>
      {signal?.type === 'request_user_action' ? <Decision {...props} signal={signal} /> : <Gave {...props} />}
      {changed && (
        <Button variant="subtle" color="gray" size="compact-sm" onClick={() => onChange(null)}>
          Undo this change
        </Button>
      )}
    </section>
  )
}

type Deciding = Extract<PauseSignal, { type: 'request_user_action' }>

function Decision({ signal, real, changed, onChange }: Props & { signal: Deciding }) {
  const said = changed && 'answer' in changed && 'actionId' in changed.answer ? changed.answer : null
  const was = real && 'answer' in real && isJsonObject(real.answer) ? real.answer : {}
  const chosen = said?.actionId ?? (typeof was.actionId === 'string' ? was.actionId : null)
  const action = signal.actions.find(({ id }) => id === chosen)
  const data = said?.data ?? (isJsonObject(was.data) ? was.data : {})
  const decide = (actionId: string, data?: JsonObject) =>
    onChange({ answer: { actionId, ...(data && Object.keys(data).length > 0 ? { data } : {}) } } as Came)
  return (
    <>
      <Radio.Group label="Decision" value={chosen} onChange={(actionId) => decide(actionId)}>
        <Stack gap={6} mt={4}>
          {signal.actions.map(({ id, label }) => (
            <Radio key={id} value={id} label={label} />
          ))}
        </Stack>
      </Radio.Group>
      {action?.fields && chosen && (
        <JsonArea
          key={chosen}
          label={`Fields of ${action.label}`}
          value={data as JsonObject}
          onChange={(value) => isJsonObject(value) && decide(chosen, value)}
        />
      )}
    </>
  )
}

const KINDS = [
  { value: 'gives', label: 'It gives' },
  { value: 'fails', label: 'It fails' },
]

function Gave({ type, signal, real, changed, onChange }: Props) {
  const [fails, setFails] = useState((changed ?? real) ? 'failed' in ((changed ?? real) as object) : false)
  const gives = (value: JsonValue): Came => {
    if (signal) return { answer: { data: value } } as Came
    return (type === 'wait-for-event' ? { answer: { event: value } } : { output: value }) as Came
  }
  return (
    <>
      {!signal && type !== 'wait-for-event' && (
        <SegmentedControl
          aria-label="What comes of it"
          size="xs"
          data={KINDS}
          value={fails ? 'fails' : 'gives'}
          onChange={(value) => {
            setFails(value === 'fails')
            onChange(value === 'fails' ? { failed: { code: 'STEP_FAILED', message: 'It failed' } } : null)
          }}
        />
      )}
      {fails ? (
        <Failure changed={changed} real={real} onChange={onChange} />
      ) : (
        <JsonArea
          label={signal ? 'Answer' : type === 'wait-for-event' ? 'Data of the event' : 'Result'}
          value={givenIn(changed) ?? givenIn(real) ?? {}}
          onChange={(value) => onChange(gives(value))}
        />
      )}
    </>
  )
}

function Failure({ changed, real, onChange }: Pick<Props, 'changed' | 'real' | 'onChange'>) {
  const of = changed && 'failed' in changed ? changed.failed : real && 'failed' in real ? real.failed : null
  const { code = 'STEP_FAILED', message = 'It failed' } = of ?? {}
  const set = (part: object) => onChange({ failed: { code, message, ...part } })
  return (
    <>
      <TextInput label="Code" value={code} onChange={({ currentTarget }) => set({ code: currentTarget.value })} />
      <TextInput
        label="Message"
        value={message}
        onChange={({ currentTarget }) => set({ message: currentTarget.value })}
      />
    </>
  )
}

/** The part of an answer that a person types. */
function givenIn(came: Came | WalkedVisit['came'] | null | undefined): JsonValue | null {
  if (!came || 'failed' in came) return null
  if ('output' in came) return came.output as JsonValue
  const answer = came.answer as JsonObject
  if (isJsonObject(answer.event)) return 'receivedAt' in answer.event ? (answer.event.data ?? {}) : answer.event
  if (isJsonObject(answer.child)) return answer.child.result ?? {}
  return answer.data ?? {}
}

/** JSON that counts as soon as it can be read. */
function JsonArea(props: { label: string; value: JsonValue; onChange: (value: JsonValue) => void }) {
  const [text, setText] = useState(() => JSON.stringify(props.value, null, 2))
  const isJson = 'value' in readJson(text)
  return (
    <Textarea
      label={props.label}
      autosize
      minRows={3}
      maxRows={14}
      spellCheck={false}
      classNames={{ input: styles.json ?? '' }}
      value={text}
      error={isJson ? undefined : 'This is not JSON yet. Texts stand in double quotes.'}
      onChange={({ currentTarget }) => {
        setText(currentTarget.value)
        const read = readJson(currentTarget.value)
        if ('value' in read) props.onChange(read.value)
      }}
    />
  )
}
