'use client'
import { Button, Textarea } from '@mantine/core'
import type { Field, Fields } from '@/server/definition/schema'
import type { StartDraft } from './start-draft'
import { StartForm } from './start-form'

/** Fields as inputs or, if the user prefers that or inputs cannot show everything, as JSON. */
export function DataFields(props: {
  fields: Fields
  draft: StartDraft
  onChange: (draft: StartDraft) => void
  errors: Record<string, string>
  /** The problem of the JSON. */
  problem: string | null
  /** Describes the JSON. */
  words: { enter: string; label: string; description: string }
  asJson: () => StartDraft
  /** Null while inputs are shown, and if inputs cannot show all of the JSON. */
  asFields: StartDraft | null
  hidden?: ReadonlySet<string> | undefined
  focus?: boolean | undefined
  fileNote?: ((field: Field, given: boolean) => string) | undefined
  keptFile?: string | undefined
}) {
  const { fields, draft, onChange, errors, problem, words, asJson, asFields, hidden, fileNote, keptFile } = props
  const { focus = true } = props
  if (draft.json === null) {
    return (
      <div>
        <StartForm
          fields={fields}
          typed={draft.typed}
          errors={errors}
          hidden={hidden}
          fileNote={fileNote}
          keptFile={keptFile}
          focus={focus}
          onChange={(name, value) => onChange({ ...draft, typed: { ...draft.typed, [name]: value } })}
        />
        <Button
          variant="subtle"
          size="compact-xs"
          ml={-8}
          mt="xs"
          aria-label={words.enter}
          onClick={() => onChange(asJson())}
        >
          Enter JSON
        </Button>
      </div>
    )
  }
  return (
    <div>
      <Textarea
        label={words.label}
        description={words.description}
        autosize
        minRows={6}
        maxRows={20}
        spellCheck={false}
        classNames={{ input: 'mono' }}
        error={
          problem ??
          (Object.entries(errors)
            .map(([name, error]) => `${name}: ${error}`)
            .join('; ') ||
            undefined)
        }
        value={draft.json}
        onChange={(event) => onChange({ ...draft, json: event.currentTarget.value })}
        data-autofocus={focus || undefined}
      />
      {asFields && (
        <Button variant="subtle" size="compact-xs" ml={-8} mt={2} onClick={() => onChange(asFields)}>
          Enter it in rows
        </Button>
      )}
    </div>
  )
}
