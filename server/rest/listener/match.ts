import type { Method, RouteHandler } from '../route'

/** The exports of a route file. */
export type RouteModule = Partial<Record<Method, RouteHandler>>

export interface Match {
  /** Below `app`, such as `/api/agents/[agentId]`. */
  folder: string
  module: RouteModule
  params: Record<string, string>
}

/** The routes that begin with the same segments. */
interface Branch {
  fixed: Map<string, Branch>
  named?: { name: string; branch: Branch }
  end?: Pick<Match, 'folder' | 'module'>
}

/**
 * Paths without special characters, which includes every id. Other paths stay with Next, which has its own rules for
 * slashes, dots and percent signs.
 */
const PLAIN = /^(?:\/[\w~-][\w.~-]*)+$/

/**
 * Finds the route of a path among the files of `app`, by Next's rule: a folder's own name takes precedence over a
 * parameter. Does not support catch-all routes.
 * @param routes by the folder below `app`, such as `/api/agents/[agentId]`
 */
export function matcher(routes: Readonly<Record<string, RouteModule>>): (path: string) => Match | null {
  const root: Branch = { fixed: new Map() }
  for (const [folder, module] of Object.entries(routes)) {
    segments(folder).reduce(grow, root).end = { folder, module }
  }
  return (path) => (PLAIN.test(path) ? find(root, segments(path), 0) : null)
}

function segments(path: string): string[] {
  return path.split('/').slice(1)
}

function grow(branch: Branch, segment: string): Branch {
  const name = /^\[(\w+)\]$/.exec(segment)?.[1]
  if (name === undefined) {
    const known = branch.fixed.get(segment) ?? { fixed: new Map() }
    branch.fixed.set(segment, known)
    return known
  }
  branch.named ??= { name, branch: { fixed: new Map() } }
  return branch.named.branch
}

function find(branch: Branch, path: string[], at: number): Match | null {
  const segment = path[at]
  if (segment === undefined) return branch.end ? { ...branch.end, params: {} } : null
  const fixed = branch.fixed.get(segment)
  const found = fixed ? find(fixed, path, at + 1) : null
  if (found || !branch.named) return found
  const { name, branch: below } = branch.named
  const match = find(below, path, at + 1)
  return match && { ...match, params: { ...match.params, [name]: segment } }
}
