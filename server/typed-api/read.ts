import { and, asc, eq, inArray, isNotNull, ne, type SQL, sql } from 'drizzle-orm'
import { agents, agentVersions } from '@/db/schema/agents'
import { tools, toolVersions } from '@/db/schema/tools'
import { workflows, workflowVersions } from '@/db/schema/workflows'
import { AGENT } from '../agents/noun'
import { rowsInReach } from '../auth/reach'
import type { ServiceContext } from '../context'
import { expand } from '../definition/expand'
import type { JsonObject } from '../definition/json'
import { withPins } from '../definition/pins'
import type { Definition } from '../definition/schema'
import { TOOL } from '../tools/noun'
import { WORKFLOW } from '../workflows/noun'

/** The maximum objects of a kind in one document. */
export const MAX_OBJECTS = 1_000
/** Of a kind; further objects always get the start of a digest in their name. */
const MAX_NAMED = 5_000
/** Larger definitions are not read. */
const MAX_BYTES = 512 * 1024
/** How many are read concurrently. */
export const PAGE = 20

export type Word = 'workflow' | 'agent' | 'tool'

const NOUNS = {
  workflow: {
    ...{ ...WORKFLOW, table: workflows, versions: workflowVersions },
    size: workflowVersions.definition,
    title: sql`${workflowVersions.definition} ->> 'name'`,
  },
  agent: { ...AGENT, table: agents, versions: agentVersions, size: agentVersions.config, title: agentVersions.name },
  tool: { ...TOOL, table: tools, versions: toolVersions, size: toolVersions.inputSchema, title: toolVersions.name },
}

/** A published object, without its contents. */
export interface Listed {
  id: string
  name: string
  version: number
}

/** The published objects of a kind in the caller's lists, by id; at most one more than a document has. */
export async function listPublished(
  ctx: ServiceContext,
  word: Word,
  only: readonly string[] | null,
): Promise<Listed[]> {
  const { table } = NOUNS[word]
  if (only?.length === 0) return []
  return published(ctx, word)
    .where(
      and(
        everPublished(ctx, word),
        ne(table.status, 'archived'),
        rowsInReach(ctx, word, table.id),
        only ? inArray(table.id, [...only]) : undefined,
      ),
    )
    .orderBy(asc(sql`${table.id} collate "C"`))
    .limit(MAX_OBJECTS + 1)
}

/**
 * Everything of a kind that was ever published, oldest first, for every caller: an object's name in the document must
 * not depend on the others a caller sees.
 */
export async function listNamed(ctx: ServiceContext, word: Word): Promise<(Listed & { createdAt: Date })[]> {
  const { table } = NOUNS[word]
  return published(ctx, word)
    .where(everPublished(ctx, word))
    .orderBy(asc(table.createdAt), asc(sql`${table.id} collate "C"`))
    .limit(MAX_NAMED)
}

function published(ctx: ServiceContext, word: Word) {
  const { table, versions, ownerId, title } = NOUNS[word]
  const name = sql<string>`coalesce(nullif(${title}, ''), ${table.name})`
  const { id, createdAt, tenantId, publishedVersion } = table
  return ctx.db
    .select({ id, name, version: sql<number>`${publishedVersion}`, createdAt })
    .from(table)
    .leftJoin(versions, and(eq(versions.tenantId, tenantId), eq(ownerId, id), eq(versions.version, publishedVersion)))
    .$dynamic()
}

function everPublished({ tenantId }: ServiceContext, word: Word): SQL | undefined {
  const { table } = NOUNS[word]
  return and(eq(table.tenantId, tenantId), isNotNull(table.publishedVersion))
}

/** The versions that are small enough to read. */
function versionsOf(ctx: ServiceContext, word: Word, listed: readonly Listed[]): SQL | undefined {
  const { versions, ownerId, size } = NOUNS[word]
  const pairs = listed.map(({ id, version }) => sql`(${id}::text, ${version}::integer)`)
  return and(
    eq(versions.tenantId, ctx.tenantId),
    sql`(${ownerId}, ${versions.version}) in (${sql.join(pairs, sql`, `)})`,
    sql`coalesce(octet_length(${size}::text), 0) <= ${MAX_BYTES}`,
  )
}

/** In the form that the version's runs read. */
export async function readWorkflows(
  ctx: ServiceContext,
  listed: readonly Listed[],
): Promise<Map<string, { definition: Definition; expanded: Definition }>> {
  const rows = await ctx.db
    .select()
    .from(workflowVersions)
    .where(versionsOf(ctx, 'workflow', listed))
  return new Map(
    rows.map((row) => {
      const definition = WORKFLOW.contentOf(row)
      return [row.workflowId, { definition, expanded: expand(withPins(definition, row.pins)) }]
    }),
  )
}

export interface ReadAgent {
  description: string
  /** Null for an agent that answers in text. */
  outputSchema: JsonObject | null
}

export async function readAgents(ctx: ServiceContext, listed: readonly Listed[]): Promise<Map<string, ReadAgent>> {
  const rows = await ctx.db
    .select({
      id: agentVersions.agentId,
      description: sql<string | null>`${agentVersions.config}->>'description'`,
      outputSchema: sql<JsonObject | null>`
        case when ${agentVersions.config}->>'supervisor' is distinct from 'true' and
          json_typeof(${agentVersions.config}->'outputSchema') = 'object' then ${agentVersions.config}->'outputSchema' end`,
    })
    .from(agentVersions)
    .where(versionsOf(ctx, 'agent', listed))
  return new Map(
    rows.map(({ id, description, outputSchema }) => [id, { description: description ?? '', outputSchema }]),
  )
}

export interface ReadTool {
  description: string
  inputSchema: JsonObject | null
  outputSchema: JsonObject | null
}

export async function readTools(ctx: ServiceContext, listed: readonly Listed[]): Promise<Map<string, ReadTool>> {
  const { toolId: id, description, inputSchema, outputSchema } = toolVersions
  const rows = await ctx.db
    .select({ id, description, inputSchema, outputSchema })
    .from(toolVersions)
    .where(versionsOf(ctx, 'tool', listed))
  return new Map(rows.map(({ id, ...tool }) => [id, tool]))
}
