'use client'
import { Button, Fieldset, Group, SegmentedControl, Skeleton, Stack, Text } from '@mantine/core'
import { useMemo, useState } from 'react'
import type { JsonObject } from '@/server/definition/json'
import { ArgumentRows } from '../../../_arguments/argument-rows'
import { sharedNames } from '../../../_arguments/matches'
import { shapeOf } from '../../../_arguments/shape'
import { FormMeansProvider, type TextProps } from '../../../_arguments/texts'
import { useEditorActions } from '../actions/editor-actions'
import { isObject } from '../model/json-text'
import { inWords } from '../model/problem-words'
import { ArgumentsJson } from './arguments-json'
import { ExpressionInput } from './expression-input'
import { FixButton } from './fix-button'
import { JsonWidget } from './json-widget'
import { KeyValueWidget } from './key-value-widget'
import { useScope } from './scope-context'
import { useInputSchema } from './use-input-schema'
import { fieldElementId, type WidgetProps } from './widget'
import styles from './widgets.module.css'

/**
 * The arguments of the chosen tool, or the input of the chosen workflow, one row for each. Without a schema, names and
 * values.
 */
export function ArgumentsWidget(props: WidgetProps) {
  const { field, siblings, value } = props
  const { schema, pending } = useInputSchema(field, siblings)
  if (value !== undefined && !isObject(value)) return <JsonWidget {...props} />
  if (pending) return <Skeleton height={72} radius="md" />
  if (schema === null) return <KeyValueWidget {...props} />
  return <Arguments {...props} schema={schema} args={isObject(value) ? value : {}} />
}

function Arguments(props: WidgetProps & { args: JsonObject }) {
  const { field, schema, args, onChange, problems, readOnly } = props
  const { entries } = useScope()
  const { announce } = useEditorActions()
  const shape = useMemo(() => shapeOf({ ...schema, type: 'object' }, schema), [schema])
  const means = useMemo(() => ({ Text: ExpressionText, offers: entries }), [entries])
  const [asJson, setAsJson] = useState(false)
  const [invalid, setInvalid] = useState(false)
  // Rows can show every value of a closed schema, and invalid values beside it.
  const json = asJson && shape.open
  const noun = field.widget === 'arguments' ? field.resource : 'tool'
  const shared = readOnly ? {} : sharedNames(shape, args, entries)
  const count = Object.keys(shared).length
  const set = (next: JsonObject) => onChange(Object.keys(next).length === 0 && !field.required ? undefined : next)
  const within = (path: string) =>
    path === '' ? field.name : path.startsWith('[') ? field.name + path : `${field.name}.${path}`
  const at = (path: string) => problems.filter((problem) => problem.field === within(path))
  // A star marks required arguments; the list of problems reports missing ones.
  const told = (path: string) => at(path).filter(({ fault }) => fault !== 'missing')
  const problemAt = (path: string) =>
    told(path)
      .map(({ fault, message }) => (fault === 'unknown' ? `The ${noun} has no such field.` : inWords(message)))
      .join(' ') || null
  const whole = at('')
  const fixable = problems.filter((problem) => problem.field !== field.name)

  function mapAll() {
    set({ ...args, ...shared })
    announce(count === 1 ? '1 argument mapped.' : `${count} arguments mapped.`, true)
  }

  return (
    <Fieldset
      variant="unstyled"
      m={0}
      classNames={{ legend: styles.legend ?? '' }}
      legend={field.label}
      id={fieldElementId(field.name)}
    >
      <Stack gap="md">
        {(shape.open || count > 0) && (
          <Group justify="space-between" gap="xs">
            {shape.open && (
              <SegmentedControl
                size="xs"
                aria-label={`How to enter ${field.label.toLowerCase()}`}
                data={[
                  { value: 'rows', label: 'Fields' },
                  { value: 'json', label: 'JSON' },
                ]}
                value={json ? 'json' : 'rows'}
                disabled={json && invalid}
                onChange={(next) => setAsJson(next === 'json')}
              />
            )}
            {count > 0 && !json && (
              <Button variant="default" size="compact-sm" onClick={mapAll}>
                {count === 1 ? 'Map 1 of the same name' : `Map ${count} of the same name`}
              </Button>
            )}
          </Group>
        )}
        {json ? (
          <ArgumentsJson label={field.label} value={args} onChange={set} onInvalid={setInvalid} readOnly={readOnly} />
        ) : (
          <FormMeansProvider value={means}>
            <ArgumentRows
              path=""
              shape={shape}
              value={args}
              onChange={set}
              problemAt={problemAt}
              idOf={(path) => fieldElementId(within(path))}
              readOnly={readOnly}
            />
            {shape.fields.length === 0 && Object.keys(args).length === 0 && (
              <Text size="sm" c="dimmed">
                This {noun} takes no {field.label.toLowerCase()}.
              </Text>
            )}
          </FormMeansProvider>
        )}
        {whole.map(({ message }) => (
          <Text key={message} size="xs" c="var(--mantine-color-error)">
            {message}
          </Text>
        ))}
        {!readOnly && fixable.length > 0 && (
          <Group gap="xs">
            {fixable.map((problem) => (
              <FixButton key={`${problem.field} ${problem.message}`} problem={problem} />
            ))}
          </Group>
        )}
      </Stack>
    </Fieldset>
  )
}

function ExpressionText({ format: _format, ...props }: TextProps) {
  return <ExpressionInput {...props} />
}
