import { authorize } from '../auth/policy'
import type { ServiceContext } from '../context'
import { parseInput } from '../parse'
import { draftedLifecycleOf } from '../versioned/lifecycle'
import type { One } from '../versioned/noun'
import { findBuiltinTool, refuseBuiltin } from './builtin'
import { mergeTool, newTool } from './definition'
import { listTools, listToolVersions } from './list'
import { TOOL } from './noun'
import { type PresentedTool, presentBuiltin, presentToolVersion } from './present'
import { CreateTool, ListTools, UpdateTool } from './schema'

const OWN = draftedLifecycleOf(TOOL, {
  newContent: (body) => newTool(parseInput(CreateTool, body)),
  update: { schema: UpdateTool, merge: mergeTool },
  list: ListTools,
  presentVersion: presentToolVersion,
  // Any version that could be saved can be published.
  check: async () => ({ report: {} }),
  requireOwn: refuseBuiltin,
})

/**
 * The latest saved version; works for archived and built-in tools too.
 * @throws AppError TOOL_NOT_FOUND
 */
export async function getTool(ctx: ServiceContext, input: One): Promise<PresentedTool> {
  authorize(ctx, 'tool:read')
  const builtin = findBuiltinTool(input.id)
  return builtin ? presentBuiltin(builtin) : OWN.get(ctx, input)
}

/** The verbs throw CONFLICT for a change of a built-in tool. */
export const TOOLS = { ...OWN, list: listTools, get: getTool, listVersions: listToolVersions }

export const {
  create: createTool,
  update: updateTool,
  archive: archiveTool,
  unarchive: unarchiveTool,
  undoArchive: undoArchiveTool,
  publish: publishTool,
  duplicate: duplicateTool,
  getVersion: getToolVersion,
  saveDraft: saveToolDraft,
  publishDraft: publishToolDraft,
  restoreVersion: restoreToolVersion,
} = TOOLS
