import {
  expressionsIn,
  isNameable,
  type Reference,
  readReference,
  referenceText,
  type Segment,
} from '@/server/definition/template'
import type { Problem } from '@/server/workflows/check/problem'
import type { Fix } from './fix'
import { inText } from './place'
import { renameRoot, rewriteText, withStart } from './references'

/** Renames a name with one near match; gives a value that may be missing an empty text as its fallback. */
export function referenceFix(stepId: string, problem: Problem): Fix | null {
  const { code, field = '', message, suggestion } = problem
  const source = /^\$\{(.*?)\} (can never|may)/.exec(message)?.[1]
  if (source === undefined) return null
  const meant = readReference(source)
  const { root } = meant
  if (code !== 'W_REF_MAYBE') {
    if (suggestion === undefined) return null
    const parent = /: \$\{(.+)\} has no .+\. Did you mean/.exec(message)?.[1]
    if (parent !== undefined) return pathFix(stepId, field, meant, readReference(parent), suggestion)
    const rename = renameRoot(root, suggestion)
    return inText(`Use \${${referenceText([suggestion])}}`, stepId, field, (text) => rewriteText(text, rename).text)
  }
  return inText('Add an empty fallback', stepId, field, (text) => {
    let result = ''
    let at = 0
    for (const { end, reference } of expressionsIn(text)) {
      if (reference.root !== root || reference.fallback) continue
      result += `${text.slice(at, end - 1).trimEnd()} ?? ""}`
      at = end
    }
    return result + text.slice(at)
  })
}

/** Renames a part of a path with one near match. */
function pathFix(stepId: string, field: string, wrong: Reference, parent: Reference, meant: string): Fix | null {
  // A schema may have properties that no path can name.
  if (!isNameable(meant)) return null
  const depth = parent.path.length + 1
  const to: [string, ...Segment[]] = [parent.root, ...parent.path, meant]
  const isWrong = ({ root, path }: Reference) =>
    root === wrong.root && wrong.path.slice(0, depth).every((segment, at) => segment === path[at])
  return inText(`Use \${${referenceText(to)}}`, stepId, field, (text) => {
    const rename = (reference: Reference) => (isWrong(reference) ? withStart(reference, to, depth + 1) : null)
    return rewriteText(text, rename).text
  })
}
