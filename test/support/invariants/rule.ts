/** A property of the whole database, as a query for the rows that break it. */
export interface Rule {
  /** The invariant it belongs to; docs/reliability.md lists them. */
  name: string
  /** The condition that must hold. */
  says: string
  /**
   * Selects one text per violation. May use these names: `r` runs, `s` step records, `p` pauses, `w` walks, `v` votes, `t` turns, `c` their calls
   * (without the rows a test has forged), `carrier` (engine runs of walks, open or not, with or without a row of their
   * own) and `sent` (events in the outbox).
   */
  broken: string
}

/** Joins a table to the run `r`. */
export const ofRun = (table: string): string => `${table}.tenant_id = r.tenant_id and ${table}.run_id = r.id`

/** Joins a record or pause to its visit in another table. */
export const sameVisit = (a: string, b: string): string =>
  ['tenant_id', 'run_id', 'branch', 'step_id', 'visit'].map((column) => `${a}.${column} = ${b}.${column}`).join(' and ')

export interface Violation {
  name: string
  says: string
  /** A violation. */
  where: string
}
