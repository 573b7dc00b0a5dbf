'use client'
import { ExpressionInput } from './expression-input'
import { JsonWidget } from './json-widget'
import { inputProps, textOrNothing, type WidgetProps } from './widget'

export function TemplateWidget(props: WidgetProps) {
  return <Template {...props} multiline={false} />
}

export function TemplateAreaWidget(props: WidgetProps) {
  return <Template {...props} multiline />
}

function Template({ multiline, ...props }: WidgetProps & { multiline: boolean }) {
  const { field, value, onChange } = props
  // The API can store an object or a list here; show it as JSON.
  if (typeof value === 'object' && value !== null) return <JsonWidget {...props} />
  return (
    <ExpressionInput
      {...inputProps(props)}
      name={field.label}
      multiline={multiline}
      value={value === undefined || value === null ? '' : String(value)}
      onChange={(next) => onChange(textOrNothing(next, field.required))}
    />
  )
}
