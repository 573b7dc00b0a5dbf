import { authorize } from '../../auth/policy'
import type { ServiceContext } from '../../context'
import { findBuiltinTool } from '../../tools/builtin'
import { getTool } from '../../tools/get'
import { TOOL } from '../../tools/noun'
import type { One } from '../../versioned/noun'
import { openDraft } from '../../versioned/open-draft'
import { withDraftAuthor } from '../versioned'

/**
 * What a tool's page opens: the latest version and the draft beside it. A built-in tool has none.
 * @throws AppError TOOL_NOT_FOUND
 */
export async function openTool(ctx: ServiceContext, input: One) {
  authorize(ctx, 'tool:read')
  if (findBuiltinTool(input.id)) return { ...(await getTool(ctx, input)), draft: null }
  return withDraftAuthor(ctx, await openDraft(ctx, TOOL, input))
}
