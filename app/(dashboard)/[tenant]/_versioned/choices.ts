export interface Choice {
  value: string
  label: string
}

/** What a select offers: people know things by their names. An id is only shown to tell those of the same name apart. */
export function choicesOf(items: readonly { id: string; name: string }[]): Choice[] {
  const count = new Map<string, number>()
  for (const { name } of items) count.set(name, (count.get(name) ?? 0) + 1)
  return items.map(({ id, name }) => ({ value: id, label: (count.get(name) ?? 0) > 1 ? `${name} (${id})` : name }))
}

/** What is chosen but not among the items: deleted, out of reach, or not loaded yet. */
export function otherChoice(id: string, loaded: boolean): Choice {
  return { value: id, label: loaded ? `No longer there (${id})` : 'Loading' }
}
