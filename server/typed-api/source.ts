import { createHash } from 'node:crypto'
import { type SQL, sql } from 'drizzle-orm'
import type { PgTable } from 'drizzle-orm/pg-core'
import { agents } from '@/db/schema/agents'
import { tenants } from '@/db/schema/tenants'
import { tools } from '@/db/schema/tools'
import { workflows } from '@/db/schema/workflows'
import { allows, authorize } from '../auth/policy'
import type { ServiceContext } from '../context'
import type { OpenApiDocument } from '../openapi/types'
import { parseInput } from '../parse'
import { ReadTypedApi } from './schema'

/**
 * A digest of everything in the workspace's document: within one process, equal digests mean equal documents. Every
 * save, publish and archive changes it, because a workflow's types also come from the objects it uses.
 * @throws AppError FORBIDDEN, INVALID_INPUT
 */
export async function typedApiSource(ctx: ServiceContext, base: OpenApiDocument, query: unknown): Promise<string> {
  authorize(ctx, 'workflow:read')
  const { only = null } = parseInput(ReadTypedApi, query)
  const [row] = await ctx.db.execute<{ states: unknown }>(sql`
    select json_build_array(
      (select name from ${tenants} where id = ${ctx.tenantId}),
      ${stateOf(ctx, workflows)}, ${stateOf(ctx, agents)}, ${stateOf(ctx, tools)}) as states`)
  const { reach = null, tenantId } = ctx
  const reads = [allows(ctx, 'agent:read'), allows(ctx, 'tool:read')]
  const parts = [tenantId, row?.states, reach, reads, only, base.servers[0]?.url]
  return createHash('sha256').update(JSON.stringify(parts)).digest('base64url')
}

function stateOf({ tenantId }: ServiceContext, table: PgTable): SQL {
  return sql`(
    select json_build_array(count(*), sum(version), sum(published_version), count(archived_at), max(updated_at))
    from ${table} where tenant_id = ${tenantId})`
}
