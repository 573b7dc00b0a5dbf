import { tools, toolVersions } from '@/db/schema/tools'
import { parseInput } from '../parse'
import { misplacedSecrets } from '../vault/misplaced'
import type { Drafted } from '../versioned/draft'
import { sameJson } from '../versioned/same-json'
import { mergeTool } from './definition'
import { definitionOf, type PresentedTool, presentTool, type ToolRow, type ToolVersionRow } from './present'
import { MAX_NAME, type ToolDefinition, UpdateTool } from './schema'
import { addressProblems, secretUse } from './secret-use'

/** The tenant's own tools, for the shared lifecycle in `server/versioned`. Built-in tools have no rows. */
export const TOOL: Drafted<ToolRow, ToolVersionRow, ToolDefinition, PresentedTool> = {
  word: 'tool',
  idPrefix: 'tool',
  table: tools,
  versions: toolVersions,
  ownerId: toolVersions.toolId,
  notFound: 'TOOL_NOT_FOUND',
  archived: 'TOOL_ARCHIVED',
  maxName: MAX_NAME,
  insertVersion: (ctx, { id, ...saved }, tool) => ctx.db.insert(toolVersions).values({ ...saved, ...tool, toolId: id }),
  contentOf: definitionOf,
  same: sameJson,
  problems: async (ctx, tool) => [...addressProblems(tool), ...(await misplacedSecrets(ctx, secretUse(tool)))],
  present: presentTool,
  withDraft: (current, draft) => mergeTool(current, parseInput(UpdateTool, draft)),
}
