import { and, eq, inArray, type SQL } from 'drizzle-orm'
import type { ServiceContext, TransactionContext } from '../../context'
import { AppError, type ErrorDetail } from '../../errors'
import { STANDS_FOR_NOTHING } from '../../vault/unmask'
import type { Problem } from '../../workflows/check/problem'
import { noteApplied } from '../note-applied'
import { detailOf, type Task } from '../task'
import { STARTER_KINDS, type StarterRow } from './kinds'
import { fingerprintOf } from './look'
import type { StarterTask } from './tasks'

type Warning = Problem & { kind: string; id: string }
const BY = { by: 'apply' }

/**
 * Makes schedules and inbound webhooks match the definitions. Workflows come first, because a starter must fit the
 * version it would start.
 * @param workflows their tasks, already carried out
 */
export async function carryOutStarters(
  tx: TransactionContext,
  tasks: readonly StarterTask[],
  workflows: readonly Task[],
): Promise<{ problems: ErrorDetail[]; warnings: Warning[] }> {
  const problems: ErrorDetail[] = []
  const warnings: Warning[] = []
  const moved = new Set(
    workflows.filter(({ kind, actions }) => kind.word === 'workflow' && actions.length > 0).map(({ id }) => id),
  )
  // Deletions make room for creations.
  for (const task of [...tasks].sort((a, b) => Number(b.does === 'delete') - Number(a.does === 'delete'))) {
    try {
      const row = await change(tx, task)
      const { kind, means } = task
      if (!means || !row) continue
      if (task.does !== 'nothing' || moved.has(means.workflowId)) await kind.check(tx, means)
      const message = means.enabled ? kind.lacks(row) : null
      if (message !== null)
        warnings.push({ severity: 'warning', code: 'W_NO_SECRET', message, kind: kind.word, id: task.id })
    } catch (err) {
      problems.push(...problemsOf(task, err))
    }
  }
  await note(tx, tasks)
  return { problems, warnings }
}

/** @returns the object's row; undefined if it is gone */
async function change(tx: TransactionContext, task: StarterTask): Promise<StarterRow | undefined> {
  const { kind, id, means, seen, does, actions } = task
  if (does === 'create' && means) {
    const row = await kind.insert(tx, id, means, BY)
    actions.push('create')
    return row
  }
  if (does === 'delete' && seen) {
    await kind.remove(tx, seen.row, BY)
    actions.push('delete')
    return undefined
  }
  if (does === 'update' && means && seen) {
    await kind.change(tx, seen.row, means, BY)
    actions.push('update')
  }
  return seen?.row
}

/** Leftover `***` masks without a value behind them: they must not be stored in a value's place. */
export function masksLeft(tasks: readonly StarterTask[]): ErrorDetail[] {
  return tasks.flatMap((task) => task.left.map((path) => detailOf(task, { path, message: STANDS_FOR_NOTHING })))
}

/** The problems of a definition; other errors are the caller's. */
function problemsOf(task: StarterTask, err: unknown): ErrorDetail[] {
  if (!(err instanceof AppError)) throw err
  const { code, message, status, details } = err
  if (code === 'WORKFLOW_NOT_FOUND' || code === 'WORKFLOW_ARCHIVED')
    return [detailOf(task, { path: 'workflowId', message })]
  if (status !== 400 && code !== 'CONFLICT') throw err
  return (details.length > 0 ? details : [{ message }]).map((detail) => detailOf(task, detail))
}

/** Records what was applied, to detect drift. */
async function note(tx: TransactionContext, tasks: readonly StarterTask[]): Promise<void> {
  const rows = tasks.flatMap(({ kind, id, means, applied }) => {
    const fingerprint = means && fingerprintOf(kind, means)
    const archived = means === null
    if (applied && applied.fingerprint === fingerprint && applied.archived === archived) return []
    return [{ kind: kind.word, id, version: 0, fingerprint, archived }]
  })
  await noteApplied(tx, rows)
}

/** Warnings about starters that stay without a definition although their workflow is archived. */
export async function startersOfPruned(
  ctx: ServiceContext,
  workflows: readonly Task[],
  tasks: readonly StarterTask[],
): Promise<Warning[]> {
  const gone = workflows.filter(({ kind, wanted }) => kind.word === 'workflow' && wanted === null).map(({ id }) => id)
  if (gone.length === 0) return []
  const warnings: Warning[] = []
  for (const { table, word } of STARTER_KINDS) {
    const own = new Set(tasks.filter(({ kind }) => kind.word === word).map(({ id }) => id))
    const where: SQL | undefined = and(
      eq(table.tenantId, ctx.tenantId),
      eq(table.enabled, true),
      inArray(table.workflowId, gone),
    )
    const rows = await ctx.db.select({ id: table.id, workflowId: table.workflowId }).from(table).where(where)
    for (const { id, workflowId } of rows.sort((a, b) => (a.id < b.id ? -1 : 1))) {
      if (own.has(id)) continue
      const message = `It has no definition, and starts the workflow ${workflowId}, which prune archives.`
      warnings.push({ severity: 'warning', code: 'W_USES_ARCHIVED', message, kind: word, id })
    }
  }
  return warnings
}
