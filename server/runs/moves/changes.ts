import { canonicalJson, type JsonValue } from '../../definition/json'
import type { PauseSignal } from '../../definition/run'
import type { Asked } from '../../steps/define-step'

/** What a task asks differently, by the parts of its question. */
export const QUESTION_PARTS = [
  'fields',
  'actions',
  'needs',
  'remark',
  'noSelfApproval',
  'title',
  'message',
  'show',
  'assignees',
  'dueAt',
  'reminders',
  'expiresAt',
  'event',
] as const

export type QuestionPart = (typeof QUESTION_PARTS)[number]

/** The parts in which two questions of a step differ; none if they ask the same. */
export function changesOf(before: Asked, next: Asked): QuestionPart[] {
  const [old, now] = [partsOf(before), partsOf(next)]
  return QUESTION_PARTS.filter((part) => text(old[part]) !== text(now[part]))
}

type Parts = Partial<Record<QuestionPart, JsonValue>>

function partsOf({ signal, dueAt, event }: Asked): Parts {
  const expiresAt = dueAt ? { expiresAt: dueAt.toISOString() } : {}
  const waits = event ? { event: { name: event.name, key: event.key, rules: { ...event.rules } } } : {}
  return { ...(signal ? signalParts(signal) : {}), ...expiresAt, ...waits }
}

function signalParts({ type: _type, stepId: _stepId, ...parts }: PauseSignal): Parts {
  return parts as Parts
}

/** Fields and actions are asked in their order, but written in any. */
function text(value: JsonValue | undefined): string {
  return value === undefined ? '' : canonicalJson(value)
}
