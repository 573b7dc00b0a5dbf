import type { ProblemCode } from '../../definition/problem-codes'

/** A problem of a definition, and where it is. Errors prevent publishing; warnings do not. */
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
  /** Of an argument: what is wrong with it. */
  fault?: 'missing' | 'unknown' | 'wrong'
}
