import { authorize } from '../../auth/policy'
import type { ServiceContext } from '../../context'
import { findBuiltinTool } from '../../tools/builtin'
import { getTool } from '../../tools/lifecycle'
import { TOOL } from '../../tools/noun'
import type { One } from '../../versioned/noun'
import { openDraft } from '../../versioned/open-draft'
import { countCases } from '../../versioned/test-cases'
import { withDraftAuthor } from '../versioned'

/**
 * The data of a tool's page: the latest version, its draft, and the number of test cases. A built-in tool has no draft
 * or test cases.
 * @throws AppError TOOL_NOT_FOUND
 */
export async function openTool(ctx: ServiceContext, input: One) {
  authorize(ctx, 'tool:read')
  if (findBuiltinTool(input.id)) return { ...(await getTool(ctx, input)), draft: null }
  const opened = await openDraft(ctx, TOOL, input)
  const [shown, testCases] = await Promise.all([withDraftAuthor(ctx, opened), countCases(ctx, TOOL, opened.id)])
  return { ...shown, testCases }
}
