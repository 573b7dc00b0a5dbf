import { and, asc, desc, eq, isNotNull, ne, sql } from 'drizzle-orm'
import { agents, agentVersions } from '@/db/schema/agents'
import { groups } from '@/db/schema/groups'
import { tools, toolVersions } from '@/db/schema/tools'
import { workflows, workflowVersions } from '@/db/schema/workflows'
import type { ServiceContext } from '../../context'
import { cutText, type JsonObject, type JsonValue } from '../../definition/json'
import { BUILTIN_TOOLS } from '../../tools/builtin'
import type { Masker } from '../../vault/mask'

/** The most recently changed of each kind; a larger prompt costs more and helps less. */
const MAX_EACH = 40
const MAX_GROUPS = 100
const MAX_DESCRIPTION = 300
/** Of a schema, in characters. The check examines arguments of any schema. */
const MAX_SCHEMA = 2_000
/** Of everything together, in characters: about 10,000 tokens of each attempt. */
export const MAX_WORKSPACE = 40_000

/** An object that steps can refer to: its id and name, and then its details, the most useful first. */
interface Entry {
  names: JsonObject
  details: JsonObject[]
}

/**
 * The objects of the workspace that steps can refer to, for a model: names, ids and schemas. Neither secrets nor people
 * are among them. Of a large workspace, first schemas are left out, and then descriptions.
 */
export async function readWorkspace(ctx: ServiceContext, masker: Masker): Promise<JsonObject> {
  const [groups, tools, agents, workflows] = await Promise.all([
    readGroups(ctx, masker),
    readTools(ctx, masker),
    readAgents(ctx, masker),
    readWorkflows(ctx, masker),
  ])
  const room = new Room(MAX_WORKSPACE)
  const named = groups.filter((name) => room.takes(name))
  return { groups: named, ...fitting({ tools: [...builtinTools(), ...tools], agents, workflows }, room) }
}

/** The characters that are left. */
class Room {
  constructor(private left: number) {}

  /** False if there is no room for it. */
  takes(value: JsonValue): boolean {
    // It is followed by a comma.
    const needed = JSON.stringify(value).length + 1
    if (needed > this.left) return false
    this.left -= needed
    return true
  }
}

/** All names, then all details of the first rank, and so on, of each kind in turn. */
function fitting(kinds: Record<string, Entry[]>, room: Room): JsonObject {
  const lists = Object.values(kinds)
  const longest = Math.max(...lists.map(({ length }) => length))
  const inTurn = Array.from({ length: longest }, (_, at) => lists.flatMap((entries) => entries[at] ?? [])).flat()
  const found = new Map<Entry, JsonObject>()
  for (const entry of inTurn) if (room.takes(entry.names)) found.set(entry, { ...entry.names })
  for (const rank of [0, 1])
    for (const [{ details }, known] of found) {
      const detail = details[rank]
      if (detail && room.takes(detail)) Object.assign(known, detail)
    }
  const known = (entries: Entry[]) => entries.flatMap((entry) => found.get(entry) ?? [])
  return Object.fromEntries(Object.entries(kinds).map(([kind, entries]) => [kind, known(entries)]))
}

/** @param description masked, because half a secret would not be recognised */
function entryOf(names: JsonObject, description: string | null, schemas: JsonObject): Entry {
  const short = Object.entries(schemas).map(([name, schema]) => [name, shortSchema(schema)])
  return { names, details: [{ description: cutText(description ?? '', MAX_DESCRIPTION) }, Object.fromEntries(short)] }
}

const shortSchema = (schema: JsonValue): JsonValue =>
  JSON.stringify(schema).length > MAX_SCHEMA ? 'too long to show' : schema

function builtinTools(): Entry[] {
  return Object.values(BUILTIN_TOOLS).map(({ id, name, description, inputSchema }) =>
    entryOf({ toolId: id, name }, description, { args: inputSchema }),
  )
}

async function readTools({ db, tenantId }: ServiceContext, masker: Masker): Promise<Entry[]> {
  const { inputSchema, outputSchema, description } = toolVersions
  const rows = await db
    .select({ toolId: tools.id, name: tools.name, description, inputSchema, outputSchema })
    .from(tools)
    .innerJoin(
      toolVersions,
      and(
        eq(toolVersions.tenantId, tools.tenantId),
        eq(toolVersions.toolId, tools.id),
        eq(toolVersions.version, tools.version),
      ),
    )
    .where(and(eq(tools.tenantId, tenantId), ne(tools.status, 'archived')))
    .orderBy(desc(tools.updatedAt), asc(tools.id))
    .limit(MAX_EACH)
  return masker
    .json(rows)
    .map(({ description, inputSchema, outputSchema, ...names }) =>
      entryOf(names, description, { args: inputSchema, result: outputSchema }),
    )
}

/** Only those that answer with data: a step can call no others. */
async function readAgents({ db, tenantId }: ServiceContext, masker: Masker): Promise<Entry[]> {
  const outputSchema = sql<JsonObject>`${agentVersions.config}->'outputSchema'`
  const rows = await db
    .select({ agentId: agents.id, name: agents.name, description: agents.description, outputSchema })
    .from(agents)
    .innerJoin(
      agentVersions,
      and(
        eq(agentVersions.tenantId, agents.tenantId),
        eq(agentVersions.agentId, agents.id),
        eq(agentVersions.version, agents.version),
      ),
    )
    .where(
      and(
        ...[eq(agents.tenantId, tenantId), ne(agents.status, 'archived')],
        sql`${agentVersions.config}->>'outputSchema' is not null`,
        sql`${agentVersions.config}->>'supervisor' is distinct from 'true'`,
      ),
    )
    .orderBy(desc(agents.updatedAt), asc(agents.id))
    .limit(MAX_EACH)
  return masker
    .json(rows)
    .map(({ description, outputSchema, ...names }) => entryOf(names, description, { answers: outputSchema }))
}

async function readWorkflows({ db, tenantId }: ServiceContext, masker: Masker): Promise<Entry[]> {
  const payload = sql<JsonObject>`${workflowVersions.definition}->'payload'`
  const rows = await db
    .select({ workflowId: workflows.id, name: workflows.name, description: workflows.description, payload })
    .from(workflows)
    .innerJoin(
      workflowVersions,
      and(
        eq(workflowVersions.tenantId, workflows.tenantId),
        eq(workflowVersions.workflowId, workflows.id),
        eq(workflowVersions.version, workflows.publishedVersion),
      ),
    )
    .where(
      and(eq(workflows.tenantId, tenantId), ne(workflows.status, 'archived'), isNotNull(workflows.publishedVersion)),
    )
    .orderBy(desc(workflows.updatedAt), asc(workflows.id))
    .limit(MAX_EACH)
  return masker.json(rows).map(({ description, payload, ...names }) => entryOf(names, description, { input: payload }))
}

async function readGroups({ db, tenantId }: ServiceContext, masker: Masker): Promise<string[]> {
  const rows = await db
    .select({ name: groups.name })
    .from(groups)
    .where(eq(groups.tenantId, tenantId))
    .orderBy(asc(groups.key))
    .limit(MAX_GROUPS)
  return rows.map(({ name }) => masker.text(name))
}
