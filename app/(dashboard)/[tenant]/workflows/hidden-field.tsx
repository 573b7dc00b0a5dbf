import { Button, Input, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import { labelOf } from '@/server/definition/declared'
import type { Field } from '@/server/definition/schema'
import { HIDDEN } from '@/server/definition/sensitive'
import type { Entry } from './start-values'

/**
 * A field whose value the screen hides: preserved, unless the user enters another.
 * @param props.children the input for another value
 */
export function HiddenField(props: {
  name: string
  field: Field
  value: Entry
  error: string | undefined
  onChange: (value: Entry) => void
  children: ReactNode
}) {
  const { name, field, value, error, onChange, children } = props
  const label = labelOf(name, field)
  const kept = value === HIDDEN
  const empty = field.type === 'boolean' && !field.options ? false : ''
  return (
    <div>
      {kept ? (
        <Input.Wrapper label={label} labelElement="div" description={field.description} error={error}>
          <Text size="sm">The value is hidden, and stays as it is.</Text>
        </Input.Wrapper>
      ) : (
        children
      )}
      <Button
        variant="subtle"
        size="compact-xs"
        mt={2}
        aria-label={kept ? `Replace ${label}` : `Keep the hidden value of ${label}`}
        onClick={() => onChange(kept ? empty : HIDDEN)}
      >
        {kept ? 'Replace' : 'Keep the hidden value'}
      </Button>
    </div>
  )
}
