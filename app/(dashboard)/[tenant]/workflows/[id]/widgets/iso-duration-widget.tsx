'use client'
import { ActionIcon, Stack, Tooltip } from '@mantine/core'
import { Braces } from 'lucide-react'
import { useState } from 'react'
import { IsoDurationInput } from '@/app/_ui/duration-input'
import { readIso } from '@/app/_ui/iso-duration'
import { TextButton } from '@/app/_ui/text-button'
import { TemplateWidget } from './template-widget'
import { fieldElementId, type WidgetProps } from './widget'

/**
 * A duration stored in ISO 8601, as a number and unit. Others, such as `P1DT2H` or a value of run data, are text, and
 * text stays text until it can be read.
 */
export function IsoDurationWidget(props: WidgetProps) {
  const { field, value, onChange, problem, readOnly } = props
  const readable = value === undefined || (typeof value === 'string' && readIso(value) !== null)
  // Text stays text while it is typed, even once it can be read.
  const [asText, setAsText] = useState(!readable)
  if (!readable && !asText) setAsText(true)
  if (asText || !readable) {
    return (
      <Stack gap={4}>
        <TemplateWidget {...props} />
        {readable && !readOnly && <TextButton onClick={() => setAsText(false)}>Use a number and unit</TextButton>}
      </Stack>
    )
  }
  const unset = readIso(field.placeholder ?? '')?.unit
  return (
    <IsoDurationInput
      id={fieldElementId(field.name)}
      label={field.label}
      help={field.help}
      withAsterisk={field.required}
      value={value}
      onChange={onChange}
      problem={problem}
      readOnly={readOnly}
      {...(unset === undefined ? {} : { unset })}
      beside={
        readOnly ? null : (
          <Tooltip label="Use a value of run data, or write the duration as text">
            <ActionIcon
              variant="subtle"
              color="gray"
              aria-label={`Write ${field.label} as text`}
              onClick={() => setAsText(true)}
            >
              <Braces size={16} aria-hidden />
            </ActionIcon>
          </Tooltip>
        )
      }
    />
  )
}
