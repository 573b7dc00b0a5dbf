/** A page may be this much over its budget before a test says so. */
export const SLACK = 1.03

/**
 * What each page may load at first: kB of gzip.
 */
export const BUDGETS: Record<string, number> = {}
