'use client'
import { NumberInput, Select, Switch } from '@mantine/core'
import { inputProps, type WidgetProps } from './widget'

export function NumberWidget(props: WidgetProps) {
  const { value, onChange, schema } = props
  return (
    <NumberInput
      {...inputProps(props)}
      value={typeof value === 'number' ? value : ''}
      onChange={(next) => onChange(typeof next === 'number' ? next : undefined)}
      {...(typeof schema.minimum === 'number' ? { min: schema.minimum } : {})}
      {...(typeof schema.maximum === 'number' ? { max: schema.maximum } : {})}
      allowDecimal={schema.type !== 'integer'}
      clampBehavior="none"
    />
  )
}

export function SwitchWidget(props: WidgetProps) {
  const { field, value, onChange, readOnly } = props
  const { id, label, description, error } = inputProps(props)
  return (
    <Switch
      id={id}
      label={label}
      description={description}
      error={error}
      disabled={readOnly}
      checked={value === true}
      onChange={(event) => onChange(event.currentTarget.checked ? true : field.required ? false : undefined)}
    />
  )
}

export function SelectWidget(props: WidgetProps) {
  const { field, value, onChange } = props
  if (field.widget !== 'select') return null
  return (
    <Select
      {...inputProps(props)}
      data={field.options}
      value={typeof value === 'string' || typeof value === 'number' ? String(value) : null}
      onChange={(next) => onChange(next ?? undefined)}
      clearable={!field.required}
    />
  )
}
