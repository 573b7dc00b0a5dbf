import { and, inArray, sql } from 'drizzle-orm'
import type { ServiceContext } from '../context'
import type { ErrorDetail } from '../errors'
import { KINDS } from './all-kinds'
import { idsWhere } from './look'
import { detailOf, type Task } from './task'

/** The definitions whose ids differ from an object's only in case. On some machines their files would collide. */
export async function differInCase(ctx: ServiceContext, tasks: readonly Task[]): Promise<ErrorDetail[]> {
  const details: ErrorDetail[] = []
  for (const kind of KINDS) {
    const own = tasks.filter((task) => task.kind === kind)
    const wanted = new Map(own.filter(({ wanted }) => wanted !== null).map((task) => [task.id.toLowerCase(), task]))
    if (wanted.size === 0) continue
    const alike = and(kind.isThere, inArray(sql`lower(${kind.table.id})`, [...wanted.keys()]))
    const pruned = new Set(own.filter(({ wanted }) => wanted === null).map(({ id }) => id))
    for (const id of await idsWhere(ctx, kind, alike)) {
      const task = wanted.get(id.toLowerCase())
      if (!task || task.id === id || pruned.has(id)) continue
      const message = `The ${kind.word === 'inboundWebhook' ? 'inbound webhook' : kind.word} ${id} is in the workspace, and its id differs from ${task.id} only in case.`
      details.push(detailOf(task, { path: 'id', message }))
    }
  }
  return details
}
