import { isJsonObject, type JsonObject, type JsonValue, own } from '../definition/json'
import { findReferences, follow, type Lookup, type Reference, TemplateMeter } from '../definition/template'

/**
 * The values that templates refer to, for a step that fills them in itself: an object in which the same paths lead to
 * them, and nothing else. Secrets are not in it.
 * @throws UnresolvedReference, TemplateTooLarge
 */
export function valuesFor(templates: JsonObject, lookup: Lookup): JsonObject {
  const values: JsonObject = {}
  const meter = new TemplateMeter()
  const seen = new Set<string>()
  for (const { reference } of findReferences(templates).references) {
    if (reference.root === 'secrets' || seen.has(reference.source)) continue
    seen.add(reference.source)
    meter.count(follow(reference, lookup))
    copyPath(values, reference, lookup)
  }
  return values
}

/**
 * The same for an expression that is evaluated later: whatever has no value is left out, and the expression finds that.
 * @throws TemplateTooLarge
 */
export function knownValues(references: readonly { reference: Reference }[], lookup: Lookup): JsonObject {
  const values: JsonObject = {}
  const meter = new TemplateMeter()
  for (const { reference } of references) {
    const { root, path } = reference
    const [first, ...rest] = path
    if (root === '_' && typeof first === 'string') copyPath(values, { ...reference, root: first, path: rest }, lookup)
    else if (root === '_') Object.assign(values, lookup(root))
    else copyPath(values, reference, lookup)
  }
  meter.count(values)
  return values
}

/** Copies what a path leads to. From a list on, all of it is taken, so that positions stay what they were. */
function copyPath(values: JsonObject, { root, path }: Reference, lookup: Lookup): void {
  let from: JsonValue | undefined = lookup(root)
  let to: JsonObject = values
  let name = root
  for (const segment of path) {
    if (!isJsonObject(from) || typeof segment !== 'string') break
    const known = own(to, name)
    // All of it is there already.
    if (known === from) return
    const inner: JsonObject = isJsonObject(known) ? known : {}
    to[name] = inner
    to = inner
    name = segment
    from = own(from, segment)
  }
  if (from !== undefined) to[name] = from
}
