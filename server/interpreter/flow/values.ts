import { isJsonObject, type JsonObject, type JsonValue, own } from '../../definition/json'
import { findReferences, follow, type Lookup, type Reference, TemplateMeter } from '../../definition/template'

/**
 * The values that templates refer to, for a step that fills them in itself: an object with only these values, at the
 * same paths. It contains no secrets.
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
 * The same for an expression that is evaluated later. Names without a value are left out; the expression handles that.
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

/** Copies the value at a path. Lists are copied whole, so that positions in them stay the same. */
function copyPath(values: JsonObject, { root, path }: Reference, lookup: Lookup): void {
  let from: JsonValue | undefined = lookup(root)
  let to: JsonObject = values
  let name = root
  for (const segment of path) {
    if (!isJsonObject(from) || typeof segment !== 'string') break
    const known = own(to, name)
    // The whole list has been copied already.
    if (known === from) return
    const inner: JsonObject = isJsonObject(known) ? known : {}
    to[name] = inner
    to = inner
    name = segment
    from = own(from, segment)
  }
  if (from !== undefined) to[name] = from
}
