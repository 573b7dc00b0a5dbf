import { isFileField } from '../definition/file-fields'
import type { GivenAnswer, PauseAnswer, PauseSignal } from '../definition/run'
import type { Fields } from '../definition/schema'

/** The forms of a task: its own, or those of the actions that have fields. */
export function formsAsked(signal: PauseSignal): Fields[] {
  if (signal.type === 'collect_inputs') return [signal.fields]
  return signal.actions.flatMap(({ fields }) => (fields ? [fields] : []))
}

/** The fields that a task asks for with an answer: its form's, or those of the chosen action. */
export function askedFields(signal: PauseSignal, answer: PauseAnswer | GivenAnswer): Fields {
  if (signal.type === 'collect_inputs') return signal.fields
  const chosen = 'actionId' in answer ? answer.actionId : null
  return signal.actions.find(({ id }) => id === chosen)?.fields ?? {}
}

export function asksForFile(signal: PauseSignal): boolean {
  return formsAsked(signal).some((fields) => Object.values(fields).some(isFileField))
}

/** The question with each of its forms replaced. */
export function withForms<S extends PauseSignal>(signal: S, change: (fields: Fields) => Fields): S {
  if (signal.type === 'collect_inputs') return { ...signal, fields: change(signal.fields) }
  const actions = signal.actions.map((action) => {
    return action.fields ? { ...action, fields: change(action.fields) } : action
  })
  return { ...signal, actions }
}
