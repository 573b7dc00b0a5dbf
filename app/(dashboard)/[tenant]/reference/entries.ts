import type { RouterOutput } from '@/app/_trpc/types'

type Reference = RouterOutput['reference']['open']

/** A line of the list: an object of the workspace with all its calls, or one call of the API. */
export interface Entry {
  /** The entry's name in the page's URL. */
  id: string
  label: string
  /** Absent for an object, which has several calls. */
  method?: string
  /** In lower case, for the search. */
  text: string
}

export interface Group {
  name: string
  entries: Entry[]
}

const OBJECTS = { workflow: 'Your workflows', agent: 'Your agents', tool: 'Your tools' } as const
/** Further search terms for an object's calls. */
const CALLS = {
  workflow: (id: string) =>
    `/api/workflow/start/${id} /api/workflow/start-async/${id} start answer a pause status resume`,
  agent: (id: string) => `/api/agents/${id}/invoke invoke ask`,
  tool: (id: string) => `/api/tools/${id}/invoke call`,
} as const

/** The list: first the workspace's objects, then the whole API. */
export function groupsOf({ objects, calls, tags }: Reference): Group[] {
  const own = (Object.keys(OBJECTS) as (keyof typeof OBJECTS)[]).map((word) => ({
    name: OBJECTS[word],
    entries: objects
      .filter((object) => object.word === word)
      .map(({ id, name }) => ({ id, label: name, text: `${word} ${name} ${CALLS[word](id)}`.toLowerCase() })),
  }))
  const api = tags.map((tag) => ({
    name: tag,
    entries: calls
      .filter((call) => call.tag === tag)
      .map(({ id, method, path, summary }) => ({
        id,
        label: summary,
        method,
        text: `${tag} ${method} ${path} ${summary} ${id}`.toLowerCase(),
      })),
  }))
  return [...own, ...api].filter(({ entries }) => entries.length > 0)
}

/** The entries that contain every word of a search, in any order; in each group, those whose label does come first. */
export function found(groups: readonly Group[], search: string): Group[] {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean)
  const hasAll = (text: string) => words.every((word) => text.includes(word))
  return groups.flatMap(({ name, entries }) => {
    const left = entries.filter(({ text }) => hasAll(text))
    const named = left.filter(({ label }) => hasAll(label.toLowerCase()))
    return left.length > 0 ? [{ name, entries: [...new Set([...named, ...left])] }] : []
  })
}

/** An entry's title: an object's name, or the group of an API call. */
export function nameOf(groups: readonly Group[], id: string): string {
  for (const { name, entries } of groups) {
    const entry = entries.find((one) => one.id === id)
    if (entry) return entry.method === undefined ? entry.label : name
  }
  return 'Not found'
}
