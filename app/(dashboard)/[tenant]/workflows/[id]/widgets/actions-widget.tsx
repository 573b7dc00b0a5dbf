'use client'
import { Button, Fieldset, Stack, Text, TextInput } from '@mantine/core'
import { Plus } from 'lucide-react'
import type { JsonValue } from '@/server/definition/json'
import { isObject } from '../model/json-text'
import { RowTools } from './row-tools'
import { newRow, useRows } from './use-rows'
import { fieldElementId, type WidgetProps } from './widget'
import styles from './widgets.module.css'

interface Action {
  id: string
  label: string
}

/** The buttons of a decision: the label, and the id stored in run data. */
export function ActionsWidget({ field, value, onChange, problem, readOnly }: WidgetProps) {
  const { rows, setRows } = useRows<Action, JsonValue>({
    value: Array.isArray(value) ? value : [],
    read: (list) => (Array.isArray(list) ? list.flatMap((item) => (isObject(item) ? [actionOf(item)] : [])) : []),
    write: (list) => list.map(({ id, label }) => ({ id, label })),
    onChange,
  })
  const change = (key: number, part: Partial<Action>) =>
    setRows(rows.map((row) => (row.key === key ? { ...row, ...part } : row)))
  return (
    <Fieldset legend={field.label} id={fieldElementId(field.name)}>
      <Stack gap="xs">
        {field.help && (
          <Text size="xs" c="dimmed">
            {field.help}
          </Text>
        )}
        {rows.map((row, index) => {
          const rowLabel = row.label || row.id || `action ${index + 1}`
          return (
            <div key={row.key} className={styles.row}>
              <div className={styles.pair}>
                <TextInput
                  size="xs"
                  aria-label={`Label of ${rowLabel}`}
                  placeholder="Label"
                  value={row.label}
                  readOnly={readOnly}
                  onChange={(event) => {
                    const label = event.currentTarget.value
                    // The id follows the label until somebody changes it.
                    change(row.key, idOf(row.label) === row.id ? { label, id: idOf(label) } : { label })
                  }}
                />
                <TextInput
                  size="xs"
                  aria-label={`Id of ${rowLabel}`}
                  placeholder="id"
                  value={row.id}
                  error={
                    row.id !== '' && rows.some(({ id, key }) => id === row.id && key !== row.key)
                      ? 'Another action has this id'
                      : null
                  }
                  readOnly={readOnly}
                  onChange={(event) => change(row.key, { id: event.currentTarget.value })}
                />
              </div>
              {!readOnly && <RowTools rowLabel={rowLabel} rows={rows} index={index} setRows={setRows} />}
            </div>
          )
        })}
        {!readOnly && (
          <Button
            variant="default"
            size="compact-sm"
            className={styles.add ?? ''}
            leftSection={<Plus size={14} aria-hidden />}
            onClick={() => setRows([...rows, newRow<Action>({ id: '', label: '' })])}
          >
            Add action
          </Button>
        )}
        {problem && (
          <Text size="xs" c="var(--mantine-color-error)">
            {problem}
          </Text>
        )}
      </Stack>
    </Fieldset>
  )
}

function actionOf(item: Record<string, JsonValue>): Action {
  const { id, label } = item
  return { id: typeof id === 'string' ? id : '', label: typeof label === 'string' ? label : '' }
}

function idOf(label: string): string {
  return label
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '_')
    .replace(/^_+|_+$/g, '')
}
