/** The condition under which a statement applies. It locks the rows it checks. */
export interface Fence {
  fence: string
  /** @param i the rows, named `i`; the text begins with them */
  text(i: string, locked: 'skip locked' | ''): string
}

/** One change, as a part of a statement. */
export interface Part {
  part: string
  /**
   * The number of the changed row, by which readers of changes continue. The fence draws it once it holds the rows, or
   * the part itself if it waits.
   */
  draws?: 'step_change' | 'visit_change' | 'run_change'
  /** Whether it returns `event_id` and `generation` of the event that it sends. */
  returnsEvent?: boolean
  /** The parts that must be written first, if the statement has them. They return something for each row. */
  after?: readonly Part[]
  /** @param i the source of its rows, named `i` */
  text(i: string): string
}

/** Something that a statement returns for each row. */
export interface Output {
  output: string
  text: string
}

export interface Changes {
  fence: Fence
  /** Whether rows pass only if their caller's key is valid. */
  checksKey: boolean
  parts: readonly Part[]
  outputs: readonly Output[]
}
