import type { JsonObject } from '../definition/json'
import type { Task } from './task'

/** A task's changes, as in answers. */
export function presentChange({ kind, id, wanted, seen, actions, version }: Task) {
  return { kind: kind.word, id, name: (wanted ?? seen?.content)?.name ?? id, actions, version }
}

/** The contents before and after, if they differ. */
export function presentContents({ kind, wanted, seen, actions }: Task): {
  before?: JsonObject | null
  after?: JsonObject | null
} {
  if (!['create', 'update', 'archive', 'delete'].some((action) => actions.some((done) => done === action))) return {}
  const write = (content: typeof wanted | undefined) => (content ? kind.write(content) : null)
  return { before: write(seen?.content), after: write(wanted) }
}
