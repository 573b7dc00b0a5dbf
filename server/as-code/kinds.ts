import { ne, type SQL } from 'drizzle-orm'
import type { z } from 'zod'
import type { inboundWebhooks } from '@/db/schema/inbound'
import type { schedules } from '@/db/schema/schedules'
import { checkAgent } from '../agents/check'
import { newConfig } from '../agents/config'
import { AGENT } from '../agents/noun'
import type { AgentConfig } from '../agents/schema'
import type { TransactionContext } from '../context'
import type { JsonObject } from '../definition/json'
import type { Definition } from '../definition/schema'
import { newTool } from '../tools/definition'
import { TOOL } from '../tools/noun'
import type { ToolDefinition } from '../tools/schema'
import type { Named, Noun, Row, Table, VersionRow } from '../versioned/noun'
import type { Candidate, Checked } from '../versioned/publish'
import type { Problem } from '../workflows/check/problem'
import { unknownFields } from '../workflows/check/unknown-fields'
import { newDefinition } from '../workflows/definition'
import { WORKFLOW } from '../workflows/noun'
import { checkWorkflow } from './check-workflow'
import type { DefinedAgent, DefinedTool, DefinedWorkflow, Plural } from './schema'
import { type Used, usedByAgent, usedByWorkflow } from './uses'
import { writeAgent, writeTool, writeWorkflow } from './write'

export type AnyNoun = Noun<Row, VersionRow, Named, { version: number }>

/** The content of an object's definition. */
export interface Content {
  name: string
}

/** A kind of object that can be written as a file. Uses methods for the same reason as `Noun`. */
export interface Kind {
  word: Used['kind'] | 'schedule' | 'inboundWebhook'
  /** Its field in bodies, and the folder of its files. */
  plural: Plural
  table: Table | typeof schedules | typeof inboundWebhooks
  /** Selects the objects that count as existing. */
  isThere: SQL | undefined
  /**
   * The content in the form saving would store.
   * @throws AppError INVALID_INPUT
   */
  contentOf(item: object): Content
  /** The content in the form of a file: names in canonical order, without defaults. */
  write(content: Content): JsonObject
  uses(content: Content): Used[]
}

/** A kind whose objects have versions and are published. */
export interface VersionedKind extends Kind {
  word: Used['kind']
  noun: AnyNoun
  contentOf(item: object): Named
  /** Fields without a meaning, for kinds that store them. */
  unknownFields(content: Named): Problem[]
  /**
   * Checks a version before it is published.
   * @param apart workflows whose newer versions do not cause republishing
   * @throws AppError VALIDATION_FAILED
   */
  check(
    tx: TransactionContext,
    candidate: Candidate<VersionRow, Named>,
    apart: ReadonlySet<string>,
  ): Promise<Checked<VersionRow, { warnings: Problem[] }>>
}

function ofNoun(noun: AnyNoun) {
  return { word: noun.word, noun, table: noun.table, isThere: ne(noun.table.status, 'archived') }
}

const fine = { report: { warnings: [] } }

const WORKFLOWS: VersionedKind = {
  plural: 'workflows',
  ...ofNoun(WORKFLOW),
  contentOf: (item: z.output<typeof DefinedWorkflow>) => newDefinition(item),
  write: (content: Definition) => writeWorkflow(content),
  uses: (content: Definition) => usedByWorkflow(content),
  unknownFields: (content: Definition) => unknownFields(content),
  check: checkWorkflow,
}

const AGENTS: VersionedKind = {
  plural: 'agents',
  ...ofNoun(AGENT),
  contentOf: (item: z.output<typeof DefinedAgent>) => newConfig(item),
  write: (content: AgentConfig) => writeAgent(content),
  uses: (content: AgentConfig) => usedByAgent(content),
  unknownFields: () => [],
  async check(tx, candidate: Candidate<VersionRow, AgentConfig>) {
    await checkAgent(tx, candidate)
    return fine
  },
}

const TOOLS: VersionedKind = {
  plural: 'tools',
  ...ofNoun(TOOL),
  contentOf: (item: z.output<typeof DefinedTool>) => newTool(item),
  write: (content: ToolDefinition) => writeTool(content),
  uses: () => [],
  unknownFields: () => [],
  check: async () => fine,
}

/** In export order. */
export const VERSIONED_KINDS: readonly VersionedKind[] = [TOOLS, AGENTS, WORKFLOWS]
