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
 * What publishing a workflow checks, without its simulation, which takes too long for many. One that is live is published
 * again only to take up newer versions of what it uses; those of workflows that use it in turn do not count, or each of
 * them would be published because of the other for ever.
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
  // What is live stays so, whatever has become of what it uses.
  if (warnings.length < problems.length) return { report: { warnings } }
  return { report: { warnings }, columns: { pins }, renews }
}

function without(pins: Pins | null, apart: ReadonlySet<string>): Pins {
  const kept = Object.entries(pins ?? {}).filter(([, { kind, id }]) => kind !== 'workflow' || !apart.has(id))
  return Object.fromEntries(kept)
}
