import { and, eq, ne, sql } from 'drizzle-orm'
import { tools, toolVersions } from '@/db/schema/tools'
import type { ServiceContext } from '../context'
import { listVaultSecrets } from '../vault/list'
import { nameActors } from './actors'

/** The names in the vault, who last set each value, and which tools use it. */
export async function browseVault(ctx: ServiceContext) {
  const secrets = await listVaultSecrets(ctx)
  const [nameOf, uses] = await Promise.all([
    nameActors(
      ctx,
      secrets.map(({ updatedBy }) => updatedBy),
    ),
    readUses(ctx),
  ])
  return secrets.map(({ name, updatedBy, createdAt, updatedAt }) => ({
    name,
    updatedBy: nameOf(updatedBy),
    createdAt: createdAt.toISOString(),
    updatedAt: updatedAt.toISOString(),
    usedBy: uses.filter(({ names }) => names.includes(name)).map(({ id, name }) => ({ id, name })),
  }))
}

export type VaultItem = Awaited<ReturnType<typeof browseVault>>[number]

/** The secrets that each tool's newest version uses. */
async function readUses(ctx: ServiceContext): Promise<{ id: string; name: string; names: string[] }[]> {
  const latest = and(
    eq(toolVersions.tenantId, tools.tenantId),
    eq(toolVersions.toolId, tools.id),
    eq(toolVersions.version, tools.version),
  )
  return ctx.db
    .select({
      id: tools.id,
      name: tools.name,
      names: sql<
        string[]
      >`array(select distinct (regexp_matches(${toolVersions.config}::text, '[$][{]secrets[.]([A-Za-z0-9_]+)[}]', 'g'))[1])`,
    })
    .from(tools)
    .innerJoin(toolVersions, latest)
    .where(
      and(
        eq(tools.tenantId, ctx.tenantId),
        ne(tools.status, 'archived'),
        sql`${toolVersions.config}::text like '%\${secrets.%'`,
      ),
    )
    .orderBy(tools.name)
    .limit(500)
}
