import { and, eq, sql } from 'drizzle-orm'
import { tools, toolVersions } from '@/db/schema/tools'
import { authorize } from '../auth/policy'
import type { ServiceContext } from '../context'
import { parseInput } from '../parse'
import { LIST_CAP } from '../versioned/columns'
import { list } from '../versioned/list'
import { listVersions } from '../versioned/list-versions'
import type { One } from '../versioned/noun'
import { BUILTIN_TOOLS } from './builtin'
import { TOOL } from './noun'
import { presentBuiltin, presentToolItem, presentToolVersionItem } from './present'
import { ListTools, type ToolKind } from './schema'

/**
 * The tenant's tools, most recently changed first, and the total number of matches; with `kind=builtin` the built-in
 * ones.
 * @throws AppError INVALID_INPUT
 */
export async function listTools(ctx: ServiceContext, input: unknown) {
  authorize(ctx, 'tool:read')
  const { kind, ...query } = parseInput(ListTools, input)
  if (kind === 'builtin') return listBuiltin(query)
  const latest = and(
    eq(toolVersions.tenantId, tools.tenantId),
    eq(toolVersions.toolId, tools.id),
    eq(toolVersions.version, tools.version),
  )
  const latestKind = sql<ToolKind>`(${ctx.db.select({ kind: toolVersions.kind }).from(toolVersions).where(latest)})`
  const where = kind && eq(latestKind, kind)
  const { rows, ...page } = await list(ctx, TOOL, query, { where, column: latestKind })
  return { items: rows.map(({ row, column: kind }) => presentToolItem(row, kind)), ...page }
}

/**
 * The tool's versions, newest first.
 * @throws AppError TOOL_NOT_FOUND, also for a built-in tool, which has no history; INVALID_INPUT
 */
export async function listToolVersions(ctx: ServiceContext, input: One & { page: unknown }) {
  authorize(ctx, 'tool:read')
  const { row, versions, ...page } = await listVersions(ctx, TOOL, input, {
    column: sql<ToolKind>`${toolVersions.kind}`,
  })
  const items = versions.map(({ column: kind, ...version }) => presentToolVersionItem({ ...version, kind }, row))
  return { items, ...page }
}

type Query = {
  search?: string | undefined
  status?: string | undefined
  limit?: number | undefined
  offset?: number | undefined
}

function listBuiltin({ search = '', status = 'published', limit = LIST_CAP, offset = 0 }: Query) {
  const found = Object.values(BUILTIN_TOOLS)
    .filter(({ name, description }) =>
      `${name}\n${description}`.toLowerCase().includes(search.normalize('NFC').toLowerCase()),
    )
    .filter(() => status === 'published')
    .map(presentBuiltin)
  const items = found.slice(offset, offset + limit).map((tool) => {
    const { id, name, description, kind, createdAt, updatedAt, version, publishedVersion } = tool
    return { id, name, description, kind, status: tool.status, createdAt, updatedAt, version, publishedVersion }
  })
  return { items, total: found.length, limit, offset }
}
