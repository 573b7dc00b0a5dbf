import { tenants } from '@/db/schema/tenants'
import { tools, toolVersions } from '@/db/schema/tools'
import { slugOf } from '@/lib/slug'
import { type ServiceContext, systemContext } from '@/server/context'
import type { JsonObject } from '@/server/definition/json'
import { newId } from '@/server/ids'
import type { Log } from '@/server/log'
import type { Role } from '@/server/roles'
import type { FreshDatabase } from './db'

const silent: Log = { debug() {}, info() {}, warn() {}, error() {}, child: () => silent }

/** A new tenant's context, acting with a role (owner by default). */
export async function newTenant(database: FreshDatabase, role: Role = 'owner'): Promise<ServiceContext> {
  const tenantId = newId('ten')
  await database.db.insert(tenants).values({ id: tenantId, slug: slugOf(tenantId), name: tenantId })
  return withRole(systemContext({ tenantId, db: database.db, log: silent }), role)
}

export function withRole(ctx: ServiceContext, role: Role): ServiceContext {
  return { ...ctx, actor: { kind: 'apiKey', id: `key_${role}`, role } }
}

/** A published script tool. @returns its id */
export async function newScriptTool(
  ctx: ServiceContext,
  code: string,
  {
    id = newId('tool'),
    name = id,
    inputSchema = null,
  }: { id?: string; name?: string; inputSchema?: JsonObject | null } = {},
): Promise<string> {
  const shared = { tenantId: ctx.tenantId, version: 1 }
  await ctx.db.insert(tools).values({ ...shared, id, name, description: '', status: 'published', publishedVersion: 1 })
  const content = { name, kind: 'script' as const, config: { code }, inputSchema }
  await ctx.db.insert(toolVersions).values({ ...shared, toolId: id, ...content })
  return id
}
