import { isRequired } from '../definition/fields'
import { isFileField } from '../definition/file-fields'
import type { PauseSignal } from '../definition/run'

/**
 * The file that an answer needs, if any. Files belong to the workspace: a person without an account can neither send
 * nor name one.
 */
export function needsFile(signal: PauseSignal): string | null {
  if (signal.type !== 'collect_inputs') return null
  const needed = Object.entries(signal.fields).find(([, field]) => isFileField(field) && isRequired(field))
  return needed?.[0] ?? null
}
