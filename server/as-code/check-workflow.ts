import type { TransactionContext } from '../context'
import { type Pins, samePins } from '../definition/pins'
import type { Definition } from '../definition/schema'
import type { Candidate, Checked } from '../versioned/publish'
import { advice } from '../workflows/advice'
import { checkDefinition, requireRunnable } from '../workflows/check/definition'
import type { Problem } from '../workflows/check/problem'
import { findPins } from '../workflows/find-pins'
import type { VersionRow } from '../workflows/present'

/**
 * The checks of publishing a workflow, without its simulation, which takes too long for many. Republishes a live
 * workflow only to adopt newer versions of the objects it uses; workflows that use it in turn do not count, or each
 * would republish the other forever.
 * @throws AppError VALIDATION_FAILED
 */
export async function checkWorkflow(
  tx: TransactionContext,
  { version, content, live }: Candidate<VersionRow, Definition>,
  apart: ReadonlySet<string>,
): Promise<Checked<VersionRow, { warnings: Problem[] }>> {
  const pins = await findPins(tx, content)
  const renews = !samePins(without(version.pins, apart), without(pins, apart))
  if (live && !renews) return { report: { warnings: [] } }
  const problems = await (live
    ? advice(tx, 'check of what is published', () => checkDefinition(tx, content), [])
    : requireRunnable(tx, content))
  const warnings = problems.filter(({ severity }) => severity === 'warning')
  // A live version stays live, even if the objects it uses have changed.
  if (warnings.length < problems.length) return { report: { warnings } }
  return { report: { warnings }, columns: { pins }, renews }
}

function without(pins: Pins | null, apart: ReadonlySet<string>): Pins {
  const kept = Object.entries(pins ?? {}).filter(([, { kind, id }]) => kind !== 'workflow' || !apart.has(id))
  return Object.fromEntries(kept)
}
