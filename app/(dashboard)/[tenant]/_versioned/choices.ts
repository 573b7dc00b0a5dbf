export interface Choice {
  value: string
  label: string
}

/** A select's choices by name. Items with the same name also show their ids. */
export function choicesOf(items: readonly { id: string; name: string }[]): Choice[] {
  const count = new Map<string, number>()
  for (const { name } of items) count.set(name, (count.get(name) ?? 0) + 1)
  return items.map(({ id, name }) => ({ value: id, label: (count.get(name) ?? 0) > 1 ? `${name} (${id})` : name }))
}

/** A chosen item that is not in the list: deleted, inaccessible, or not loaded yet. */
export function otherChoice(id: string, loaded: boolean): Choice {
  return { value: id, label: loaded ? `No longer there (${id})` : 'Loading' }
}
