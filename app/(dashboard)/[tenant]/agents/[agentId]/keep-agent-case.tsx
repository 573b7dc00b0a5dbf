'use client'
import { Textarea } from '@mantine/core'
import { useState } from 'react'
import { useTRPCClient } from '@/app/_trpc/client'
import type { KeepAgentCase as Body } from '@/server/agents/test-cases'
import type { JsonObject } from '@/server/definition/json'
import { fieldsOf } from '../../_test-cases/expected-text'
import { type Choice, FieldChoice, KeepDialog } from '../../_test-cases/keep-dialog'
import { useCaseChanges } from './use-case-changes'

type Expected = Body['expected']

const MAX_CHARACTERS = 60

/** Saves a thread as a test case. */
export function KeepAgentCase(props: {
  agentId: string
  threadId: string
  /** The thread's last answer: data for an agent with an output schema. */
  last: { message: string; data: JsonObject | null }
  onClose: () => void
}) {
  const { agentId: id, threadId, last, onClose } = props
  const { agents } = useTRPCClient()
  const changed = useCaseChanges(id)
  const fields = last.data === null ? [] : fieldsOf(last.data)
  const [chosen, setChosen] = useState<number[]>([])
  const [text, setText] = useState('')
  const expectedFields = fields.filter((_, index) => chosen.includes(index))
  const any: Choice<Expected> = {
    value: 'succeeds',
    label: last.data ? 'Any answer that matches the schema' : 'Any answer',
    expected: { kind: 'succeeds' },
  }
  const choices: Choice<Expected>[] = last.data
    ? [
        {
          value: 'fields',
          label: 'These fields',
          description: 'And the answer matches the schema',
          input: <FieldChoice fields={fields} chosen={chosen} onChange={setChosen} />,
          expected: chosen.length === 0 ? null : { kind: 'fields', fields: expectedFields },
          wanted: 'Tick a field',
        },
        any,
      ]
    : [
        {
          value: 'contains',
          label: 'An answer that contains a text',
          description: 'In upper or lower case',
          input: (
            <Textarea
              aria-label="Text"
              autosize
              maxLength={1_000}
              value={text}
              onChange={(event) => setText(event.currentTarget.value)}
            />
          ),
          expected: text.trim() === '' ? null : { kind: 'contains', text },
          wanted: 'Enter the text',
        },
        any,
      ]
  const { message } = last
  return (
    <KeepDialog
      onClose={onClose}
      name={message.length <= MAX_CHARACTERS ? message : `${message.slice(0, MAX_CHARACTERS)}…`}
      choices={choices}
      note="The agent answers your messages of this thread again, with real calls of its model and its tools: when you run the test case, and each time before the agent is published."
      keep={({ name, expected }) => changed(agents.keepCase.mutate({ id, body: { name, threadId, expected } }))}
    />
  )
}
