import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'

/**
 * One of every `outOf` items, chosen by the commit, so that a few commits cover all of them and a failure repeats on the
 * same commit. `SOAK=1` takes every item.
 * @template T
 * @param {readonly T[]} items
 * @param {number} outOf rounded down
 * @param {number} shift moves the choice, for a list that several tests sample
 * @returns {T[]}
 */
export function sampled(items, outOf, shift = 0) {
  if (process.env.SOAK) return [...items]
  const each = Math.max(1, Math.floor(outOf))
  const first = (commitNumber() + shift) % each
  return items.filter((_, index) => index % each === first)
}

/** The same number in every process of a run, although the checkout may move on meanwhile. */
function commitNumber() {
  process.env.MILLRACE_TEST_COMMIT ??= headCommit()
  return createHash('sha256').update(process.env.MILLRACE_TEST_COMMIT).digest().readUInt32LE()
}

/** Empty outside of a Git checkout. */
function headCommit() {
  try {
    return execFileSync('git', ['rev-parse', 'HEAD'], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim()
  } catch {
    return ''
  }
}
