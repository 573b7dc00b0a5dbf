/** The versions of a workflow made by this page, on any of its screens: not by other users. */
export interface OwnVersions {
  add(version: number): void
  /** Adds the version of a save, once it is known. @returns the save */
  during<T extends { version: number }>(save: Promise<T>): Promise<T>
  /** Null without a save in progress. A closing screen saves its remaining changes while the next one opens. */
  underWay(): Promise<void> | null
  /** Whether all versions after one, up to another, are own. */
  include(after: number, upTo: number): boolean
}

export function createOwnVersions(): OwnVersions {
  const made = new Set<number>()
  let last: Promise<void> | null = null
  return {
    add: (version) => void made.add(version),
    during(save) {
      const done: Promise<void> = save
        .then(
          ({ version }) => void made.add(version),
          () => {},
        )
        .finally(() => {
          if (last === done) last = null
        })
      last = done
      return save
    },
    underWay: () => last,
    include: (after, upTo) =>
      Array.from({ length: upTo - after }, (_, at) => after + 1 + at).every((one) => made.has(one)),
  }
}
