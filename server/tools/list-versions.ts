import { sql } from 'drizzle-orm'
import { toolVersions } from '@/db/schema/tools'
import { authorize } from '../auth/policy'
import type { ServiceContext } from '../context'
import type { ToolKind } from '../definition/tool'
import { listVersions } from '../versioned/list-versions'
import type { One } from '../versioned/noun'
import { TOOL } from './noun'
import { presentToolVersionItem } from './present'

/**
 * The tool's versions, newest first.
 * @throws AppError TOOL_NOT_FOUND, also for a built-in tool, which has no history; INVALID_INPUT
 */
export async function listToolVersions(ctx: ServiceContext, input: One & { page: unknown }) {
  authorize(ctx, 'tool:read')
  const { row, versions, ...page } = await listVersions(ctx, TOOL, input, {
    column: sql<ToolKind>`${toolVersions.kind}`,
  })
  return {
    items: versions.map(({ column: kind, ...version }) => presentToolVersionItem({ ...version, kind }, row)),
    ...page,
  }
}
