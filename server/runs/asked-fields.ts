import { isFileField } from '../definition/file-fields'
import type { PauseSignal } from '../definition/run'
import type { Fields } from '../definition/schema'

/** The fields that a task asks for; empty if it asks for a decision. */
export function askedFields(signal: PauseSignal): Fields {
  return signal.type === 'collect_inputs' ? signal.fields : {}
}

export function asksForFile(signal: PauseSignal): boolean {
  return Object.values(askedFields(signal)).some(isFileField)
}
