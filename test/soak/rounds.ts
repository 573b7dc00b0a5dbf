import { createHash } from 'node:crypto'
import { type TestContext, test } from 'vitest'

// How to add a scenario to the soak:
//
//   1. A file test/soak/<what>.soak.ts, which `npm test` does not run.
//   2. In it, one `scenario(name, rounds, work)` per scenario. The name states the invariant. `rounds` is how often it
//      repeats unless the caller overrides it. `work` checks with `expect` and ends by itself.
//   3. Everything random comes from `soak.random()`, so that the printed seed repeats the run.
//   4. `soak.say(…)` for figures worth reading afterwards.
//
// The same work at a small size belongs in `npm test`: share it through a helper such as test/recovery/strike.ts.

export interface Soak {
  rounds: number
  /** In [0, 1). The sequence is the same for the same seed and name. */
  random(): number
  /** Prints a line with the scenario's name. */
  say(line: string): void
  /** Registers cleanup work, which runs at the end in any case, in reverse order. */
  after(undo: () => unknown): void
}

/** One scenario of `npm run soak`. */
export function scenario(name: string, rounds: number, work: (soak: Soak) => Promise<void>): void {
  const seed = process.env.SOAK_SEED ?? '0'
  const run = async ({ onTestFinished }: TestContext) => {
    const undo: (() => unknown)[] = []
    onTestFinished(async () => {
      for (const step of undo.reverse()) await step()
    }, 120_000)
    await work({
      rounds: Number(process.env.SOAK_ROUNDS) || rounds,
      random: randomFrom(`${seed}:${name}`),
      say: (line) => process.stdout.write(`  ${name}: ${line}\n`),
      after: (step) => undo.push(step),
    })
  }
  test(name, run)
}

/** Pseudo-random numbers seeded by a text (SplitMix32). */
function randomFrom(text: string): () => number {
  let state = createHash('sha256').update(text).digest().readUInt32LE()
  return () => {
    state = (state + 0x9e3779b9) | 0
    let mixed = state ^ (state >>> 16)
    mixed = Math.imul(mixed, 0x21f0aaad)
    mixed ^= mixed >>> 15
    mixed = Math.imul(mixed, 0x735a2d97)
    mixed ^= mixed >>> 15
    return (mixed >>> 0) / 2 ** 32
  }
}
