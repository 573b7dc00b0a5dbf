'use client'
import { Text } from '@mantine/core'
import type { JsonObject } from '@/server/definition/json'
import type { Field, Fields } from '@/server/definition/schema'
import { DataFields } from './data-fields'
import { inFields, inJson, type StartDraft } from './start-draft'

/** A workflow's START fields as inputs or, if the user prefers that or inputs cannot show everything, as JSON. */
export function StartData(props: {
  fields: Fields
  /** The fields' existing values; null for the defaults. */
  before: JsonObject | null
  draft: StartDraft
  onChange: (draft: StartDraft) => void
  errors: Record<string, string>
  /** The problem of the JSON. */
  problem: string | null
  hidden?: ReadonlySet<string>
  focus?: boolean
  fileNote?: (field: Field, given: boolean) => string
  keptFile?: string
}) {
  const { before, ...shown } = props
  const { fields, draft } = props
  if (draft.json === null && Object.keys(fields).length === 0) {
    return (
      <Text size="sm" c="dimmed">
        This workflow has no START fields to fill in.
      </Text>
    )
  }
  return (
    <DataFields
      {...shown}
      words={WORDS}
      asJson={() => inJson(fields, draft, before)}
      asFields={inFields(fields, draft)}
    />
  )
}

const WORDS = { enter: 'Enter all fields as JSON', label: 'START fields', description: 'As JSON' }
