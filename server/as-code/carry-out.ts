import { sql } from 'drizzle-orm'
import { record } from '../audit/record'
import type { TransactionContext } from '../context'
import { AppError, type ErrorDetail } from '../errors'
import { archive } from '../versioned/archive'
import { create } from '../versioned/create'
import type { Row } from '../versioned/noun'
import { isLive, publish } from '../versioned/publish'
import { findRow } from '../versioned/rows'
import { saveVersion } from '../versioned/update'
import type { Problem } from '../workflows/check/problem'
import type { VersionedKind } from './kinds'
import type { Seen } from './look'
import { noteApplied } from './note-applied'
import { differInCase } from './other-case'
import type { Item } from './parse'
import type { ApplyOptions } from './schema'
import { carryOutStarters, masksLeft, startersOfPruned } from './starters/carry-out'
import { lockStarters, type StarterItem, starterTasks } from './starters/tasks'
import { detailOf, type Task } from './task'
import { holdAll, inPublishOrder, prunedWhole, pruneTasks, tasksOf, usesOfPruned, type VersionedTask } from './tasks'
import { usersOfPruned } from './users-of-pruned'

type Warning = Problem & { kind: string; id: string }

export interface Outcome {
  /** Tasks with actions have changed their object. */
  tasks: Task[]
  /** Changes by others since the last apply. */
  drift: ErrorDetail[]
  /** Problems that prevent saving or publishing. */
  problems: ErrorDetail[]
  warnings: Warning[]
}

/**
 * Makes the workspace match the definitions, drift or not, in the caller's transaction; the caller rolls it back on
 * drift or problems. Writes no object that already matches, and locks it only if `holds`.
 * @throws AppError VERSION_CONFLICT if someone else changes one of them meanwhile
 */
export async function carryOut(
  tx: TransactionContext,
  { items, starters }: { items: Item[]; starters: StarterItem[] },
  options: ApplyOptions,
  holds: boolean,
): Promise<Outcome> {
  await oneAtATime(tx)
  const starting = await starterTasks(tx, starters, options.prune)
  await lockStarters(tx, starting)
  if (holds) await holdAll(tx, items, options.prune)
  const tasks = [...(await tasksOf(tx, items)), ...(options.prune ? await pruneTasks(tx, items, options.force) : [])]
  const all: Task[] = [...tasks, ...starting]
  const drifts = [
    ...tasks.map((task) => ({ task, message: task.decision.drift })),
    ...starting.map((task) => ({ task, message: task.drift })),
  ]
  const drift = drifts.flatMap(({ task, message }) =>
    message === null || options.force ? [] : [detailOf(task, { message })],
  )
  const pruned = [...usesOfPruned(all), ...(options.force ? [] : prunedWhole(all))]
  const problems = [...pruned, ...masksLeft(starting), ...(await differInCase(tx, all))]
  for (const task of tasks) await collect(problems, task, () => save(tx, task))
  const warnings: Warning[] = [
    ...tasks.flatMap(misspelt),
    ...(await usersOfPruned(tx, tasks)),
    ...(await startersOfPruned(tx, tasks, starting)),
  ]
  // An object that could not be saved would be missing for its users.
  if (options.publish && problems.length === 0) {
    for (const { task, apart } of inPublishOrder(tasks))
      await collect(problems, task, async () => {
        const { kind, id } = task
        // Those are among the warnings already, published or not.
        for (const found of await publishTask(tx, task, apart))
          if (found.code !== 'W_UNKNOWN_FIELD') warnings.push({ ...found, kind: kind.word, id })
      })
  }
  if (problems.length === 0) {
    const found = await carryOutStarters(tx, starting, tasks)
    problems.push(...found.problems)
    warnings.push(...found.warnings)
  }
  await note(tx, tasks)
  return { tasks: all, drift, problems, warnings }
}

/**
 * Two concurrent ones would create the same objects. Nothing else waits for this lock, which may be held for a minute.
 */
