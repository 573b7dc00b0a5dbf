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
import { newDefinition } from '../workflows/definition'
import { WORKFLOW } from '../workflows/noun'
import { checkWorkflow } from './check-workflow'
import type { DefinedAgent, DefinedTool, DefinedWorkflow, Plural } from './schema'
import { unknownFields } from './unknown-fields'
import { type Used, usedByAgent, usedByWorkflow } from './uses'
import { writeAgent, writeTool, writeWorkflow } from './write'

export type AnyNoun = Noun<Row, VersionRow, Named, { version: number }>

/** What a definition says of an object. */
export interface Content {
  name: string
}

/** What can be written as a file. These are methods for the reason that those of `Noun` are. */
export interface Kind {
  word: Used['kind'] | 'schedule' | 'inboundWebhook'
  /** In bodies, and the folder of its files. */
  plural: Plural
  table: Table | typeof schedules | typeof inboundWebhooks
  /** Selects those that count as there. */
  isThere: SQL | undefined
  /**
   * The content as saving it would store it.
   * @throws AppError INVALID_INPUT
   */
  contentOf(item: object): Content
  /** The content as a file says it: names in one order, and nothing that is so by default. */
  write(content: Content): JsonObject
  uses(content: Content): Used[]
}

/** One whose objects have versions, and are published. */
export interface VersionedKind extends Kind {
  word: Used['kind']
  noun: AnyNoun
  contentOf(item: object): Named
  /** Fields that mean nothing, where saving keeps them. */
  unknownFields(content: Named): Problem[]
  /**
   * Checks a version that is to be published.
   * @param apart workflows whose newer versions are no reason to publish it again
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

/** In the order in which they are exported. */
export const VERSIONED_KINDS: readonly VersionedKind[] = [TOOLS, AGENTS, WORKFLOWS]
