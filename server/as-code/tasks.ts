import { and, inArray, isNotNull, ne, notInArray } from 'drizzle-orm'
import { appliedDefinitions } from '@/db/schema/applied'
import type { ServiceContext, TransactionContext } from '../context'
import type { ErrorDetail } from '../errors'
import type { Named } from '../versioned/noun'
import { type Decision, decide, driftOfPruned } from './decide'
import { VERSIONED_KINDS, type VersionedKind } from './kinds'
import { hold, lookAt, type Seen, versionsLeft } from './look'
import type { Item } from './parse'
import { detailOf, type Task } from './task'
import { inOrderOfUse } from './uses'

/** The task for one object with versions. */
export interface VersionedTask extends Task {
  kind: VersionedKind
  /** Null archives it, for lack of a definition. */
  wanted: Named | null
  seen: Seen | undefined
  decision: Decision
  /** The number of its first version, if it is created. */
  first: number
  version: number
}

/** One task for each definition, in the same order. */
export async function tasksOf(ctx: ServiceContext, items: readonly Item[]): Promise<VersionedTask[]> {
  const tasks: VersionedTask[] = []
  for (const kind of VERSIONED_KINDS) {
    const own = items.filter((item) => item.kind === kind)
    if (own.length === 0) continue
    const ids = own.map(({ id }) => id)
    const seen = await lookAt(ctx, kind, inArray(kind.noun.table.id, ids))
    const left = await versionsLeft(
      ctx,
      kind,
      ids.filter((id) => !seen.has(id)),
    )
    for (const { id, path, content } of own) {
      const found = seen.get(id)
      const first = (left.get(id) ?? 0) + 1
      const decision = decide(kind, content, found)
      const version = found?.row.version ?? first
      tasks.push({ kind, id, path, wanted: content, seen: found, decision, first, actions: [], version })
    }
  }
  return tasks
}

/** Locks the objects of the definitions, and with `prune` all others that may be archived. */
export async function holdAll(tx: TransactionContext, items: readonly Item[], prune: boolean): Promise<void> {
  for (const kind of VERSIONED_KINDS) {
    const ids = items.filter((item) => item.kind === kind).map(({ id }) => id)
    if (prune) await hold(tx, kind, undefined)
    else if (ids.length > 0) await hold(tx, kind, inArray(kind.noun.table.id, ids))
  }
}

/**
 * One task for each object to archive for lack of a definition.
 * @param all includes objects that were never applied
 */
export async function pruneTasks(ctx: ServiceContext, items: readonly Item[], all: boolean): Promise<VersionedTask[]> {
  const tasks: VersionedTask[] = []
  for (const kind of VERSIONED_KINDS) {
    const { table } = kind.noun
    const ids = items.filter((item) => item.kind === kind).map(({ id }) => id)
    const managed = all ? undefined : isNotNull(appliedDefinitions.version)
    const others = and(ne(table.status, 'archived'), managed, ids.length > 0 ? notInArray(table.id, ids) : undefined)
    for (const [id, seen] of await lookAt(ctx, kind, others)) {
      const decision = { does: 'nothing', unarchives: false, drift: driftOfPruned(kind, seen) } as const
      const { version } = seen.row
      tasks.push({ kind, id, path: kind.plural, wanted: null, seen, decision, first: 1, actions: [], version })
    }
  }
  return tasks.sort((a, b) => (a.id < b.id ? -1 : 1))
}

/** The definitions that use an object to be archived. */
export function usesOfPruned(tasks: readonly Task[]): ErrorDetail[] {
  const gone = new Set(tasks.filter(({ wanted }) => wanted === null).map((task) => nameOf(task.kind.word, task.id)))
  return tasks.flatMap((task) => {
    if (task.wanted === null) return []
    const uses = task.kind.uses(task.wanted).filter((used) => gone.has(nameOf(used.kind, used.id)))
    return uses.map((used) =>
      detailOf(task, { message: `It uses the ${used.kind} ${used.id}, which would be archived.` }),
    )
  })
}

/** Objects that prune would archive although the body has no definition of their kind: probably a folder is missing. */
export function prunedWhole(tasks: readonly Task[]): ErrorDetail[] {
  const given = new Set(tasks.filter(({ wanted }) => wanted !== null).map(({ kind }) => kind))
  return tasks
    .filter(({ kind }) => !given.has(kind))
    .map((task) => {
      const done = task.version === null ? 'deleted' : 'archived'
      const message = `It would be ${done}, because there are no ${task.kind.plural} here at all. Prune does so only with force.`
      return detailOf(task, { message })
    })
}

const nameOf = (kind: string, id: string) => `${kind}/${id}`

/**
 * Tasks in publishing order, each after the objects it uses.
 * @returns with each, the workflows that use it in turn
 */
export function inPublishOrder(tasks: readonly VersionedTask[]): { task: VersionedTask; apart: Set<string> }[] {
  const wanted = tasks.filter((task) => task.wanted !== null)
  const byName = new Map(wanted.map((task) => [nameOf(task.kind.word, task.id), task]))
  const usesOf = ({ kind, wanted }: VersionedTask) =>
    (wanted ? kind.uses(wanted) : []).flatMap((used) => byName.get(nameOf(used.kind, used.id)) ?? [])
  return inOrderOfUse(wanted, usesOf).flatMap((group) => {
    const apart = new Set(group.map(({ id }) => id))
    return group.map((task) => ({ task, apart }))
  })
}
