import { and, eq, inArray, like, ne, or, type SQL, sql } from 'drizzle-orm'
import { agents, agentVersions } from '@/db/schema/agents'
import { tools, toolVersions } from '@/db/schema/tools'
import type { ServiceContext } from '../context'
import { addressOf, KEY_NAMES, keySecret } from '../models/keys'
import { fixedAddress } from '../tools/secret-use'
import { mayReceive } from '../vault/hosts'
import { listVaultSecrets } from '../vault/list'
import { nameActors } from './actors'

const MAX_USERS = 500

/** A tool or agent whose newest version uses secrets, and the URL it sends them to. */
interface User {
  kind: 'tool' | 'agent'
  id: string
  name: string
  names: readonly string[]
  url: URL | null
}

/** The secrets in the vault: their hosts, who last changed them, and what uses them. */
export async function browseVault(ctx: ServiceContext) {
  const secrets = await listVaultSecrets(ctx)
  const [nameOf, ...users] = await Promise.all([
    nameActors(
      ctx,
      secrets.map(({ updatedBy }) => updatedBy),
    ),
    readTools(ctx),
    readAgents(ctx),
  ])
  return secrets.map((secret) => {
    const { name, hosts, short } = secret
    const uses = users.flat().filter(({ names }) => names.includes(name))
    const called = [providerOf(name), ...uses.map(({ url }) => url)].flatMap((url) => url?.host ?? [])
    return {
      name,
      hosts,
      short,
      updatedBy: nameOf(secret.updatedBy),
      createdAt: secret.createdAt.toISOString(),
      updatedAt: secret.updatedAt.toISOString(),
      usedBy: uses.map(({ kind, id, name, url }) => ({
        kind,
        id,
        name,
        /** The host it would send the secret to, if the secret is not bound to that host. */
        refusedAt: url && !mayReceive(secret, url) ? url.host : null,
      })),
      /** The hosts it is already sent to: suggestions for binding it. */
      calledHosts: [...new Set(called)],
    }
  })
}

export type VaultItem = Awaited<ReturnType<typeof browseVault>>[number]

/** The URL a provider's key is sent to if no agent refers to it by name. */
function providerOf(name: string): URL | null {
  const [provider] = (['openai', 'anthropic', 'google'] as const).filter((one) => KEY_NAMES[one] === name)
  return provider ? addressOf({ provider, modelId: '', settings: {} }) : null
}

async function readTools(ctx: ServiceContext): Promise<User[]> {
  const latest = and(
    eq(toolVersions.tenantId, tools.tenantId),
    eq(toolVersions.toolId, tools.id),
    eq(toolVersions.version, tools.version),
  )
  const { id, name } = tools
  const rows = await ctx.db
    .select({
      id,
      name,
      names: secretsIn(sql`${toolVersions.config}`),
      url: sql<string>`${toolVersions.config}->>'url'`,
    })
    .from(tools)
    .innerJoin(toolVersions, latest)
    .where(
      and(eq(tools.tenantId, ctx.tenantId), ne(tools.status, 'archived'), namesSecrets(sql`${toolVersions.config}`)),
    )
    .orderBy(name)
    .limit(MAX_USERS)
  return rows.map(({ url, ...row }) => ({ kind: 'tool', ...row, url: fixedAddress(url) }))
}

async function readAgents(ctx: ServiceContext): Promise<User[]> {
  const latest = and(
    eq(agentVersions.tenantId, agents.tenantId),
    eq(agentVersions.agentId, agents.id),
    eq(agentVersions.version, agents.version),
  )
  const { id, name } = agents
  const rows = await ctx.db
    .select({ id, name, config: agentVersions.config })
    .from(agents)
    .innerJoin(agentVersions, latest)
    .where(
      and(
        eq(agents.tenantId, ctx.tenantId),
        ne(agents.status, 'archived'),
        or(
          namesSecrets(sql`${agentVersions.config}->'model'->'apiKey'`),
          // These use the secret with the well-known name implicitly.
          inArray(sql`${agentVersions.config}->'model'->>'provider'`, Object.keys(KEY_NAMES)),
          sql`${agentVersions.config}->'fallbacks' is not null`,
        ),
      ),
    )
    .orderBy(name)
    .limit(MAX_USERS)
  return rows.flatMap(({ config, ...row }) => {
    return [config.model, ...(config.fallbacks ?? [])].flatMap((model) => {
      const secret = keySecret(model)
      return secret ? [{ kind: 'agent' as const, ...row, names: [secret], url: addressOf(model) }] : []
    })
  })
}

function namesSecrets(json: SQL): SQL {
  return like(sql`(${json})::text`, '%${secrets.%')
}

function secretsIn(json: SQL): SQL<string[]> {
  return sql<
    string[]
  >`array(select distinct (regexp_matches((${json})::text, '[$][{]secrets[.]([A-Za-z0-9_]+)[}]', 'g'))[1])`
}
