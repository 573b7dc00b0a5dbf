import { reachable } from '@/server/definition/paths'
import { regionsOf } from '@/server/definition/regions'
import type { Definition, Step } from '@/server/definition/schema'
import type { Reference } from '@/server/definition/template'
import type { Catalog } from '@/server/steps/catalog'
import type { Problem } from '@/server/workflows/check/problem'
import { takenNames } from './config-fixes'
import { declaredBy, edgesFrom, entryOf, freeId } from './definition'
import { OF_THE_RUN } from './draft-fixes'
import { updateStep } from './edit-steps'
import type { Fix } from './fix'
import { referencesIn, rewriteReferences, withStart } from './references'

/** A step whose result could collide with another branch's saves it under a name of its own, and references follow. */
export function branchFix(definition: Definition, catalog: Catalog, step: Step, problem: Problem): Fix | null {
  if (!entryOf(catalog, step.type)?.common.includes('saveAs')) return null
  const taken = takenNames(definition, catalog)
  const free = freeId(`${step.id}_result`, taken)
  const save = (before: Definition) => updateStep(before, step.id, { saveAs: free })
  const label = `Save as ${free}`
  if (problem.code === 'W_BRANCH_OPEN') {
    // An undeclared name may be a field of this result or of another one: the user decides.
    const isKnown = (root: string) => taken.has(root) || OF_THE_RUN.includes(root) || ['_', 'fileId'].includes(root)
    const known = referencesIn(definition).every(({ reference }) => isKnown(reference.root))
    return known && step.saveAs === undefined ? { label, apply: save } : null
  }
  const written =
    /^The branches \S+ and (?<exit>\S+) of (?<fork>\S+) both write (?<name>.+)\. Give/.exec(problem.message)?.groups ??
    {}
  const { name = '', fork = '', exit = '' } = written
  if (name === '' || (step.saveAs !== undefined && step.saveAs !== name)) return null
  const meant = referrers(definition, catalog, step, { name, fork, exit })
  if (meant === null) return null
  const meaning: [string, ...string[]] = step.saveAs === name ? [free] : [free, name]
  const follow = (reference: Reference) => (reference.root === name ? withStart(reference, meaning) : null)
  return {
    label,
    apply: (before) =>
      save({
        ...before,
        steps: before.steps.map((one) =>
          meant.has(one.id) ? (rewriteReferences([one], follow).steps[0] ?? one) : one,
        ),
      }),
  }
}

/** The later steps of the branch whose references to the name mean this step's result; null if that is uncertain. */
function referrers(
  definition: Definition,
  catalog: Catalog,
  step: Step,
  { name, fork, exit }: { name: string; fork: string; exit: string },
): Set<string> | null {
  // A step's id always means its result, under any saved name.
  if (name === step.id) return new Set()
  const regions = regionsOf(definition, ({ type }) => entryOf(catalog, type)?.exits).filter((one) => one.fork === fork)
  const body = regions.find((one) => one.exit === exit)?.steps ?? new Set<string>()
  const beside = new Set(regions.flatMap((one) => (one.exit === exit ? [] : [...one.steps])))
  const later = new Set(edgesFrom(definition, step.id).flatMap(({ to }) => [...reachable(definition, to)]))
  const referring = referencesIn(definition).filter(
    ({ stepId, reference }) => body.has(stepId) && reference.root === name,
  )
  if (referring.length === 0) return new Set()
  const isOther = (one: Step) => one.id !== step.id && !beside.has(one.id) && mayWrite(one, catalog, name)
  if (Object.hasOwn(definition.payload, name) || definition.steps.some(isOther) || later.has(step.id)) return null
  const ids = referring.map(({ stepId }) => stepId)
  return ids.every((id) => later.has(id)) ? new Set(ids) : null
}

function mayWrite(step: Step, catalog: Catalog, name: string): boolean {
  if (typeof step.saveAs === 'string') return step.saveAs === name
  return declaredBy(step, catalog).includes(name) || (entryOf(catalog, step.type)?.outputs.open ?? true)
}
