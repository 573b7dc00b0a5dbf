import type { ProblemCode } from '../../definition/problem-codes'

/** A problem of a definition, and its location. Errors prevent publishing; warnings do not. */
export interface Problem {
  [key: string]: string | undefined
  severity: 'error' | 'warning'
  /** `INVALID_INPUT`: it could not even be saved. */
  code: ProblemCode | 'INVALID_INPUT'
  message: string
  stepId?: string
  field?: string
  /** The name that was probably meant. */
  suggestion?: string
  /** Of an argument: the kind of mistake. */
  fault?: 'missing' | 'unknown' | 'wrong'
}
