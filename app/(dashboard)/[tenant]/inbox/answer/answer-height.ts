import type { PauseSignal } from '@/server/definition/run'
import type { Field } from '@/server/definition/schema'
import { type Widget, widgetOf } from './answer-values'

const BUTTONS = 36
const GAP = 16
const LABEL = 25
const DESCRIPTION = 18
const INPUT = 36
/** Two rows of radio buttons. */
const YES_NO = 58
const LONG_TEXT = 98
/** An empty object or list in rows, with its label. */
const ROWS = 72

/** A form's approximate height in pixels, reserved while it loads, so that nothing below moves. */
export function answerHeight(signal: PauseSignal): number {
  if (signal.type !== 'collect_inputs') return BUTTONS + GAP + INPUT
  const fields = Object.values(signal.fields as unknown as Record<string, Field>)
  return fields.reduce((height, field) => height + fieldHeight(field) + GAP, BUTTONS)
}

function fieldHeight(field: Field): number {
  return LABEL + (field.description ? DESCRIPTION : 0) + inputHeight(widgetOf(field))
}

function inputHeight(widget: Widget): number {
  if (widget === 'json') return ROWS
  if (widget === 'long-text') return LONG_TEXT
  return widget === 'yes-no' ? YES_NO : INPUT
}
