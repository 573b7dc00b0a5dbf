import { AGENT } from '../../agents/noun'
import { authorize } from '../../auth/policy'
import type { ServiceContext } from '../../context'
import type { One } from '../../versioned/noun'
import { openDraft } from '../../versioned/open-draft'
import { countCases } from '../../versioned/test-cases'
import { withDraftAuthor } from '../versioned'

/**
 * The data of an agent's page: the latest version, its draft, and the number of test cases.
 * @throws AppError AGENT_NOT_FOUND
 */
export async function openAgent(ctx: ServiceContext, input: One) {
  authorize(ctx, 'agent:read')
  const opened = await openDraft(ctx, AGENT, input)
  const [shown, testCases] = await Promise.all([withDraftAuthor(ctx, opened), countCases(ctx, AGENT, opened.id)])
  return { ...shown, testCases }
}
