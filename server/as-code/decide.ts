import type { Named } from '../versioned/noun'
import type { VersionedKind } from './kinds'
import type { Seen } from './look'

/** The action for one object before anything is published. */
export interface Decision {
  does: 'create' | 'update' | 'nothing'
  unarchives: boolean
  /** Why apply rejects it unless forced: someone else changed the object. */
  drift: string | null
}

/**
 * Drift is a change that was not applied. So applied content may be replaced, and someone else's change to the wanted
 * content is fine.
 */
export function decide(kind: VersionedKind, wanted: Named, seen: Seen | undefined): Decision {
  if (!seen) return { does: 'create', unarchives: false, drift: null }
  const { row, content, applied } = seen
  const same = kind.noun.same(content, wanted)
  const unarchives = row.status === 'archived'
  const drift =
    unarchives && !applied?.archived ? `It was archived by ${row.updatedBy}.` : same ? null : changed(kind, seen)
  return { does: same ? 'nothing' : 'update', unarchives, drift }
}

/** Why pruning an object without a definition is rejected. */
export function driftOfPruned(kind: VersionedKind, seen: Seen): string | null {
  return changed(kind, seen)
}

function changed({ noun }: VersionedKind, { row, content, applied, appliedContent }: Seen): string | null {
  if (!applied) return 'It was never applied, and its content is different.'
  if (appliedContent && noun.same(content, appliedContent)) return null
  return `Version ${row.version}, last changed by ${row.updatedBy}, is not what was applied (version ${applied.version}).`
}
