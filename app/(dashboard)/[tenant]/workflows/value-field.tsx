'use client'
import { Button, Skeleton, Textarea } from '@mantine/core'
import dynamic from 'next/dynamic'
import { useState } from 'react'
import { inPlace, loadPart } from '@/app/_ui/part'
import { isRequired } from '@/server/definition/fields'
import type { Field } from '@/server/definition/schema'
import { readRows } from './start-values'

/** The approximate height of an empty list or object in rows, in pixels. */
const ROWS_HEIGHT = 72

const ValueRows = dynamic(() => loadPart(() => import('./value-rows').then((module) => module.ValueRows)), {
  loading: inPlace(<Skeleton height={ROWS_HEIGHT} radius="md" />),
})

/**
 * A field whose value is JSON: an object or a list as rows, or as text if the user prefers that or rows cannot show it;
 * any other value as text.
 * @param props.text the value as JSON; empty without one
 */
export function ValueField(props: {
  label: string
  description: string | undefined
  field: Field
  text: string
  error: string | undefined
  onChange: (text: string) => void
}) {
  const { label, field, text, error, onChange } = props
  const required = isRequired(field)
  const [asJson, setAsJson] = useState(false)
  const rows = readRows(field, text)
  if (rows && !asJson) {
    return (
      <ValueRows
        label={label}
        field={field}
        required={required}
        value={rows.value}
        error={error}
        onChange={(next) => onChange(next === undefined ? '' : JSON.stringify(next, null, 2))}
        onJson={() => setAsJson(true)}
      />
    )
  }
  return (
    <div>
      <Textarea
        label={label}
        description={props.description}
        error={error}
        withAsterisk={required}
        autosize
        minRows={3}
        maxRows={14}
        spellCheck={false}
        placeholder={field.type === 'array' ? '[]' : field.type === 'object' ? '{}' : 'text or JSON'}
        styles={{ input: { fontFamily: 'var(--mantine-font-family-monospace)', fontSize: '0.8125rem' } }}
        value={text}
        onChange={(event) => onChange(event.currentTarget.value)}
      />
      {rows && (
        <Button variant="subtle" size="compact-xs" ml={-8} mt={2} onClick={() => setAsJson(false)}>
          Enter it in rows
        </Button>
      )}
    </div>
  )
}
