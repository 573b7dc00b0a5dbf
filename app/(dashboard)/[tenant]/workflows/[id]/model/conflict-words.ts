import type { Side } from './merge'

/** The texts of the conflict dialog. Two tabs of one user conflict too; then the texts name nobody. */
export interface ConflictWords {
  title: string
  /** Who changed the same; the sentence continues with the changed part. */
  both: string
  sides: Readonly<Record<Side, string>>
  /** Column headings. */
  heads: Readonly<Record<Side, string>>
  all: Readonly<Record<Side, string>>
  copy: string
}

/** @param by who saved the other side; null for the same person */
export function conflictWords(by: string | null): ConflictWords {
  if (by === null)
    return {
      title: 'You saved other changes in another tab or browser',
      both: 'There and here, you changed',
      sides: { mine: 'Here', theirs: 'There' },
      heads: { mine: 'Here', theirs: 'There' },
      all: { mine: 'Use what is here for all', theirs: 'Use what is there for all' },
      copy: 'Save what is here as a copy',
    }
  return {
    title: `${by} saved other changes while you were editing`,
    both: `You and ${by} both changed`,
    sides: { mine: 'Mine', theirs: 'Theirs' },
    heads: { mine: 'Mine', theirs: `Theirs, by ${by}` },
    all: { mine: 'Use mine for all', theirs: 'Use theirs for all' },
    copy: 'Save mine as a copy',
  }
}
