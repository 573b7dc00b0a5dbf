'use client'
import { parseExpression } from '@/server/definition/expression/parse'
import { TemplateSyntaxError } from '@/server/definition/template'
import { JsonWidget } from './json-widget'
import { LazyRuleField } from './lazy-rule-field'
import { inputProps, type WidgetProps } from './widget'

/** One condition, as rules or as text. */
export function ExpressionWidget(props: WidgetProps) {
  const { field, value, onChange } = props
  if (value !== undefined && typeof value !== 'string') return <JsonWidget {...props} />
  const text = value ?? ''
  return (
    <LazyRuleField
      {...inputProps(props)}
      error={expressionProblem(text) ?? props.problem}
      name={field.label}
      of={field.name}
      multiline
      code
      value={text}
      // A required field stays in the step, so that the check reports its missing value.
      onChange={(next) => onChange(next === '' && !field.required ? undefined : next)}
    />
  )
}

/** The problem of an expression, as a sentence; null if it is valid or empty. */
export function expressionProblem(text: string): string | null {
  if (text.trim() === '') return null
  try {
    parseExpression(text)
    return null
  } catch (error) {
    if (error instanceof TemplateSyntaxError) return `${error.message}.`
    throw error
  }
}
