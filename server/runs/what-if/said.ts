import { isBranch, shownBranch } from '../../definition/branches'
import { type JsonObject, jsonSize } from '../../definition/json'
import { readableSize } from '../../definition/limits'
import type { Definition } from '../../definition/schema'
import { type Place, placeKey } from '../../definition/verdict'
import { AppError } from '../../errors'
import type { Changed } from '../../workflows/replay/as-recorded'
import type { Said } from '../../workflows/replay/said'
import { hiddenAsUnknown, typedCame, type Voter } from '../../workflows/replay/typed'
import type { Unknowns } from '../../workflows/replay/unknown'
import type { Target } from '../backtest/trial'
import { checkEdits } from '../edits'
import { type Changes, MAX_CHANGES_BYTES } from './schema'

/** A place as people read it: with the id of the written step. */
export function shownPlace({ branch, stepId, visit }: Place, idOf: (stepId: string) => string): Place {
  return { branch: isBranch(branch) ? shownBranch(branch) : branch, stepId: idOf(stepId), visit }
}

/** @throws AppError INVALID_INPUT if they are too large, or name a step that the version does not have */
export function checkChanges(changes: Changes, { definition, idOf }: Target): void {
  const sent: JsonObject = JSON.parse(JSON.stringify(changes))
  checkEdits({}, sent)
  if (jsonSize(sent) > MAX_CHANGES_BYTES)
    throw invalid('changes', `are larger than ${readableSize(MAX_CHANGES_BYTES)} together`)
  const known = new Set(definition.steps.map(({ id }) => idOf(id)))
  for (const [nth, { before }] of changes.data.entries())
    if (!known.has(before.stepId)) throw invalid(`changes.data[${nth}].before.stepId`, 'is not the id of a step')
  for (const [nth, { at }] of changes.came.entries())
    if (!known.has(at.stepId)) throw invalid(`changes.came[${nth}].at.stepId`, 'is not the id of a step')
}

const invalid = (path: string, message: string) => new AppError('INVALID_INPUT', { details: [{ path, message }] })

/** Which values are no longer as the run had them, so that what was made of them is neither. */
export function changedBy({ input, data, came }: Changes, { steps }: Definition, idOf: Target['idOf']): Changed {
  const ids = new Set(came.map(({ at }) => at.stepId))
  return {
    steps: new Set(steps.flatMap(({ id }) => (ids.has(idOf(id)) ? [id] : []))),
    names: new Set([...Object.keys(input), ...data.flatMap(({ fields }) => Object.keys(fields))]),
  }
}

/** The changes as a walk takes them. Values that a screen has hidden come back as such, and are unknown. */
export function saidBy(changes: Changes, idOf: Target['idOf'], voter: Voter, unknowns: Unknowns): Said {
  const { input, data, came } = hiddenAsUnknown(unknowns, changes)
  const edits = new Map<string, JsonObject>()
  for (const { before, fields } of data) edits.set(placeKey(before), { ...edits.get(placeKey(before)), ...fields })
  const facts = new Map(came.map(({ at, came }) => [placeKey(at), typedCame(came)]))
  const key = (place: Place) => placeKey(shownPlace(place, idOf))
  return {
    ...{ input, voter },
    edits: (place) => edits.get(key(place)) ?? null,
    came: (place) => facts.get(key(place)) ?? null,
  }
}
