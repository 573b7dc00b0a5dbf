'use client'
import { NumberInput } from '@mantine/core'
import type { JsonObject } from '@/server/definition/json'
import { isObject } from '../model/json-text'
import { AssigneePicker } from './assignee-picker'
import { choicesOf } from './choice-rows'
import { ExpressionInput } from './expression-input'
import { FieldFrame } from './field-frame'
import { inputProps, type WidgetProps } from './widget'

/** A list of people, groups and roles, or one expression that returns it. */
export function AssigneesWidget(props: WidgetProps) {
  const { field, value, onChange } = props
  if (typeof value !== 'string') {
    const values = Array.isArray(value) ? value.filter((one) => typeof one === 'string') : []
    return (
      <AssigneePicker {...props} values={values} onValues={(next) => onChange(next.length === 0 ? undefined : next)} />
    )
  }
  return (
    <ExpressionInput
      {...inputProps(props)}
      name={field.label}
      value={value}
      onChange={(next) => onChange(next === '' ? undefined : next)}
    />
  )
}

/** A number for each entry of a list in another field of the step. */
export function CountsWidget(props: WidgetProps) {
  const { field, value, siblings, onChange, readOnly } = props
  const list = field.widget === 'counts' ? siblings[field.of] : undefined
  const numbers: JsonObject = isObject(value) ? value : {}
  const listed = choicesOf(list ?? []).filter(({ id }) => id !== '')
  const gone = Object.keys(numbers).filter((name) => !listed.some(({ id }) => id === name))
  const set = (id: string, number: number | undefined) => {
    const { [id]: _old, ...rest } = numbers
    const next = number === undefined ? rest : { ...rest, [id]: number }
    onChange(Object.keys(next).length === 0 ? undefined : next)
  }
  return (
    <FieldFrame {...props}>
      {[...listed, ...gone.map((id) => ({ id, label: id }))].map(({ id, label }) => (
        <NumberInput
          key={id}
          size="xs"
          label={label || id}
          placeholder="1"
          min={1}
          max={100}
          allowDecimal={false}
          clampBehavior="none"
          value={typeof numbers[id] === 'number' ? numbers[id] : ''}
          readOnly={readOnly}
          onChange={(next) => set(id, typeof next === 'number' ? next : undefined)}
        />
      ))}
    </FieldFrame>
  )
}
