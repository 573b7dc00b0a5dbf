'use client'
import { Button } from '@mantine/core'
import { useRef } from 'react'
import { derivedName } from '../../../_fields/derived-name'
import { useScope } from './scope-context'
import { TextWidget } from './text-widget'
import type { WidgetProps } from './widget'

/** The name under which run data has a step's result; by a click, the one that the step's own name suggests. */
export function SaveAsWidget(props: WidgetProps) {
  const { value, siblings, onChange, readOnly } = props
  const { entries, taken: others } = useScope()
  const place = useRef<HTMLDivElement>(null)
  const called = typeof siblings.name === 'string' && siblings.name.trim() !== '' ? siblings.name : String(siblings.id)
  const taken = new Set([...others, ...entries.map(({ name }) => name.split(/[.[]/, 1)[0] ?? name)])
  const suggested = derivedName(called, taken, 'result')
  function use() {
    onChange(suggested)
    // The button is about to go.
    place.current?.querySelector('input')?.focus()
  }
  return (
    <div ref={place}>
      <TextWidget {...props} />
      {value === undefined && !readOnly && (
        <Button variant="subtle" size="compact-xs" ml={-8} mt={2} onClick={use}>
          Use {suggested}
        </Button>
      )}
    </div>
  )
}
