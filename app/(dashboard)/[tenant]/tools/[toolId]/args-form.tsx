'use client'
import { Stack } from '@mantine/core'
import { useMemo } from 'react'
import { errorOf } from '@/app/_trpc/client'
import { underField } from '@/app/_ui/sentence'
import type { JsonObject } from '@/server/definition/json'
import { ArgumentRows } from '../../_arguments/argument-rows'
import { shapeOf } from '../../_arguments/shape'

/** Arguments as a form built from their schema: the rows of the workflow editor, with plain values. */
export function ArgsForm(props: {
  schema: JsonObject
  value: JsonObject
  onChange: (value: JsonObject) => void
  /** The server's error, with paths such as `args.name`. */
  error: unknown
  readOnly: boolean
}) {
  const { schema, value, onChange, error, readOnly } = props
  const shape = useMemo(() => shapeOf({ ...schema, type: 'object' }, schema), [schema])
  const details = error ? errorOf(error).details : []
  const problemAt = (path: string) => {
    const found = details.find((detail) => detail.path === `args.${path}`)
    return found ? underField(found.message) : null
  }
  return (
    <Stack gap="md">
      <ArgumentRows
        path=""
        shape={shape}
        value={value}
        onChange={onChange}
        problemAt={problemAt}
        idOf={(path) => `argument-${path}`}
        readOnly={readOnly}
      />
    </Stack>
  )
}
