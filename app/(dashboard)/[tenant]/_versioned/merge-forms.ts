import { isObject, sameJson } from './json'

/** Objects merged by their fields. Other values, such as a schema, merge as a whole. */
const TAKEN_APART = ['config', 'model', 'settings']

export interface MergedForm<T> {
  /** The form with the changes of both sides. */
  value: T
  /** The paths of fields that both sides changed differently; `value` has the chosen side's. */
  conflicts: string[]
}

/** Three-way merge by field. Changes to different fields never conflict. */
export function mergeForms<T extends object>(
  base: T,
  mine: T,
  theirs: T,
  side: 'mine' | 'theirs' = 'mine',
  path = '',
): MergedForm<T> {
  const conflicts: string[] = []
  const sides = [base, mine, theirs].map((form) => new Map(Object.entries(form)))
  const [was = new Map(), ours = new Map(), others = new Map()] = sides
  const merged = [...new Set([...ours.keys(), ...others.keys()])].flatMap((name) => {
    const [old, own, other] = [was.get(name), ours.get(name), others.get(name)]
    const at = path === '' ? name : `${path}.${name}`
    const take = (value: unknown) => (value === undefined ? [] : [[name, value] as const])
    if (sameJson(own, other) || sameJson(other, old)) return take(own)
    if (sameJson(own, old)) return take(other)
    if (TAKEN_APART.includes(name) && isObject(old) && isObject(own) && isObject(other)) {
      const inner = mergeForms(old, own, other, side, at)
      conflicts.push(...inner.conflicts)
      return take(inner.value)
    }
    conflicts.push(at)
    return take(side === 'mine' ? own : other)
  })
  // Made of the fields of two forms of this type.
  return { value: Object.fromEntries(merged) as T, conflicts }
}

export function valueAt(form: object, path: string): unknown {
  return path.split('.').reduce<unknown>((value, name) => (isObject(value) ? value[name] : undefined), form)
}
