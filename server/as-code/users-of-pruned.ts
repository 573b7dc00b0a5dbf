import { and, eq, inArray } from 'drizzle-orm'
import type { ServiceContext } from '../context'
import { ownVersion } from '../versioned/rows'
import type { Problem } from '../workflows/check/problem'
import { VERSIONED_KINDS } from './kinds'
import { idsWhere } from './look'
import type { VersionedTask } from './tasks'

/** Contents may be large. */
const BATCH = 20

/** Warnings about published objects that stay without a definition but use an object to be archived. */
export async function usersOfPruned(
  ctx: ServiceContext,
  tasks: readonly VersionedTask[],
): Promise<(Problem & { kind: string; id: string })[]> {
  const gone = tasks.filter(({ wanted }) => wanted === null)
  if (gone.length === 0) return []
  const isGone = new Set(gone.map(({ kind, id }) => `${kind.word}/${id}`))
  const warnings: (Problem & { kind: string; id: string })[] = []
  for (const kind of VERSIONED_KINDS) {
    const { noun } = kind
    const { table, versions, ownerId, word } = noun
    if (word === 'tool') continue
    const own = new Set(tasks.filter((task) => task.kind === kind).map(({ id }) => id))
    const others = (await idsWhere(ctx, kind, eq(table.status, 'published'))).filter((id) => !own.has(id)).sort()
    for (let at = 0; at < others.length; at += BATCH) {
      const published = await ctx.db
        .select({ id: table.id, version: versions })
        .from(table)
        .innerJoin(
          versions,
          and(
            eq(versions.tenantId, table.tenantId),
            eq(ownerId, table.id),
            eq(versions.version, table.publishedVersion),
          ),
        )
        .where(and(eq(table.tenantId, ctx.tenantId), inArray(table.id, others.slice(at, at + BATCH))))
      for (const { id, version } of published)
        for (const used of kind.uses(noun.contentOf(ownVersion(noun, version)))) {
          if (!isGone.has(`${used.kind}/${used.id}`)) continue
          const message = `It is published, has no definition, and uses the ${used.kind} ${used.id}, which prune archives.`
          warnings.push({ severity: 'warning', code: 'W_USES_ARCHIVED', message, kind: word, id })
        }
    }
  }
  return warnings
}
