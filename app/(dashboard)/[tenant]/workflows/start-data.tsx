'use client'
import { Button, Text, Textarea } from '@mantine/core'
import type { JsonObject } from '@/server/definition/json'
import type { Field, Fields } from '@/server/definition/schema'
import { inFields, inJson, type StartDraft } from './start-draft'
import { StartForm } from './start-form'

/** A workflow's START fields as inputs or, if somebody prefers that or they cannot show all of it, as JSON. */
export function StartData(props: {
  fields: Fields
  /** The values that the fields have already; null for the defaults. */
  before: JsonObject | null
  draft: StartDraft
  onChange: (draft: StartDraft) => void
  errors: Record<string, string>
  /** What is wrong with the JSON. */
  problem: string | null
  hidden?: ReadonlySet<string>
  focus?: boolean
  fileNote?: (field: Field, given: boolean) => string
  keptFile?: string
}) {
  const { fields, before, draft, onChange, errors, problem, hidden, fileNote, keptFile, focus = true } = props
  if (draft.json === null && Object.keys(fields).length === 0) {
    return (
      <Text size="sm" c="dimmed">
        This workflow has no START fields to fill in.
      </Text>
    )
  }
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
          mt="xs"
          aria-label="Enter all fields as JSON"
          onClick={() => onChange(inJson(fields, draft, before))}
        >
          Enter JSON
        </Button>
      </div>
    )
  }
  const asFields = inFields(fields, draft)
  return (
    <div>
      <Textarea
        label="START fields"
        description="As JSON"
        autosize
        minRows={6}
        maxRows={20}
        spellCheck={false}
        classNames={{ input: 'mono' }}
        error={problem ?? (Object.values(errors).join(' ') || undefined)}
        value={draft.json}
        onChange={(event) => onChange({ ...draft, json: event.currentTarget.value })}
        data-autofocus={focus || undefined}
      />
      {asFields && (
        <Button variant="subtle" size="compact-xs" mt={2} onClick={() => onChange(asFields)}>
          Enter it in rows
        </Button>
      )}
    </div>
  )
}
