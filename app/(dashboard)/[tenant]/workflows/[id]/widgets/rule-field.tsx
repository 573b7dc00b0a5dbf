'use client'
import { Stack, Text } from '@mantine/core'
import { type ComponentProps, useEffect, useRef, useState } from 'react'
import { TextButton } from '@/app/_ui/text-button'
import { readRule } from '../model/rule'
import { ExpressionInput } from './expression-input'
import { Gives } from './gives'
import { RuleBuilder } from './rule-builder'

const HOW = 'Compare fields with ==, !=, <, >, in; combine with &&, ||, !.'

/**
 * A condition as rows of field, operator and value, or as text. Other expressions stay text; switching changes
 * nothing that is stored.
 */
export function RuleField(props: ComponentProps<typeof ExpressionInput>) {
  const { id, value, name, label, description, error, onChange, of, readOnly } = props
  const rule = readRule(value)
  // Text stays text while it is typed, even once rules could say it.
  const [asText, setAsText] = useState(rule === null)
  if (rule === null && !asText) setAsText(true)
  const whole = useRef<HTMLDivElement>(null)
  const switched = useRef(false)
  // The link that was pressed is gone.
  useEffect(() => {
    if (!switched.current) return
    switched.current = false
    whole.current?.querySelector<HTMLElement>(asText ? 'textarea, input' : 'input, button')?.focus()
  }, [asText])
  const show = (text: boolean) => {
    switched.current = true
    setAsText(text)
  }
  if (asText || rule === null) {
    return (
      <Stack gap={4} ref={whole}>
        <ExpressionInput {...props} description={description ?? HOW} />
        {rule === null ? (
          value.trim() !== '' && (
            <Text size="xs" c="dimmed">
              This condition can only be written as text.
            </Text>
          )
        ) : (
          <TextButton onClick={() => show(false)}>Show as rules</TextButton>
        )}
      </Stack>
    )
  }
  return (
    <Stack gap={6} ref={whole} role="group" aria-label={name} {...(id === undefined ? {} : { id })}>
      {label && (
        <Text size="sm" fw={500} component="span">
          {label}
        </Text>
      )}
      {description && (
        <Text size="xs" c="dimmed">
          {description}
        </Text>
      )}
      <RuleBuilder name={name} of={of} text={value} rule={rule} onChange={onChange} readOnly={readOnly} />
      <Gives text={value} code />
      {error && (
        <Text size="xs" c="var(--mantine-color-error)">
          {error}
        </Text>
      )}
      <TextButton onClick={() => show(true)}>Write as text</TextButton>
    </Stack>
  )
}
