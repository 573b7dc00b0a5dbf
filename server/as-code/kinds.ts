import type { z } from 'zod'
import { newConfig } from '../agents/config'
import { AGENT } from '../agents/noun'
import { checkAgent } from '../agents/publish'
import type { AgentConfig } from '../agents/schema'
import type { TransactionContext } from '../context'
import type { JsonObject } from '../definition/json'
import type { Definition } from '../definition/schema'
import { newTool } from '../tools/definition'
import { TOOL } from '../tools/noun'
import type { ToolDefinition } from '../tools/schema'
import type { Named, Noun, Row, VersionRow } from '../versioned/noun'
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

/** What can be written as a file. These are methods for the reason that those of `Noun` are. */
export interface Kind {
  /** In bodies, and the folder of its files. */
  plural: Plural
  noun: AnyNoun
  /**
   * The content as saving it would store it.
   * @throws AppError INVALID_INPUT
   */
  contentOf(item: object): Named
  /** The content as a file says it: names in one order, and nothing that is so by default. */
  write(content: Named): JsonObject
  uses(content: Named): Used[]
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

const fine = { report: { warnings: [] } }

const WORKFLOWS: Kind = {
  plural: 'workflows',
  noun: WORKFLOW,
  contentOf: (item: z.output<typeof DefinedWorkflow>) => newDefinition(item),
  write: (content: Definition) => writeWorkflow(content),
  uses: (content: Definition) => usedByWorkflow(content),
  unknownFields: (content: Definition) => unknownFields(content),
  check: checkWorkflow,
}

const AGENTS: Kind = {
  plural: 'agents',
  noun: AGENT,
  contentOf: (item: z.output<typeof DefinedAgent>) => newConfig(item),
  write: (content: AgentConfig) => writeAgent(content),
  uses: (content: AgentConfig) => usedByAgent(content),
  unknownFields: () => [],
  async check(tx, candidate: Candidate<VersionRow, AgentConfig>) {
    await checkAgent(tx, candidate)
    return fine
  },
}

const TOOLS: Kind = {
  plural: 'tools',
  noun: TOOL,
  contentOf: (item: z.output<typeof DefinedTool>) => newTool(item),
  write: (content: ToolDefinition) => writeTool(content),
  uses: () => [],
  unknownFields: () => [],
  check: async () => fine,
}

/** In the order in which they are exported. */
export const KINDS: readonly Kind[] = [TOOLS, AGENTS, WORKFLOWS]
