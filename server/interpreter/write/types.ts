/** The condition under which a statement applies. It locks what it checks. */
export interface Fence {
  fence: string
  /** @param i the rows, with the name `i`: where this begins */
  text(i: string, locked: 'skip locked' | ''): string
}

/** One change, as a part of a statement. */
export interface Part {
  part: string
  /**
   * The number of what it changes, by which readers of changes go on. The fence draws it once it holds the rows, or the
   * part itself if it waits.
   */
  draws?: 'step_change' | 'visit_change' | 'run_change'
  /** It returns `event_id` and `generation` of the event that it sends. */
  returnsEvent?: boolean
  /** It waits until these have been written, if the statement has them. They return something for each row. */
  after?: readonly Part[]
  /** @param i where it reads its rows from, with the name `i` */
  text(i: string): string
}

/** Something that a statement returns for each row. */
export interface Output {
  output: string
  text: string
}

export interface Changes {
  fence: Fence
  /** Rows pass only if their caller's key is good. */
  checksKey: boolean
  parts: readonly Part[]
  outputs: readonly Output[]
}