async function oneAtATime({ db, tenantId }: TransactionContext): Promise<void> {
  await db.execute(sql`select pg_advisory_xact_lock(hashtextextended(${`definitions:${tenantId}`}, 0))`)
}

/**
 * Locks an object if it is unchanged since it was read.
 * @throws AppError VERSION_CONFLICT if someone has saved, published, archived or deleted it since
 */
async function lockAsSeen(tx: TransactionContext, { noun }: VersionedKind, { row: before }: Seen): Promise<Row> {
  const row = await findRow(tx, noun, before.id, { lock: true }).catch((err: unknown) => {
    throw err instanceof AppError && err.code === noun.notFound ? new AppError('VERSION_CONFLICT') : err
  })
  const same = row.version === before.version && row.status === before.status && +row.updatedAt === +before.updatedAt
  if (!same) throw new AppError('VERSION_CONFLICT')
  return row
}

function misspelt({ kind, id, wanted }: VersionedTask): Warning[] {
  const found = wanted ? kind.unknownFields(wanted) : []
  return found.map((warning) => ({ ...warning, kind: kind.word, id }))
}

async function collect(problems: ErrorDetail[], task: VersionedTask, work: () => Promise<unknown>): Promise<void> {
  try {
    await work()
  } catch (err) {
    if (!(err instanceof AppError) || err.status !== 400) throw err
    problems.push(...err.details.map((detail) => detailOf(task, detail)))
  }
}

async function save(tx: TransactionContext, task: VersionedTask): Promise<void> {
  const { kind, id, wanted, seen, decision, actions } = task
  const { noun } = kind
  if (!seen) {
    if (!wanted) return
    await create(tx, noun, id, wanted, { version: task.first })
    actions.push('create')
    return
  }
  if (wanted && decision.does === 'nothing' && !decision.unarchives) return
  const row = await lockAsSeen(tx, kind, seen)
  if (!wanted) {
    await archive(tx, noun, { id }, 'archived')
    actions.push('archive')
    return
  }
  if (decision.unarchives) {
    await archive(tx, noun, { id }, 'draft')
    actions.push('unarchive')
  }
  if (decision.does !== 'update') return
  const saved = await saveVersion(tx, noun, row, wanted, { folds: false })
  task.version = saved.version
  await record(tx, `${noun.word}.saved`, saved, { version: saved.version, by: 'apply' })
  actions.push('update')
}

/** Publishes objects that are not live, and workflows that should adopt newer versions of the objects they use. */
async function publishTask(
  tx: TransactionContext,
  task: VersionedTask,
  apart: ReadonlySet<string>,
): Promise<Problem[]> {
  const { kind, id, seen, actions } = task
  const { noun } = kind
  const live = seen !== undefined && actions.length === 0 && isLive(seen.row)
  if (live && !(await isOutdated(tx, task, apart))) return []
  // Saving has locked the changed ones.
  if (seen && actions.length === 0) await lockAsSeen(tx, kind, seen)
  const published = await publish(tx, noun, { id, ifMatch: `"${task.version}"` }, (at, candidate) =>
    kind.check(at, candidate, apart),
  )
  if (live && published.version === task.version) return []
  task.version = published.version
  actions.push('publish')
  return published.warnings
}

async function isOutdated(tx: TransactionContext, { kind, id, seen }: VersionedTask, apart: ReadonlySet<string>) {
  if (!seen) return false
  const { version, content } = seen
  return (await kind.check(tx, { id, version, content, live: true }, apart)).renews === true
}

/** Records the applied version, to detect drift. Also for objects that already matched. */
async function note(tx: TransactionContext, tasks: readonly VersionedTask[]): Promise<void> {
  const rows = tasks
    .map(({ kind, id, version, wanted, seen }) => ({
      row: { kind: kind.word, id, version, archived: wanted === null },
      applied: seen?.applied,
    }))
    .filter(({ row, applied }) => applied?.version !== row.version || applied.archived !== row.archived)
    .map(({ row }) => row)
  await noteApplied(tx, rows)
}
