import { isRequired } from '../definition/fields'
import { isFileField } from '../definition/file-fields'
import type { PauseSignal } from '../definition/run'
import type { Fields } from '../definition/schema'

/**
 * The file that every answer needs, if any. Files belong to the workspace: a person without an account can neither send
 * nor name one. An action that needs one cannot be chosen through a link, while the others can.
 */
export function needsFile(signal: PauseSignal): string | null {
  if (signal.type === 'collect_inputs') return requiredFile(signal.fields)
  const needed = signal.actions.map(({ fields = {} }) => requiredFile(fields))
  return needed.every((name) => name !== null) ? (needed[0] ?? null) : null
}

/** The first file field that must be filled in. */
export function requiredFile(fields: Fields): string | null {
  return Object.entries(fields).find(([, field]) => isFileField(field) && isRequired(field))?.[0] ?? null
}
