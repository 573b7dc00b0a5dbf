import type { z } from 'zod'
import { type JsonLike, type JsonObject, own } from '../../definition/json'
import { findReferences, type Lookup, parseTemplate, type Reference } from '../../definition/template'
import { SecretName } from '../../vault/schema'

export type Root = 'args' | 'dataContext' | 'context' | 'secrets'
/** All arguments of the call. */
const WHOLE = '_'

/** The names of the secrets a configuration uses, without duplicates. */
export function secretsIn(config: JsonLike): string[] {
  return secretsOf(findReferences(config))
}

function secretsOf({ references }: ReturnType<typeof findReferences>): string[] {
  const names = references.flatMap(({ reference: { root, path } }) =>
    root === 'secrets' && typeof path[0] === 'string' ? [path[0]] : [],
  )
  return [...new Set(names)]
}

/** Finds the values of `${args.x}`, `${_}` for all arguments, `${dataContext.x}`, `${context.x}` and `${secrets.NAME}`. */
export function lookupOf(sources: {
  args?: JsonObject
  dataContext?: JsonObject
  context?: JsonObject | null
  secrets: ReadonlyMap<string, string>
}): Lookup {
  const roots: Record<Root | typeof WHOLE, JsonObject | undefined> = {
    [WHOLE]: sources.args,
    args: sources.args,
    dataContext: sources.dataContext,
    context: sources.context ?? {},
    secrets: Object.fromEntries(sources.secrets),
  }
  return (root) => own(roots, root)
}

/**
 * Rejects malformed templates, roots that are not listed (null allows all), and paths inside a secret.
 * @returns the names of the secrets it uses
 */
export function checkTemplates(config: JsonLike, roots: readonly Root[] | null, ctx: z.RefinementCtx): string[] {
  const known: readonly string[] | null = roots
  const found = findReferences(config)
  const { references, problems } = found
  const issue = (path: string, message: string) =>
    ctx.addIssue({ code: 'custom', path: path === '' ? [] : [path], message })
  for (const { path, error } of problems) issue(path, error.message)
  for (const { path, reference } of references) {
    const { root, source } = reference
    if (known && !known.includes(root) && !(root === WHOLE && known.includes('args'))) {
      issue(path, `"\${${source}}" must start with ${known.join(', ')}`)
    } else if (root === 'secrets') {
      const [name] = reference.path
      // Uses of a secret are found by this text.
      if (!SecretName.safeParse(name).success || source !== `secrets.${name}`)
        issue(path, `"\${${source}}" must be \${secrets.NAME}`)
    }
  }
  return secretsOf(found)
}

/** The parts of a template; empty if it cannot be parsed, which `checkTemplates` has reported. */
export function partsOf(text: string): (string | Reference)[] {
  try {
    return parseTemplate(text)
  } catch {
    return []
  }
}
