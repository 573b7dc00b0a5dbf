import { authorize } from '../auth/policy'
import type { ServiceContext } from '../context'
import { samePins } from '../definition/pins'
import type { Guarded } from '../versioned/noun'
import { type Note, publish } from '../versioned/publish'
import { advice } from './advice'
import { checkDefinition, requireRunnable } from './check/definition'
import { findPins } from './find-pins'
import { WORKFLOW } from './noun'
import { hintsOf } from './simulate'

/**
 * Makes the latest saved version the one new runs use, with the present versions of the tools, agents and workflows that
 * it uses. Publishing it again does nothing, unless one of those has a newer version.
 * @throws AppError WORKFLOW_NOT_FOUND, WORKFLOW_ARCHIVED, VERSION_CONFLICT, VALIDATION_FAILED, INVALID_INPUT
 */
export async function publishWorkflow(ctx: ServiceContext, input: Guarded & { note?: Note }) {
  authorize(ctx, 'workflow:publish')
  return publish(ctx, WORKFLOW, input, async (tx, { version, content, live }) => {
    // A version that is already published stays published, even if a tool it calls is gone by now.
    const warnings = await (live
      ? advice(tx, 'check of what is published', () => checkDefinition(tx, content), [])
      : requireRunnable(tx, content))
    const hints = live ? [] : await hintsOf(tx, content, warnings)
    const report = { warnings: [...warnings, ...hints] }
    if (warnings.some(({ severity }) => severity === 'error')) return { report }
    const pins = await findPins(tx, content)
    return { report, columns: { pins }, renews: !samePins(version.pins, pins) }
  })
}
