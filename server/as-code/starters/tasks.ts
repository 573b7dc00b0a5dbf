import { inArray } from 'drizzle-orm'
import type { ServiceContext, TransactionContext } from '../../context'
import { AppError } from '../../errors'
import type { Masker } from '../../vault/mask'
import { tenantMasker } from '../../vault/masker'
import { sameJson } from '../../versioned/same-json'
import type { Applied } from '../look'
import type { Task } from '../task'
import { STARTER_KINDS, type StarterContent, type StarterKind } from './kinds'
import { appliedStarters, fingerprintOf, lockStarter, lookAtStarters, meant, type SeenStarter } from './look'

/** The definition of a starter. */
export interface StarterItem {
  kind: StarterKind
  id: string
  path: string
  content: StarterContent
}

/** The task for one starter. */
export interface StarterTask extends Task {
  kind: StarterKind
  wanted: StarterContent | null
  /** The content to store; null to delete it. */
  means: StarterContent | null
  /** The places of masks without a value behind them. */
  left: string[]
  seen: SeenStarter | undefined
  applied: Applied | undefined
  does: 'create' | 'update' | 'nothing' | 'delete'
  drift: string | null
}

/**
 * One task for each definition, and with `prune` one for each applied object without a definition. Objects that were
 * never applied stay: a deletion cannot be undone.
 */
export async function starterTasks(
  ctx: ServiceContext,
  items: readonly StarterItem[],
  prune: boolean,
): Promise<StarterTask[]> {
  const tasks: StarterTask[] = []
  const masker = items.length > 0 || prune ? await tenantMasker(ctx) : null
  for (const kind of masker ? STARTER_KINDS : []) {
    const applied = await appliedStarters(ctx, kind)
    const own = items.filter((item) => item.kind === kind)
    const given = new Set(own.map(({ id }) => id))
    const pruned = prune ? [...applied.values()].filter(({ id, archived }) => !archived && !given.has(id)) : []
    const ids = [...given, ...pruned.map(({ id }) => id)]
    if (ids.length === 0 || !masker) continue
    const there = await lookAtStarters(ctx, kind, inArray(kind.table.id, ids), masker)
    for (const { id, path, content } of own)
      tasks.push(taskOf(kind, id, path, content, there.get(id), applied.get(id), masker))
    for (const one of pruned.sort((a, b) => (a.id < b.id ? -1 : 1))) {
      const seen = there.get(one.id)
      if (seen) tasks.push(taskOf(kind, one.id, kind.plural, null, seen, one, masker))
    }
  }
  return tasks
}

function taskOf(
  kind: StarterKind,
  id: string,
  path: string,
  wanted: StarterContent | null,
  seen: SeenStarter | undefined,
  applied: Applied | undefined,
  masker: Masker,
): StarterTask {
  const known = applied && !applied.archived ? applied : undefined
  const { means, left } = wanted ? meant(wanted, seen, masker) : { means: null, left: [] }
  const base = { kind, id, path, wanted, means, left, seen, applied, actions: [], version: null }
  if (!means) return { ...base, does: 'delete', drift: seen ? changed(kind, seen, known) : null }
  if (!seen) return { ...base, does: 'create', drift: known ? 'It was deleted since it was applied.' : null }
  if (sameJson(kind.write(means), kind.write(seen.stored))) return { ...base, does: 'nothing', drift: null }
  return { ...base, does: 'update', drift: changed(kind, seen, known) }
}

function changed(kind: StarterKind, { row, stored }: SeenStarter, applied: Applied | undefined): string | null {
  if (!applied) return 'It was never applied, and its content is different.'
  if (applied.fingerprint === fingerprintOf(kind, stored)) return null
  return `It was last changed by ${row.updatedBy}, and is not what was applied.`
}

/**
 * Locks the starters to change, by id. They are locked before workflows, in the order of transactions that start runs.
 * @throws AppError VERSION_CONFLICT if someone has changed one of them since it was read
 */
export async function lockStarters(tx: TransactionContext, tasks: readonly StarterTask[]): Promise<void> {
  const changing = tasks.filter(({ does }) => does === 'update' || does === 'delete')
  for (const { kind, id, seen } of changing.sort((a, b) => (a.id < b.id ? -1 : 1))) {
    const row = await lockStarter(tx, kind, id)
    if (!row || !seen || +row.updatedAt !== +seen.row.updatedAt) throw new AppError('VERSION_CONFLICT')
  }
}
