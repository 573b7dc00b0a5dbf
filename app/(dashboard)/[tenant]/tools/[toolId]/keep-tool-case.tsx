'use client'
import { useState } from 'react'
import { CodeBlock } from '@/app/_ui/code-block'
import type { JsonValue } from '@/server/definition/json'
import type { ToolCase } from '@/server/definition/test-case'
import type { KeepToolCase as Body } from '@/server/tools/test-cases'
import { fieldsOf } from '../../_test-cases/expected-text'
import { type Choice, FieldChoice, KeepDialog } from '../../_test-cases/keep-dialog'
import { pretty } from '../../_versioned/json'

type Expected = Body['expected']

/** A completed test and its outcome. */
export interface Tested {
  given: ToolCase
  ended: { data: JsonValue } | { failed: string }
}

/** Saves a test as a test case. By default it expects the present result. */
export function KeepToolCase(props: { tested: Tested; keep: (body: Body) => Promise<unknown>; onClose: () => void }) {
  const { tested, keep, onClose } = props
  const { given, ended } = tested
  const fields = 'data' in ended ? fieldsOf(ended.data) : []
  const [chosen, setChosen] = useState<number[]>([])
  const expectedFields = fields.filter((_, index) => chosen.includes(index))
  const choices: Choice<Expected>[] =
    'failed' in ended
      ? [
          { value: 'code', label: `Fails with ${ended.failed}`, expected: { kind: 'fails', code: ended.failed } },
          { value: 'fails', label: 'Fails with any code', expected: { kind: 'fails' } },
        ]
      : [
          {
            value: 'equals',
            label: 'Exactly this result',
            input: <CodeBlock label="Expected result" text={pretty(ended.data)} wrap />,
            expected: { kind: 'equals', value: ended.data },
          },
          ...(fields.length === 0
            ? []
            : [
                {
                  value: 'fields',
                  label: 'These fields',
                  description: 'For results with times or ids that differ each time',
                  input: <FieldChoice fields={fields} chosen={chosen} onChange={setChosen} />,
                  expected: chosen.length === 0 ? null : ({ kind: 'fields', fields: expectedFields } as const),
                  wanted: 'Tick a field',
                },
              ]),
          { value: 'succeeds', label: 'Succeeds with any result', expected: { kind: 'succeeds' } },
        ]
  const first = 'failed' in ended ? `Fails with ${ended.failed}` : argumentsText(given)
  return (
    <KeepDialog
      onClose={onClose}
      name={first}
      choices={choices}
      note="It calls the tool for real: when you run it, and each time before the tool is published."
      keep={({ name, expected }) => keep({ name, given, expected })}
    />
  )
}

const MAX_CHARACTERS = 60

/** The arguments in one line, as the default name. */
function argumentsText({ args }: ToolCase): string {
  const text = Object.entries(args)
    .map(([name, value]) => `${name} ${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join(', ')
  if (text === '') return 'Without arguments'
  return text.length <= MAX_CHARACTERS ? text : `${text.slice(0, MAX_CHARACTERS)}…`
}
