'use client'
import { Button } from '@mantine/core'
import { WandSparkles } from 'lucide-react'
import { notifyUndo } from '@/app/_ui/notify-undo'
import type { JsonObject, JsonValue } from '@/server/definition/json'
import { inferSchema } from './schema-samples'

/** Makes the schema of an answer that of the draft. */
export function AnswerSchema(props: {
  answer: JsonValue
  /** Whether later answers may have further fields. */
  open?: boolean
  before: JsonObject | null
  onChange: (schema: JsonObject | null) => void
}) {
  const { answer, open = false, before, onChange } = props
  return (
    <div>
      <Button
        variant="default"
        size="compact-sm"
        leftSection={<WandSparkles size={14} aria-hidden />}
        onClick={() => {
          onChange(inferSchema(answer, { open }))
          notifyUndo('From now on, answers must have the fields of this one.', () => onChange(before))
        }}
      >
        Use this answer as the schema
      </Button>
    </div>
  )
}
