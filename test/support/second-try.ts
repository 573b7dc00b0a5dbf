import { type Counts, total } from './counts'

/**
 * More failures than this are no accident. A machine that stalls for a minute fails every test running then, and
 * browser tests run three at a time.
 */
const MAX = 12

/**
 * Runs the files of a few failed tests once more, alone and on a machine that is quiet by then. Among thousands of
 * tests, one that loses a race must not hide the results of the others, so a test that passes now counts as passed. It
 * is listed as unstable at the end of the output, because the race still has to be fixed.
 */
export async function secondTry(all: Counts[]): Promise<Counts[]> {
  const { failed, failures } = total(all)
  // An invariant that breaks once in a hundred times is broken.
  if (failed > MAX || failures.some((failure) => failure.includes('violations of invariants'))) return all
  const settled: Counts[] = []
  for (const counts of all) settled.push(await settle(counts))
  return settled
}

async function settle(counts: Counts): Promise<Counts> {
  if (counts.failed === 0 || !counts.again) return counts
  const second = await counts.again()
  const still = new Set(second.failures.map(nameOf))
  const first = new Set(counts.failures.map(nameOf))
  // A test that fails only now was not unlucky the first time, but its first result is lost.
  if (second.passed === 0 || [...still].some((name) => !first.has(name))) return counts
  const failures = counts.failures.filter((failure) => still.has(nameOf(failure)))
  const unstable = counts.failures.filter((failure) => !still.has(nameOf(failure)))
  const { passed, failed } = counts
  return { ...counts, passed: passed + unstable.length, failed: failed - unstable.length, failures, unstable }
}

/** The file and title of a test; its error, which follows, differs each time. */
function nameOf(failure: string): string {
  return failure.split('\n', 1)[0] ?? failure
}
