'use client'
import { Fieldset, Stack, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import { fieldElementId, type WidgetProps } from './widget'
import styles from './widgets.module.css'

/**
 * A field of several controls: its label and help above them, its problem below. No border of its own: its controls
 * have one.
 */
export function FieldFrame(props: Pick<WidgetProps, 'field' | 'problem'> & { gap?: 'xs' | 'sm'; children: ReactNode }) {
  const { field, problem, gap = 'xs', children } = props
  return (
    <Fieldset
      variant="unstyled"
      m={0}
      classNames={{ legend: styles.legend ?? '' }}
      legend={field.label}
      id={fieldElementId(field.name)}
    >
      <Stack gap={gap}>
        {field.help && (
          <Text size="xs" c="dimmed">
            {field.help}
          </Text>
        )}
        {children}
        {problem && (
          <Text size="xs" c="var(--mantine-color-error)">
            {problem}
          </Text>
        )}
      </Stack>
    </Fieldset>
  )
}
