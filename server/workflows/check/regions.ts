import { MAX_NESTED, MAX_PLACE_BYTES } from '../../definition/branches'
import { crossingsOf, type Region, regionsOf } from '../../definition/regions'
import type { Definition, Step } from '../../definition/schema'
import { findStepType } from '../../steps/registry'
import type { Problem } from './problem'

/** The bodies of a definition's branches. */
export function bodiesOf(definition: Definition): Region[] {
  return regionsOf(definition, (step: Step) => findStepType(step.type)?.exits)
}

/** The bodies whose data is not merged. */
export function keptApart(regions: readonly Region[], { steps }: Definition): Region[] {
  const merging = new Set(
    steps.flatMap(({ id, type: name }) => {
      const type = findStepType(name)
      return type?.mode === 'fork' && type.merges === true ? [id] : []
    }),
  )
  return regions.filter(({ fork }) => !merging.has(fork))
}

/** The steps of a body without those of nested bodies. */
export function stepsOutside({ steps }: Region, others: readonly Region[]): Set<string> {
  const inside = new Set<string>()
  for (const { fork, steps: inner } of others) {
    // All successors of a step in another body are in there too.
    if (steps.has(fork) && !inside.has(fork)) for (const id of inner) inside.add(id)
  }
  return new Set([...steps].filter((id) => !inside.has(id)))
}

/** A body may be entered only through the exit of its step; nesting is limited. */
export function checkRegions(definition: Definition, regions: readonly Region[]): Problem[] {
  const problems: Problem[] = crossingsOf(definition, regions).map(({ region: { fork, exit }, stepId, from }) => {
    const where = `the branch ${exit} of ${fork}`
    const message =
      stepId === fork
        ? `The branch ${exit} of ${fork} leads back to ${fork} itself; a branch cannot leave its own steps.`
        : from === undefined
          ? `${stepId} belongs to ${where}, so nothing else can begin there.`
          : `${stepId} belongs to ${where}, so ${from} cannot lead there.`
    return { severity: 'error', code: 'REGION_ENTERED', message, stepId, field: 'edges' }
  })
  for (const fork of new Set(regions.map((region) => region.fork))) {
    const outside = new Map(regions.filter(({ steps }) => steps.has(fork)).map((region) => [region.fork, region]))
    if (outside.has(fork)) continue
    const add = (message: string, field: string) =>
      problems.push({ severity: 'error', code: 'NESTED_TOO_DEEP', message, stepId: fork, field })
    if (outside.size + 1 > MAX_NESTED)
      add(
        `${fork} is nested in ${outside.size} other steps with branches; at most ${MAX_NESTED} levels are allowed.`,
        'edges',
      )
    else if (regions.some((region) => region.fork === fork && placeBytes(region, outside) > MAX_PLACE_BYTES))
      add(
        `The ids of ${fork}, of the steps with branches around it, of its exits and of the steps in its branches are too long: together, at most ${MAX_PLACE_BYTES} bytes are allowed. Give them shorter ids.`,
        'id',
      )
  }
  return problems
}

/** The number of a visit and that of an item, with separators. */
const NUMBERS_BYTES = 20

/**
 * A branch is named after the steps and exits around it. With the longest id in it, the name is a key of the database.
 */
function placeBytes(region: Region, outside: ReadonlyMap<string, Region>): number {
  const named = [...outside.values(), region].flatMap(({ fork, exit }) => [fork, exit])
  const ids = [...region.steps].map((id) => Buffer.byteLength(id))
  return named.reduce((sum, name) => sum + Buffer.byteLength(name), Math.max(...ids) + NUMBERS_BYTES * named.length)
}

/** Two branches whose data is merged must not write the same field: the winner would be undefined. */
export function checkMerges(
  definition: Definition,
  regions: readonly Region[],
  written: (stepId: string) => { names: readonly string[]; open: boolean },
): Problem[] {
  const problems: Problem[] = []
  const apart = keptApart(regions, definition)
  for (const step of definition.steps) {
    const type = findStepType(step.type)
    if (type?.mode !== 'fork' || !type.merges) continue
    const writers = new Map<string, string>()
    for (const region of regions.filter(({ fork }) => fork === step.id)) {
      const { exit } = region
      for (const id of stepsOutside(region, apart)) {
        const { names, open } = written(id)
        if (open) {
          const message = `${id} may add fields of any name, including those of another branch. Set “Save as” to keep its result apart.`
          problems.push({ severity: 'warning', code: 'W_BRANCH_OPEN', message, stepId: id, field: 'saveAs' })
        }
        for (const name of names) {
          const other = writers.get(name)
          if (other === undefined || other === exit) writers.set(name, exit)
          else {
            const message = `The branches ${other} and ${exit} of ${step.id} both write ${name}. Give the field another name in one of them.`
            problems.push({ severity: 'error', code: 'BRANCH_CONFLICT', message, stepId: id, field: 'saveAs' })
          }
        }
      }
    }
  }
  return problems
}
