import { and, asc, eq, isNotNull, ne, type SQL, sql } from 'drizzle-orm'
import { agents, agentVersions } from '@/db/schema/agents'
import { tools, toolVersions } from '@/db/schema/tools'
import { workflows, workflowVersions } from '@/db/schema/workflows'
import { AGENT } from '../agents/noun'
import { rowsInReach } from '../auth/reach'
import type { ServiceContext } from '../context'
import type { JsonObject } from '../definition/json'
import type { Fields } from '../definition/schema'
import { ID_TAIL } from '../ids'
import { toolName, type Word } from '../models/tool-names'
import { TOOL } from '../tools/noun'
import { WORKFLOW } from '../workflows/noun'

/** The facts a caller needs to call a published version. */
export interface Published {
  word: Word
  id: string
  name: string
  description: string
  /** The START fields of a workflow. Null if they are too large to list. */
  fields: Fields | null
  /** The schema of a tool's arguments, or of an agent's answer. */
  schema: JsonObject | null
  /** Whether an agent answers in text only. */
  speaks: boolean
}

/** The maximum for a tool's schema. A list must fit into one response, and into a model's context. */
const MAX_BYTES = 64 * 1024

const none = sql`null`
/** The columns of each noun: definitions may be large, so only the shown parts are read. */
const NOUNS = {
  workflow: {
    ...WORKFLOW,
    table: workflows,
    versions: workflowVersions,
    description: sql`${workflowVersions.definition}->>'description'`,
    fields: sql`
      case when octet_length((${workflowVersions.definition}->'payload')::text) <= ${MAX_BYTES}
        then ${workflowVersions.definition}->'payload' end`,
    schema: none,
    speaks: sql`false`,
  },
  agent: {
    ...AGENT,
    table: agents,
    versions: agentVersions,
    description: sql`${agentVersions.config}->>'description'`,
    fields: none,
    schema: none,
    speaks: sql`${agentVersions.config}->>'outputSchema' is null or ${agentVersions.config}->>'supervisor' = 'true'`,
  },
  tool: {
    ...TOOL,
    table: tools,
    versions: toolVersions,
    description: sql`${toolVersions.description}`,
    fields: none,
    schema: sql`${toolVersions.inputSchema}`,
    speaks: sql`false`,
  },
}

/** The published objects of a kind that the caller may touch, by id from the first after `after`. */
export function listPublished(ctx: ServiceContext, word: Word, after: string, limit: number): Promise<Published[]> {
  return read(ctx, word, sql`${NOUNS[word].table.id} collate "C" > ${after}`, limit)
}

/**
 * Finds the published object of a tool name by its tail, so that renaming an object does not break clients that listed
 * it.
 */
export async function findPublished(
  ctx: ServiceContext,
  words: readonly Word[],
  name: string,
  tail: string,
): Promise<Published | null> {
  const found = await Promise.all(
    words.map((word) => read(ctx, word, sql`${tailSql(word, NOUNS[word].table.id)} = ${tail}`, 2)),
  )
  const [first, second] = found.flat()
  if (!first || !second) return first ?? null
  return found.flat().find((one) => toolName(one.word, one.id, one.name) === name) ?? null
}

async function read(ctx: ServiceContext, word: Word, where: SQL, limit: number): Promise<Published[]> {
  const { table, versions, ownerId, description, fields, schema, speaks } = NOUNS[word]
  const rows = await ctx.db
    .select({
      id: table.id,
      name: table.name,
      description: description as SQL<string | null>,
      fields: fields as SQL<Fields | null>,
      schema: schema as SQL<JsonObject | null>,
      speaks: speaks as SQL<boolean>,
    })
    .from(table)
    .innerJoin(
      versions,
      and(eq(versions.tenantId, table.tenantId), eq(ownerId, table.id), eq(versions.version, table.publishedVersion)),
    )
    .where(
      and(
        eq(table.tenantId, ctx.tenantId),
        isNotNull(table.publishedVersion),
        ne(table.status, 'archived'),
        rowsInReach(ctx, word, table.id),
        where,
      ),
    )
    .orderBy(asc(sql`${table.id} collate "C"`))
    .limit(limit)
  return rows.map(({ description, ...row }) => ({ word, ...row, description: description ?? '' }))
}

/** The tail of an object's name, as `tailOf` gives it. */
function tailSql(word: Word, id: SQL | { getSQL(): SQL }): SQL<string> {
  return sql`left(encode(sha256(convert_to(${`${word}:`}::text || ${id}, 'UTF8')), 'hex'), ${ID_TAIL}::integer)`
}
