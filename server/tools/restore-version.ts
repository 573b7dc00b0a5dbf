import { authorize } from '../auth/policy'
import type { ServiceContext } from '../context'
import type { Guarded, OneVersion } from '../versioned/noun'
import { restoreVersion } from '../versioned/restore-version'
import { refuseBuiltin } from './builtin'
import { TOOL } from './noun'
import type { PresentedTool } from './present'

/**
 * Saves an earlier version as the next one without publishing it. Restoring the current version changes nothing.
 * @throws AppError TOOL_NOT_FOUND, TOOL_ARCHIVED, VERSION_CONFLICT, INVALID_INPUT, CONFLICT for a built-in tool
 */
export async function restoreToolVersion(ctx: ServiceContext, input: Guarded & OneVersion): Promise<PresentedTool> {
  authorize(ctx, 'tool:write')
  refuseBuiltin(input.id)
  return restoreVersion(ctx, TOOL, input)
}
