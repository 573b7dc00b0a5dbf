/**
 * The names of walks that run in parallel. A walk is named after the fork it belongs to and its key there:
 * `main/checks#1/credit`, `main/each#1/17`. The name contains the walk's whole origin, so finding its ancestors needs
 * no read.
 */

/** How deep forks may be nested. */
export const MAX_NESTED = 4

/** The maximum length of a branch's name together with that of a step in it, in bytes: both are keys of an index. */
export const MAX_PLACE_BYTES = 1_500

/** Longer texts, in characters, cannot be the name of a branch, a fork or a pause. */
export const MAX_PLACE = 2 * MAX_PLACE_BYTES

interface At {
  stepId: string
  visit: number
}

/** The origin of a branch. */
export interface BranchOrigin extends At {
  /** The walk that forked. */
  parent: string
  /** The branch's id, or an iteration's number from 0. */
  key: string
}

/** The id of a visit's fork. */
export function scopeIdOf(branch: string, { stepId, visit }: At): string {
  return `${branch}/${stepId}#${visit}`
}

export function branchOf(scopeId: string, key: string): string {
  return `${scopeId}/${key}`
}

/** Whether a walk is a branch of another one. */
export function isBranch(branch: string): boolean {
  return branch.includes('/')
}

/** Null for a walk that is no branch. */
export function originOf(branch: string): BranchOrigin | null {
  const found = /^(.+)\/([^/]+)#(\d+)\/([^/]+)$/.exec(branch)
  const [, parent, stepId, visit, key] = found ?? []
  if (parent === undefined || stepId === undefined || visit === undefined || key === undefined) return null
  return { parent, stepId, visit: Number(visit), key }
}

/** A branch and the branches around it, outermost first; empty for a walk that is no branch. */
export function branchesAround(branch: string): string[] {
  const origin = originOf(branch)
  return origin ? [...branchesAround(origin.parent), branch] : []
}

/** A branch as people read it, without the walk at the root: `checks#1/credit`. */
export function shownBranch(branch: string): string {
  return branch.slice(branch.indexOf('/') + 1)
}

/** The numbers of the iterations around a branch, outermost first. */
export function iterationOf(branch: string): number[] {
  return branchesAround(branch).flatMap((name) => {
    const key = originOf(name)?.key ?? ''
    return /^\d+$/.test(key) ? [Number(key)] : []
  })
}

/** The branch and the iterations that something belongs to; empty outside branches. */
export function placeIn(branch: string): { branch?: string; iteration?: number[] } {
  if (!isBranch(branch)) return {}
  const iteration = iterationOf(branch)
  return { branch: shownBranch(branch), ...(iteration.length === 0 ? {} : { iteration }) }
}
