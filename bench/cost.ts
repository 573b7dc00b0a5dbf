import type { Counters } from './postgres'
import type { Cost } from './results'

/** Resources that a subject and its Postgres have used so far. */
export interface Spent {
  counters: Counters | undefined
  productCpu: number
  postgresCpu: number | undefined
}

/** The cost of each of `calls`. */
export function costBetween(before: Spent, after: Spent, calls: number): Cost {
  const each = (name: keyof Counters) =>
    before.counters && after.counters && (after.counters[name] - before.counters[name]) / calls
  return {
    statements: each('statements'),
    nested: each('nested'),
    transactions: each('transactions'),
    commits: each('commits'),
    syncs: each('syncs'),
    productCpu: (after.productCpu - before.productCpu) / calls,
    postgresCpu:
      before.postgresCpu === undefined || after.postgresCpu === undefined
        ? undefined
        : (after.postgresCpu - before.postgresCpu) / calls,
  }
}
