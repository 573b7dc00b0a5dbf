import type { Work } from './options'

/** The cost of one run (or call). All but the CPU time comes from Postgres; undefined without one. */
export interface Cost {
  /** Sent by the product. */
  statements: number | undefined
  /** Run by Postgres itself inside those: foreign key checks and triggers. */
  nested: number | undefined
  /** Including those that only read. */
  transactions: number | undefined
  /** Transactions that wrote something. */
  commits: number | undefined
  /** Flushes of the write-ahead log. Concurrent commits share them. */
  syncs: number | undefined
  /** CPU time of the product's own processes, in milliseconds. */
  productCpu: number
  postgresCpu: number | undefined
}

interface Taken {
  /** `millrace` or a peer. */
  subject: string
  round: number
  work: Work
  what: string
}

/** A closed loop: each of this many callers sends its next request after the response to its last one. */
export interface Rate extends Taken {
  kind: 'rate'
  callers: number
  perSecond: number
  /** Milliseconds. */
  p50: number
  p99: number
  errors: number
  /** Single-row inserts that Postgres committed per second, with as many callers, in the same minute. */
  inserts: number
  cost: Cost
  /** Memory of the product's own processes in MiB, after a tenth of the time and at its end. */
  rss: { early: number; end: number }
}

/** Any other figure. */
export interface Figure extends Taken {
  kind: 'figure'
  value: number
  unit: string
}

export type Result = Rate | Figure
