import { and, eq } from 'drizzle-orm'
import { tools, toolVersions } from '@/db/schema/tools'
import { authorize } from '../auth/policy'
import { type ServiceContext, withTransaction } from '../context'
import { AppError, ImpossibleState } from '../errors'
import { goneLive } from '../versioned/columns'
import { expectVersion, readIfMatch } from '../versioned/expected-version'
import { refuseBuiltin } from './builtin'
import { getToolRow, getVersionRow, toolVersionIs } from './find'
import { definitionOf, type PresentedTool, presentTool } from './present'

/**
 * Makes the latest saved version the one that `published` means. Publishing again without a change is a no-op.
 * @param options.ifMatch the `If-Match` header: publish this version or none
 * @throws AppError TOOL_NOT_FOUND, TOOL_ARCHIVED, VERSION_CONFLICT, INVALID_INPUT, CONFLICT for a built-in tool
 */
export async function publishTool(
  ctx: ServiceContext,
  id: string,
  options: { ifMatch?: string | null } = {},
): Promise<PresentedTool> {
  authorize(ctx, 'tool:publish')
  refuseBuiltin(id)
  const ifMatch = readIfMatch(options.ifMatch)
  return withTransaction(ctx, async (tx) => {
    const row = await getToolRow(tx, id, { lock: true })
    if (row.status === 'archived') throw new AppError('TOOL_ARCHIVED')
    expectVersion(row, { ifMatch })
    const tool = definitionOf(await getVersionRow(tx, row, row.version))
    if (row.status === 'published' && row.publishedVersion === row.version) return presentTool(row, tool)
    const live = goneLive(tx, row.version)
    const { version } = row
    const [published] = await tx.db
      .update(tools)
      .set(live)
      .where(and(eq(tools.tenantId, tx.tenantId), eq(tools.id, id)))
      .returning()
    await tx.db
      .update(toolVersions)
      .set({ publishedAt: live.publishedAt })
      .where(toolVersionIs(tx, id, version))
    if (!published) throw new ImpossibleState('tool-publish', 'a locked row was not updated')
    return presentTool(published, tool)
  })
}
