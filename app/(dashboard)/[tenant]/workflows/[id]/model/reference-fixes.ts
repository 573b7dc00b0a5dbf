import { expressionsIn } from '@/server/definition/template'
import type { Problem } from '@/server/workflows/check/problem'
import { nameProblem } from './definition'
import type { Fix } from './fix'
import { inText } from './place'
import { renameRoot, rewriteText } from './references'

/** A name with one near match is renamed; a value that may be missing gets an empty text as its fallback. */
export function referenceFix(stepId: string, problem: Problem): Fix | null {
  const { code, field = '', message, suggestion } = problem
  const source = /^\$\{(.*?)\} (can never|may)/.exec(message)?.[1]
  if (source === undefined) return null
  const root = /^[A-Za-z_][\w-]*/.exec(source)?.[0] ?? ''
  if (code !== 'W_REF_MAYBE') {
    if (suggestion === undefined) return null
    const [, parent, wrong] = /: \$\{([^}]+)\} has no ([\w-]+)\. Did you mean/.exec(message) ?? []
    if (parent !== undefined && wrong !== undefined) return pathFix(stepId, field, { parent, wrong, meant: suggestion })
    const rename = renameRoot(root, suggestion)
    return inText(`Use \${${suggestion}}`, stepId, field, (text) => rewriteText(text, rename).text)
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

/** A part of a path with one near match is renamed. */
function pathFix(
  stepId: string,
  field: string,
  { parent, wrong, meant }: { parent: string; wrong: string; meant: string },
): Fix | null {
  // A schema may have properties that no path can name.
  if (nameProblem(meant) !== null) return null
  const [from, to] = [`${parent}.${wrong}`, `${parent}.${meant}`]
  return inText(`Use \${${to}}`, stepId, field, (text) => {
    const rename = ({ source }: { source: string }) =>
      source.startsWith(from) && !/^[\w-]/.test(source.slice(from.length)) ? { text: to, length: from.length } : null
    return rewriteText(text, rename).text
  })
}
