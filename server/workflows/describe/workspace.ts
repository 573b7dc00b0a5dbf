import { and, asc, desc, eq, isNotNull, ne, sql } from 'drizzle-orm'
import { agents, agentVersions } from '@/db/schema/agents'
import { groups } from '@/db/schema/groups'
import { tools, toolVersions } from '@/db/schema/tools'
import { workflows, workflowVersions } from '@/db/schema/workflows'
import type { ServiceContext } from '../../context'
import { cutText, type JsonObject, type JsonValue } from '../../definition/json'
import { BUILTIN_TOOLS } from '../../tools/builtin'

/** The most recently changed of each kind; a larger prompt costs more and helps less. */
const MAX_EACH = 40
const MAX_GROUPS = 100
const MAX_DESCRIPTION = 300
/** Of a schema, in characters. The check examines arguments of any schema. */
const MAX_SCHEMA = 2_000

/**
 * The objects of the workspace that steps can refer to, for a model: names, ids and schemas. Neither secrets nor people
 * are among them.
 */
export async function readWorkspace(ctx: ServiceContext): Promise<JsonObject> {
  const [tools, agents, workflows, groups] = await Promise.all([
    readTools(ctx),
    readAgents(ctx),
    readWorkflows(ctx),
    readGroups(ctx),
  ])
  return { tools: [...builtinTools(), ...tools], agents, workflows, groups }
}

const shortText = (text: string | null) => cutText(text ?? '', MAX_DESCRIPTION)
const shortSchema = (schema: JsonValue): JsonValue =>
  JSON.stringify(schema).length > MAX_SCHEMA ? 'too long to show' : schema

function builtinTools(): JsonObject[] {
  return Object.values(BUILTIN_TOOLS).map(({ id, name, description, inputSchema }) => ({
    ...{ toolId: id, name, description },
    args: shortSchema(inputSchema),
  }))
}

async function readTools({ db, tenantId }: ServiceContext): Promise<JsonObject[]> {
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
  return rows.map(({ description, inputSchema, outputSchema, ...row }) => ({
    ...row,
    description: shortText(description),
    args: shortSchema(inputSchema),
    result: shortSchema(outputSchema),
  }))
}

/** Only those that answer with data: a step can call no others. */
async function readAgents({ db, tenantId }: ServiceContext): Promise<JsonObject[]> {
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
  return rows.map(({ description, outputSchema, ...row }) => ({
    ...row,
    description: shortText(description),
    answers: shortSchema(outputSchema),
  }))
}

async function readWorkflows({ db, tenantId }: ServiceContext): Promise<JsonObject[]> {
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
  return rows.map(({ description, payload, ...row }) => ({
    ...row,
    description: shortText(description),
    input: shortSchema(payload),
  }))
}

async function readGroups({ db, tenantId }: ServiceContext): Promise<string[]> {
  const rows = await db
    .select({ name: groups.name })
    .from(groups)
    .where(eq(groups.tenantId, tenantId))
    .orderBy(asc(groups.key))
    .limit(MAX_GROUPS)
  return rows.map(({ name }) => name)
}
